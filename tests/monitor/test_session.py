"""A live session: what it does when something beside the run fails."""

import asyncio
import os
import threading
from pathlib import Path

import pytest

from rltop.models.event import Ended, Event, SourceStatus
from rltop.models.settings import Settings
from rltop.models.step import Step
from rltop.monitor.check import report
from rltop.monitor.clock import FakeClock
from rltop.monitor.frame import Frame
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


async def followed(*events: Event) -> list[Frame]:
    """The frames that a follower is given of a run that tells all of this at once, until it is over."""
    frames: list[Frame] = []
    session = Session((Told(*events),), Pipeline(Settings(), Book.load()), FakeClock(), until_ended=True)
    await session.run(frames.append)
    return frames


async def test_of_a_run_that_is_over_only_the_last_frame_is_not_behind() -> None:
    steps = [Step(step=n, duration_s=1.0, complete=False) for n in range(1000)]
    frames = await followed(*steps, Ended(status="finished"))
    assert [frame.behind for frame in frames] == [True, True, False]
    assert (frames[-1].status, frames[-1].state.closed) == ("finished", 1000)


async def test_a_log_that_was_left_days_ago_is_not_waited_for() -> None:
    left_at = FakeClock().now() - 3 * 86_400
    frames = await followed(
        SourceStatus(source="console", path="x", modified_at=left_at), Step(step=1, ended_at=left_at)
    )
    assert [frame.state.steps_done for frame in frames] == [1]


async def test_a_run_that_had_to_be_waited_for_ends_when_its_log_does() -> None:
    frames = await followed(
        SourceStatus(source="pending", path="x", state="waiting", reason="x: not there"),
        SourceStatus(source="console", path="x", state="ended"),
    )
    assert len(frames) == 1


class Slow(Told):
    """Answers a poll only when a test lets it; notes whether it was closed meanwhile."""

    def __init__(self, *events: Event) -> None:
        super().__init__(*events)
        self.asked, self.answer = threading.Event(), threading.Event()
        self.polling = self.closed_under_way = False

    def poll(self, now: float) -> list[Event]:
        self.polling = True
        self.asked.set()
        assert self.answer.wait(10)
        told = super().poll(now)
        self.polling = False
        return told

    def close(self) -> list[Event]:
        self.closed_under_way |= self.polling
        return super().close()


async def test_a_source_is_not_closed_while_it_is_being_read_and_what_it_read_is_recorded(
    tmp_path: Path,
) -> None:
    source, file = Slow(Step(step=7, duration_s=1.0)), tmp_path / "run.rltop"
    recorder = Recorder(file)
    session = Session((source,), Pipeline(Settings(), Book.load()), FakeClock(), recorder=recorder)
    frames: list[Frame] = []
    running = asyncio.ensure_future(session.run(frames.append))
    await asyncio.to_thread(source.asked.wait, 10)
    running.cancel()
    await asyncio.sleep(0)
    source.answer.set()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert not source.closed_under_way
    assert '"step":7' in file.read_text()
