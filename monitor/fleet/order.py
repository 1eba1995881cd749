"""In which order the runs of a fleet are shown. Pure.

Its one rule: what is not known comes last, whichever way round the order is.
"""

from collections.abc import Callable, Iterable
from typing import Any

from ...models.fleet import FleetRow

GRAVITY = {"critical": 10_000, "warning": 100, "info": 1}
LIVELINESS = {
    "running": 0,
    "reading": 1,
    "stalled": 2,
    "unknown": 3,
    "crashed": 4,
    "unreadable": 5,
    "finished": 6,
}

Key = Callable[[FleetRow], Any]
ORDERS: dict[str, tuple[Key, bool]] = {
    "age": (lambda row: row.modified_at, True),
    "run": (lambda row: row.name.casefold(), False),
    "framework": (lambda row: row.framework, False),
    "state": (lambda row: LIVELINESS[row.state], False),
    "step": (lambda row: row.step / row.total_steps if row.step and row.total_steps else None, True),
    "cost": (lambda row: row.spent_usd, True),
    "at the end": (lambda row: None if row.final_usd is None else row.final_usd.p50, True),
    "length": (lambda row: row.length, True),
    "growth": (lambda row: row.length_growth, True),
    "clip": (lambda row: row.clip, True),
    "MFU": (lambda row: row.mfu, True),
    "alerts": (lambda row: sum(GRAVITY[alert.severity] for alert in row.alerts) or None, True),
}
"""By name: what is compared, and whether the greatest comes first."""


def ordered(rows: Iterable[FleetRow], by: str = "age", turned: bool = False) -> list[FleetRow]:
    """Runs by one quantity, `turned` the other way round; equals keep the order they have."""
    key, greatest_first = ORDERS[by]
    known: list[FleetRow] = []
    unknown: list[FleetRow] = []
    for row in rows:
        (unknown if key(row) is None else known).append(row)
    return [*sorted(known, key=key, reverse=greatest_first != turned), *unknown]


def by_project(rows: Iterable[FleetRow]) -> dict[str, list[FleetRow]]:
    """Runs under the names of their projects, in the order of the first of each."""
    groups: dict[str, list[FleetRow]] = {}
    for row in rows:
        groups.setdefault(row.project, []).append(row)
    return groups
