"""What many runs come to. Pure.

Its one rule: a run whose dollars are not known is counted, named and left out, never taken for free.
"""

import math
from collections import defaultdict
from collections.abc import Iterable
from typing import Literal

from ...models.fleet import FleetRow, FleetTotals
from ...models.value import Quantiles


def totals_of(rows: Iterable[FleetRow], budget_usd: float | None = None) -> FleetTotals:
    """The sums over some runs."""
    rows = tuple(rows)
    spent = [row.spent_usd for row in rows if row.spent_usd is not None]
    final = final_of(rows)
    alerts = [alert.severity for row in rows for alert in row.alerts]
    return FleetTotals(
        runs=len(rows),
        running=sum(row.state == "running" for row in rows),
        reading=sum(row.state == "reading" for row in rows),
        spent_usd=math.fsum(spent) if spent else None,
        final_usd=final,
        unpriced=sum(row.spent_usd is None and bool(row.step) for row in rows),
        unprojected=sum(
            _goes_on(row) and row.spent_usd is not None and row.final_usd is None for row in rows
        ),
        budget_usd=budget_usd,
        over_budget=_over(budget_usd, final),
        warnings=alerts.count("warning"),
        criticals=alerts.count("critical"),
    )


def final_of(rows: Iterable[FleetRow]) -> Quantiles | None:
    """Dollars at the end of all runs together, with an 80 % interval.

    Runs of one project tend to miss in the same direction, so that their distances from the middle add up;
    those of different projects are taken as independent, and add up as the root of their squares. Both are
    bounds of what correlation does: the truth lies between a root over all runs and a sum over all runs.
    """
    middle: list[float] = []
    below: defaultdict[str, float] = defaultdict(float)
    above: defaultdict[str, float] = defaultdict(float)
    least: list[float] = []
    for row in rows:
        if row.spent_usd is not None:
            least.append(row.spent_usd)
        if row.final_usd is not None:
            middle.append(row.final_usd.p50)
            below[row.project] += max(0.0, row.final_usd.p50 - row.final_usd.p10)
            above[row.project] += max(0.0, row.final_usd.p90 - row.final_usd.p50)
        elif row.spent_usd is not None:
            middle.append(row.spent_usd)
    if not middle:
        return None
    p50 = math.fsum(middle)
    p10 = max(p50 - math.hypot(*below.values()), min(p50, math.fsum(least)))
    return Quantiles(p10=p10, p50=p50, p90=p50 + math.hypot(*above.values()))


def _goes_on(row: FleetRow) -> bool:
    return row.state in ("running", "stalled", "unknown")


def _over(budget_usd: float | None, final: Quantiles | None) -> Literal["no", "may", "will"] | None:
    if budget_usd is None or final is None:
        return None
    if final.p50 > budget_usd:
        return "will"
    return "may" if final.p90 > budget_usd else "no"
