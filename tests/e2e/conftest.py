"""Runs of our own, and the whole path from a target to a report."""

from collections.abc import Callable
from pathlib import Path

import pytest

from rltop.models.report import CheckReport
from rltop.models.settings import Settings
from rltop.monitor.check import report
from rltop.monitor.clock import FakeClock
from rltop.monitor.money.book import Book
from rltop.monitor.pipeline import Pipeline
from rltop.monitor.session import Session
from rltop.monitor.target import open_target

Look = Callable[..., CheckReport]


@pytest.fixture
def demo() -> Path:
    """The folder of the built-in runs."""
    return Path(__file__).resolve().parents[2] / "monitor" / "demo" / "data"


@pytest.fixture
def look() -> Look:
    """Check a target with these settings, through every layer but the printing."""

    def check(target: Path, **settings: object) -> CheckReport:
        pipeline = Pipeline(Settings.model_validate(settings), Book.load())
        session = Session(open_target(target), pipeline, FakeClock(1_796_000_000.0))
        return report(session.read_all())

    return check
