"""Fleets over small runs, with everything that a test does not care about filled in."""

from collections.abc import Sequence
from pathlib import Path

from rltop.models.fleet import FleetRow
from rltop.models.settings import Settings
from rltop.monitor.clock import Clock, SystemClock
from rltop.monitor.fleet.beside import joined
from rltop.monitor.fleet.frame import FleetFrame
from rltop.monitor.fleet.run import Open
from rltop.monitor.fleet.session import FleetSession
from rltop.monitor.money.book import Book
from rltop.monitor.pending import PendingSource
from rltop.monitor.pipeline import Pipeline
from rltop.monitor.session import Session

SAID = Settings(usd_per_gpu_hour=3.0, gpus=8)


def opener(clock: Clock, settings: Settings = SAID) -> Open:
    """Opens runs as the command line does."""

    def open_(targets: Sequence[str], said: bool) -> Session:
        named = [(target, (PendingSource(Path(target)),)) for target in targets]
        sources = joined(named, said) if len(named) > 1 else named[0][1]
        return Session(sources, Pipeline(settings, Book.load()), clock)

    return open_


def fleet_below(*roots: Path, budget_usd: float | None = None, clock: Clock | None = None) -> FleetSession:
    """The runs below some folders."""
    clock = clock or SystemClock()
    return FleetSession(opener(clock), clock, roots=roots, budget_usd=budget_usd)


def row(frame: FleetFrame, name: str) -> FleetRow:
    """The one row of this name."""
    (found,) = [row for row in frame.rows if row.name == name]
    return found
