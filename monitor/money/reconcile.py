"""A provider's own usage held against our bill, meter by meter. Pure.

The one rule: like is held against like. The provider tells neither evaluations nor discarded work apart, so
they are added to the meter on which it bills them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from ...models.report import ReconcileLine, UsageHour
from ..status import last_sign_of_life
from .meters import rates_of
from .question import Run
from .reconcile_why import Facts, Side, notes_of, why

HOUR_S, DAY_S = 3600, 86_400
LAG_S = 6 * HOUR_S
"""Usage lags real time by up to a few hours."""

TokenMeter = Literal["sample", "prefill", "prefill_cached", "train"]
UsageMeter = Literal["sample", "prefill", "prefill_cached", "train", "storage", "checkpoint"]
UNITS: dict[UsageMeter, Literal["tokens", "GB-hours", "checkpoints"]] = {
    "sample": "tokens",
    "prefill": "tokens",
    "prefill_cached": "tokens",
    "train": "tokens",
    "storage": "GB-hours",
    "checkpoint": "checkpoints",
}
BILLED_AS: dict[str, TokenMeter] = {
    "sampled_tokens": "sample",
    "prefill_tokens": "prefill",
    "scored_tokens": "prefill",
    "prefill_cached_tokens": "prefill_cached",
    "trained_tokens": "train",
}
"""Our column -> the provider's meter."""


@dataclass(frozen=True, slots=True)
class UsageRow:
    """One kind of usage in one hour of one session, as the provider counts it."""

    start: float
    """Unix seconds."""
    end: float
    """Exclusive."""
    meter: UsageMeter
    quantity: float
    """Tokens, GB-hours or checkpoints."""
    usd: float | None = None
    """None where the provider has not priced it."""
    session_id: str | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Their bill beside ours."""

    lines: tuple[ReconcileLine, ...]
    theirs_usd: float | None
    """What they have priced."""
    ours_usd: float | None
    difference_usd: float | None
    """Theirs less ours; None while they have not priced all of it."""
    hours: tuple[UsageHour, ...]
    notes: tuple[str, ...]


def days_of(run: Run, elapsed_s: float | None, now: float) -> tuple[float, float]:
    """First and last moment (unix s) of the UTC days over which a run lasted, as well as its log tells."""
    end = last_sign_of_life(run.state) or now
    start = min(run.info.started_at or end, end - (elapsed_s or DAY_S))
    return (start - HOUR_S) // DAY_S * DAY_S, -(-(end + HOUR_S) // DAY_S) * DAY_S


def compare(run: Run, usage: Sequence[UsageRow], sessions: Sequence[str], now: float) -> Comparison | None:
    """The usage of these sessions beside the run's bill; None when there is none."""
    rows = [row for row in usage if row.session_id in sessions]
    if not rows:
        return None
    theirs, ours = _theirs(rows), _ours(run)
    newest = max(row.end for row in rows)
    facts = Facts(
        newest=stamp(newest),
        lagging=_lagging(run, newest, now),
        in_flight=run.status in ("running", "stalled", "crashed"),
        trained_upper_bound=run.state.history.trained_upper_bound,
        uncounted_cache="prefill_cached" in theirs and "prefill_cached" not in ours,
        storage_apart_usd=_sum(row.usd for row in usage if row.meter == "storage" and not row.session_id),
        unpriced=sum(row.quantity for row in rows if row.usd is None and UNITS[row.meter] == "tokens"),
        logged=run.bill.basis == "logged",
        left_out=tuple(note for note in run.bill.notes if note.startswith("left out")),
    )
    lines = tuple(
        _line(meter, theirs.get(meter, Side()), ours.get(meter, Side()), facts)
        for meter in UNITS
        if meter in theirs or meter in ours
    )
    theirs_usd, ours_usd = _sum(row.usd for row in rows), run.bill.spent_usd
    return Comparison(
        lines=lines,
        theirs_usd=theirs_usd,
        ours_usd=ours_usd,
        difference_usd=None if facts.unpriced else _less(theirs_usd, ours_usd),
        hours=_hours(rows),
        notes=notes_of(facts),
    )


def lags(run: Run, now: float) -> bool:
    """Whether the run was alive so lately that its usage may not be in yet."""
    alive_at = last_sign_of_life(run.state)
    return alive_at is not None and now - alive_at < LAG_S


def begin_of(day: str) -> float:
    """The first moment (unix s) of a UTC day, YYYY-MM-DD; ValueError when it is none."""
    return datetime.strptime(day, "%Y-%m-%d").replace(tzinfo=UTC).timestamp()


def stamp(at: float) -> str:
    """A moment as ISO 8601 in UTC, to the minute."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%MZ")


def _lagging(run: Run, newest: float, now: float) -> bool:
    alive_at = last_sign_of_life(run.state)
    return lags(run, now) and alive_at is not None and newest < alive_at


def _line(meter: UsageMeter, theirs: Side, ours: Side, facts: Facts) -> ReconcileLine:
    return ReconcileLine(
        meter=meter,
        unit=UNITS[meter],
        theirs=theirs.quantity,
        ours=ours.quantity,
        theirs_usd=theirs.usd,
        ours_usd=ours.usd,
        difference_usd=_less(theirs.usd, ours.usd),
        why=why(meter, theirs, ours, facts),
    )


def _theirs(rows: Sequence[UsageRow]) -> dict[UsageMeter, Side]:
    sides: dict[UsageMeter, Side] = {}
    for meter in UNITS:
        mine = [row for row in rows if row.meter == meter]
        if any(row.quantity for row in mine):
            whole = all(row.usd is not None for row in mine if row.quantity)
            usd = _sum(row.usd for row in mine) if whole else None
            sides[meter] = Side(sum(row.quantity for row in mine), usd)
    return sides


def _ours(run: Run) -> dict[UsageMeter, Side]:
    """Our tokens and dollars under the provider's names; no dollars where a count of them has no rate."""
    rates = rates_of(run.ledger.pricing)
    sides: dict[UsageMeter, Side] = {}
    for count, tokens in run.ledger.sums.counts.items():
        meter = BILLED_AS.get(count[1].removeprefix("discarded_"))
        if meter is None or not tokens:
            continue
        before, rate = sides.get(meter), rates.get(count)
        usd = None if rate is None else rate * tokens
        if before is None:
            sides[meter] = Side(tokens, usd)
        else:
            whole = None if usd is None or before.usd is None else before.usd + usd
            sides[meter] = Side((before.quantity or 0.0) + tokens, whole)
    return sides


def _hours(rows: Sequence[UsageRow]) -> tuple[UsageHour, ...]:
    cells: dict[tuple[float, str], list[UsageRow]] = {}
    for row in rows:
        cells.setdefault((row.start, row.session_id or ""), []).append(row)
    return tuple(
        UsageHour(
            start=stamp(start),
            session_id=session,
            tokens=sum(row.quantity for row in cell if UNITS[row.meter] == "tokens"),
            usd=_sum(row.usd for row in cell),
        )
        for (start, session), cell in sorted(cells.items())
    )


def _sum(parts: Iterable[float | None]) -> float | None:
    known = [part for part in parts if part is not None]
    return sum(known) if known else None


def _less(theirs: float | None, ours: float | None) -> float | None:
    return None if theirs is None or ours is None else theirs - ours
