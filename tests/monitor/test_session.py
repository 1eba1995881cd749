"""A live session: what it does when something beside the run fails."""

import os
from pathlib import Path

import pytest

from rltop.models.event import Event, SourceStatus
from rltop.models.settings import Settings
from rltop.models.step import Step
from rltop.monitor.check import report
from rltop.monitor.clock import FakeClock
from rltop.monitor.money.book import Book
from rltop.monitor.pipeline import Pipeline
from rltop.monitor.recorder import Recorder
from rltop.monitor.session import Session


class Told:
    """A source that says its events at once."""

    more = False

    def __init__(self, *events: Event) -> None:
        self._events = list(events)

    def poll(self, now: float) -> list[Event]:
        told, self._events = self._events, []
        return told

    def close(self) -> list[Event]:
        return []


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="this system has no /dev/fd to name a pipe by")
def test_a_recording_that_breaks_off_is_told_of_and_the_run_goes_on() -> None:
    reader, writer = os.pipe()
    recorder = Recorder(Path(f"/dev/fd/{writer}"))
    os.close(reader)
    source = Told(*(Step(step=n, duration_s=1.0) for n in range(5)))
    session = Session((source,), Pipeline(Settings(), Book.load()), FakeClock(), recorder=recorder)
    told = report(session.read_all())
    os.close(writer)
    assert told.run.steps_done == 5
    (note,) = [note for note in told.input.notes if "/dev/fd" in note]
    assert "Broken pipe" in note


def test_how_reading_goes_is_told_first_since_a_files_date_decides_its_prices() -> None:
    source = Told(Step(step=0), Step(step=1), SourceStatus(source="console", path="x", modified_at=1.0))
    events, _ = Session((source,), Pipeline(Settings(), Book.load()), FakeClock()).poll()
    assert [event.kind for event in events] == ["source", "step", "step"]
