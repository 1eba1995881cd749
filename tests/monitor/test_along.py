"""How far a run had come at each step, by the clock, by tokens and by dollars."""

import math

import pytest

from rltop.models.event import Event, Restart
from rltop.models.settings import Settings
from rltop.models.step import Step
from rltop.monitor.along import Along
from rltop.monitor.frame import Frame
from rltop.monitor.money.book import Book
from rltop.monitor.pipeline import Pipeline


def frame_of(*events: Event) -> Frame:
    pipeline = Pipeline(Settings(), Book.load())
    for event in events:
        pipeline.feed(event, 0.0)
    return pipeline.frame(0.0)


def test_without_a_clock_the_durations_add_up() -> None:
    frame = frame_of(*(Step(step=n, duration_s=10.0) for n in (1, 2, 3)))
    assert list(Along().read(frame, "time")) == [10.0, 20.0, 30.0]


def test_by_the_clock_a_pause_counts() -> None:
    frame = frame_of(
        Step(step=1, duration_s=10.0, ended_at=1_000.0), Step(step=2, duration_s=10.0, ended_at=1_500.0)
    )
    assert list(Along().read(frame, "time")) == [10.0, 510.0]


def test_a_step_without_tokens_is_unknown_and_the_sum_goes_on() -> None:
    frame = frame_of(Step(step=1, sampled_tokens=5.0), Step(step=2), Step(step=3, sampled_tokens=7.0))
    first, second, third = Along().read(frame, "tokens")
    assert (first, third) == (5.0, 12.0)
    assert math.isnan(second)


def test_what_a_restart_repeats_counts_twice() -> None:
    before = [Step(step=n, duration_s=10.0, sampled_tokens=1.0) for n in (1, 2)]
    again = [Step(step=2, attempt=1, duration_s=10.0, sampled_tokens=1.0)]
    along = Along()
    along.read(frame_of(*before), "time")
    frame = frame_of(*before, Restart(from_step=2, attempt=1), *again)
    assert along.read(frame, "time")[-1] == pytest.approx(30.0)
    assert along.read(frame, "tokens")[-1] == pytest.approx(3.0)
