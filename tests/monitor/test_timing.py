"""Elapsed wall time from three witnesses."""

from rltop.models.step import Step
from rltop.monitor.history import History
from rltop.monitor.timing import Timekeeper


def keeper(*steps: Step) -> Timekeeper:
    history, times = History(), Timekeeper()
    for step in steps:
        times.add_row(history.row(history.write(step)))
    return times


def test_nothing_timed_is_unknown() -> None:
    assert keeper(Step(step=1)).elapsed_s(0.0, None) is None


def test_durations_add_up() -> None:
    assert keeper(Step(step=1, duration_s=10), Step(step=2, duration_s=20)).elapsed_s(0.0, None) == 30


def test_a_pause_between_steps_that_were_seen_to_end_is_counted() -> None:
    times = keeper(Step(step=1, duration_s=10, ended_at=1000.0), Step(step=2, duration_s=10, ended_at=1600.0))
    assert times.elapsed_s(0.0, None) == 610


def test_lines_that_arrive_late_and_at_once_are_not_counted_twice() -> None:
    times = keeper(
        Step(step=1, duration_s=10, ended_at=1000.0),
        Step(step=2, duration_s=10, ended_at=1030.0),
        Step(step=3, duration_s=10, ended_at=1030.0),
        Step(step=4, duration_s=10, ended_at=1030.0),
    )
    assert times.elapsed_s(0.0, None) == 40


def test_the_progress_display_wins_where_it_shows_more() -> None:
    times = keeper(Step(step=1, duration_s=10))
    assert times.elapsed_s(25.0, None) == 25
    assert times.elapsed_s(5.0, None) == 10


def test_the_time_since_the_last_step_is_counted_too() -> None:
    assert keeper(Step(step=1, duration_s=10)).elapsed_s(0.0, 5.0) == 15
