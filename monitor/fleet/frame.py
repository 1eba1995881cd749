"""The one thing that leaves a fleet: its rows, their sums, and how far the search for runs has come."""

from dataclasses import dataclass

from ...models.fleet import FleetRow, FleetTotals
from .discover import Scan


@dataclass(frozen=True, slots=True, eq=False)
class FleetFrame:
    """Many runs at one moment. Latest wins: a reader may skip frames."""

    now: float
    """Unix seconds."""
    rows: tuple[FleetRow, ...]
    """The newest first."""
    totals: FleetTotals
    scan: Scan | None = None
    """How far the search has come; None where the runs were named."""
    roots: tuple[str, ...] = ()
    """The folders searched, as the user calls them."""
