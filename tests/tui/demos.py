"""Frames of the built-in runs, as the pipeline makes them: what the pictures of the screens show."""

from pathlib import Path

from rltop.models.event import Ended, Event
from rltop.models.settings import Settings
from rltop.models.step import Step
from rltop.monitor.clock import FakeClock
from rltop.monitor.frame import Frame
from rltop.monitor.money.book import Book
from rltop.monitor.pipeline import Pipeline
from rltop.monitor.replay import ReplaySession
from rltop.monitor.target import open_target
from rltop.monitor.timeline import timeline

DATA = Path(__file__).resolve().parents[2] / "monitor" / "demo" / "data"
ENDED_AT = 1_767_600_000.0
"""A day on which the runs might have ended; their files' dates are those of the checkout."""
KNOWN = {
    "math-tinker": Settings(prices_date="2026-01-05"),
    "gsm8k-tinker": Settings(prices_date="2026-01-05", budget_usd=15.0),
    "math-verl": Settings(gpu_type="B200", usd_per_gpu_hour=4.98, budget_usd=150.0),
}


def at_step(run: str, step: int) -> Frame:
    """A built-in run as someone who watched it saw it after this step."""
    pipeline = Pipeline(KNOWN[run], Book.load(), priced_at=ENDED_AT)
    at = 0.0
    for item in timeline(events_of(run), ENDED_AT):
        if isinstance(item.event, Ended) or (isinstance(item.event, Step) and item.event.step > step):
            break
        at = item.at
        pipeline.feed(item.event, at)
    return pipeline.frame(at)


def replayed_to(run: str, step: int) -> Frame:
    """The same, played back."""
    timed = timeline(events_of(run), ENDED_AT)
    session = ReplaySession(timed, lambda: Pipeline(KNOWN[run], Book.load(), priced_at=ENDED_AT), FakeClock())
    done = sum(isinstance(item.event, Step) and item.event.step <= step for item in timed)
    session.step(done)
    session.go()
    session.toggle_pause()
    return session.frame()


def events_of(run: str) -> list[Event]:
    """All that the log of a built-in run says."""
    sources = open_target(DATA / run)
    told = [event for source in sources for event in source.poll(ENDED_AT)]
    return told + [event for source in sources for event in source.close()]
