"""The one thing that leaves a fleet: its rows, their sums, and how far the search for runs has come."""

from dataclasses import dataclass

from ...models.fleet import FleetRow, FleetTotals


@dataclass(frozen=True, slots=True)
class Scan:
    """How far the search has come."""

    files: int = 0
    folders: int = 0
    unreadable: int = 0
    """Folders and files that may not be read."""
    waiting: int = 0
    """Files that may be logs and have not been looked at yet."""
    cut: bool = False
    """There is more than is ever gone through: too deep, or too many."""
    held_back: int = 0
    """Runs in databases that hold more than are shown: the oldest."""
    complete: bool = False
    """Everything was walked and looked at."""


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
