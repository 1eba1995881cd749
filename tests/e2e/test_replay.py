"""A finished run played back: at any speed, forwards and backwards, priced as of its day."""

import asyncio
from pathlib import Path

import pytest

from rltop.models.settings import Settings
from rltop.models.step import Step
from rltop.monitor.check import report
from rltop.monitor.clock import FakeClock
from rltop.monitor.frame import Frame
from rltop.monitor.money.book import Book
from rltop.monitor.pipeline import Pipeline
from rltop.monitor.replay import ReplaySession
from rltop.monitor.target import open_target
from rltop.monitor.timeline import timeline

JANUARY = Settings(prices_date="2026-01-05", gpu_type="B200", budget_usd=150.0)


@pytest.fixture
def session(demo: Path, request: pytest.FixtureRequest) -> ReplaySession:
    name = getattr(request, "param", "gsm8k-tinker")
    sources = open_target(demo / name)
    events = [event for source in sources for event in source.poll(0.0)]
    events += [event for source in sources for event in source.close()]
    return ReplaySession(
        timeline(events, 1_770_000_000.0), lambda: Pipeline(JANUARY, Book.load()), FakeClock()
    )


async def steps_seen_in(session: ReplaySession, seconds: float) -> list[int]:
    """Steps done on each frame that is published while this much of the clock's time passes."""
    steps: list[int] = []
    until = session.clock.now() + seconds
    over = asyncio.Event()

    def publish(frame: Frame) -> None:
        steps.append(frame.state.steps_done)
        if frame.now and session.clock.now() >= until:
            over.set()

    task = asyncio.create_task(session.run(publish))
    await asyncio.wait_for(over.wait(), 30)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    return steps


async def test_a_quarter_minute_at_sixty_times_is_a_quarter_hour_of_the_run(session: ReplaySession) -> None:
    steps = await steps_seen_in(session, 15.0)
    step_s = 33 * 60 / 59
    assert steps[0] == 1
    assert steps == sorted(steps)
    assert steps[-1] == pytest.approx(15 * 60 / step_s, abs=2.5)


def test_going_back_shows_what_was_known_then(session: ReplaySession) -> None:
    session.step(20)
    session.go()
    then = report(session.frame())
    session.play_all()
    session.step(-39)
    session.go()
    assert report(session.frame()) == then
    assert then.run.steps_done == 20


def test_a_seek_lands_where_it_was_asked(session: ReplaySession) -> None:
    session.seek(0.5)
    session.go()
    assert session.frame().state.steps_done == pytest.approx(59 / 2, abs=2)
    session.seek(1.0)
    session.go()
    assert session.ended
    assert session.frame().status == "finished"


def test_the_end_of_a_replay_is_what_check_says(session: ReplaySession) -> None:
    assert report(session.play_all()).cost.spent_usd == pytest.approx(12.97, abs=0.01)


def test_the_cost_at_the_end_converges(session: ReplaySession) -> None:
    frames: list[Frame] = []
    session.step_frames(frames.append)
    finals = [frame.projection.final_usd for frame in frames]
    errors = [abs(final.p50 / 12.97 - 1) for final in finals if final is not None]
    widths = [final.p90 - final.p10 for final in finals if final is not None]
    assert len(errors) > 50
    assert max(errors) < 0.08
    assert max(errors[-10:]) < 0.02
    assert widths[-10] < widths[0] / 4


@pytest.mark.parametrize("session", ["math-verl"], indirect=True)
def test_the_next_alert_is_found_ahead_and_the_last_one_behind(session: ReplaySession) -> None:
    session.next_alert(1)
    session.go()
    first = session.frame()
    assert len(first.alerts) == 1
    session.next_alert(1)
    session.go()
    assert len(session.frame().alerts) >= 2
    session.next_alert(-1)
    session.go()
    assert session.frame().state.steps_done == first.state.steps_done


def test_pause_is_shown_and_taken_back(session: ReplaySession) -> None:
    session.toggle_pause()
    position = session.frame().replay
    assert position is not None
    assert position.paused
    session.toggle_pause()
    position = session.frame().replay
    assert position is not None
    assert not position.paused


def test_playing_on_from_the_end_starts_again(session: ReplaySession) -> None:
    session.play_all()
    session.toggle_pause()
    session.go()
    assert session.frame().state.steps_done == 0


def test_speeds_have_a_top_and_a_bottom(session: ReplaySession) -> None:
    for _ in range(30):
        session.faster()
    session.step(1)
    session.go()
    position = session.frame().replay
    assert position is not None
    assert position.speed == 1000
    for _ in range(30):
        session.slower()
    session.go()
    position = session.frame().replay
    assert position is not None
    assert position.speed == 1


PAUSES = {4: 90.0, 12: 3 * 3600.0}
"""Seconds without a step before some of them: too short to mention, and a night."""


def test_a_pause_raises_in_a_replay_what_it_raised_in_the_run() -> None:
    now, told = 1_000_000.0, list[Step]()
    live = Pipeline(Settings(), Book.load())
    for number in range(1, 26):
        for _ in range(10):
            now += (100.0 + PAUSES.get(number, 0.0)) / 10
            live.frame(now)
        told.append(Step(step=number, duration_s=100.0, ended_at=now))
        live.feed(told[-1], now)
    live.close(now)
    seen = ReplaySession(timeline(told), lambda: Pipeline(Settings(), Book.load()), FakeClock()).play_all()
    raised = [
        [(a.rule, a.severity, a.step, a.cleared_step) for a in frame.alerts if a.rule == "stall"]
        for frame in (live.frame(now), seen)
    ]
    assert raised[0] == raised[1] == [("stall", "critical", 11, 12)]
