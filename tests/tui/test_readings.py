"""What panels read off a frame: series that follow a growing history, and counts of steps."""

from array import array
from dataclasses import replace

from rltop.models.step import Step
from rltop.monitor.frame import Frame
from rltop.tui.readings import Series, active, cleared, first_step, last_step, steps_done

from .frames import tinker, unpriced, verl, with_alerts


def lengths(series: Series, frame: Frame) -> list[tuple[float, float]]:
    xs, ys = series.read(frame, frame.state.history.columns["response_length_mean"])
    return list(zip(xs, ys, strict=True))


def test_a_series_that_grows_reads_the_same_as_one_read_at_once() -> None:
    frame = verl()
    history = frame.state.history
    kept = Series()
    for step in range(36, 80):
        history.write(Step(step=step, response_length_mean=1400.0 + step))
        assert lengths(kept, frame) == lengths(Series(), frame)


def test_a_value_told_late_is_seen() -> None:
    frame = verl()
    kept = Series()
    frame.state.history.write(Step(step=36))
    before = lengths(kept, frame)
    frame.state.history.write(Step(step=36, response_length_mean=1500.0))
    assert lengths(kept, frame) == [*before, (36, 1500.0)]


def test_after_a_restart_the_series_starts_anew() -> None:
    frame = verl()
    kept = Series()
    lengths(kept, frame)
    frame.state.history.restart(10)
    later = replace(frame, state=replace(frame.state, amended=1))
    assert [step for step, _ in lengths(kept, later)] == list(range(1, 10))


def test_steps_that_end_out_of_order_are_put_in_order() -> None:
    frame = verl()
    for step in (37, 36, 38):
        frame.state.history.write(Step(step=step, response_length_mean=float(step)))
    steps = [step for step, _ in lengths(Series(), frame)]
    assert steps == sorted(steps)


def test_values_that_are_no_numbers_are_left_out() -> None:
    frame = verl(done=3)
    column = array("d", [1.0, float("nan"), float("inf")])
    assert Series().read(frame, column) == ([1], [1.0])


def test_steps_are_counted_from_the_number_of_the_first() -> None:
    assert (first_step(verl()), steps_done(verl()), last_step(verl())) == (1, 35, 94)
    assert (first_step(tinker()), steps_done(tinker()), last_step(tinker())) == (0, 41, 58)


def test_with_no_total_there_is_no_last_step() -> None:
    assert last_step(unpriced()) is None


def test_alerts_are_ordered_by_gravity_and_split_from_those_that_are_over() -> None:
    frame = with_alerts(12)
    order = ["critical", "warning", "info"]
    grades = [order.index(alert.severity) for alert in active(frame)]
    assert grades == sorted(grades)
    assert len(active(frame)) + len(cleared(frame)) == 12
    assert all(alert.cleared_step is not None for alert in cleared(frame))
