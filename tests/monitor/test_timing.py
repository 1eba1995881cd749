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


def steps_at(*times_s: float) -> list[Step]:
    return [Step(step=n, duration_s=90, ended_at=1e9 + at_s) for n, at_s in enumerate(times_s, 1)]


def test_days_between_a_run_that_was_left_and_its_resume_are_not_counted_and_named() -> None:
    three_days = 3 * 86_400
    times = keeper(*steps_at(0, 100, 200, three_days + 300, three_days + 400))
    assert times.elapsed_s(0.0, None) == 90 + 400 - 10
    assert times.note is not None
    assert times.note.startswith("3 d 0 h without a step are not counted")


def test_a_night_in_which_a_run_hung_is_counted() -> None:
    times = keeper(*steps_at(0, 100, 200, 36_300, 36_400))
    assert times.elapsed_s(0.0, None) == 90 + 36_400
    assert times.note is None


def test_steps_that_take_days_are_no_silence() -> None:
    two_days = 2 * 86_400
    steps = [Step(step=n, ended_at=1e9 + two_days * n) for n in range(5)]
    assert keeper(*steps).elapsed_s(0.0, None) == 4 * two_days
