"""The columns: what is unknown stays unknown, what is told stays told."""

import math

from hypothesis import given
from hypothesis import strategies as st

from rltop.models.step import Step
from rltop.monitor.history import History


def test_a_quantity_that_was_never_told_is_none() -> None:
    history = History()
    history.write(Step(step=1, sampled_tokens=10))
    assert history.get("sampled_tokens", 0) == 10
    assert history.get("trained_tokens", 0) is None


def test_parts_of_one_step_make_one_row() -> None:
    history = History()
    history.write(Step(step=7, response_length_mean=300, complete=False))
    history.write(Step(step=7, duration_s=12.5))
    assert len(history) == 1
    assert history.row(0).get("response_length_mean") == 300
    assert history.row(0).get("duration_s") == 12.5


def test_a_later_part_without_a_value_does_not_wipe_an_earlier_one() -> None:
    history = History()
    history.write(Step(step=7, reward_mean=0.5))
    history.write(Step(step=7, reward_mean=None))
    assert history.get("reward_mean", 0) == 0.5


def test_a_raw_key_that_comes_late_is_unknown_before() -> None:
    history = History()
    history.write(Step(step=1))
    history.write(Step(step=2))
    history.write(Step(step=3, raw={"late": 4.0}))
    value = history.row(0).raw("late")
    assert value is not None
    assert math.isnan(value)
    assert history.row(2).raw("late") == 4.0
    assert history.row(2).raw("never") is None


def test_a_logged_nan_stays_in_the_raw_series() -> None:
    history = History()
    history.write(Step(step=1, raw={"loss": math.nan, "grad": math.inf}))
    loss, grad = history.row(0).raw("loss"), history.row(0).raw("grad")
    assert loss is not None
    assert math.isnan(loss)
    assert grad == math.inf


def test_rows_with_the_same_nan_share_the_note_of_it() -> None:
    history = History()
    for step in range(3):
        history.write(Step(step=step, raw={"loss": float("nan"), "lr": 1.0}))
    history.write(Step(step=2, kl=math.inf))
    assert history.nonfinite[0] is history.nonfinite[1]
    assert (history.row(1).nonfinite.keys(), history.row(2).nonfinite.keys()) == ({"loss"}, {"loss", "kl"})


def test_a_restart_takes_the_void_steps_out_of_progress_but_keeps_their_rows() -> None:
    history = History()
    for step in range(5):
        history.write(Step(step=step, duration_s=1.0))
    history.restart(3)
    history.write(Step(step=3, attempt=1, duration_s=2.0))
    assert len(history) == 6
    assert list(history.series("duration_s")) == [(0, 1.0), (1, 1.0), (2, 1.0), (3, 2.0)]


def test_phases_are_read_by_name() -> None:
    history = History()
    history.write(Step(step=1, phases={"generate": 3.0}))
    history.write(Step(step=2, phases={"generate": 4.0, "eval": 9.0}))
    assert history.row(0).phases() == {"generate": 3.0}
    assert history.row(1).phase("eval") == 9.0
    assert history.row(0).phase("eval") is None


@given(st.lists(st.tuples(st.integers(-5, 30), st.integers(0, 2)), max_size=60))
def test_each_step_of_each_attempt_has_one_row_in_whatever_order(
    told: list[tuple[int, int]],
) -> None:
    history, rows = History(), dict[tuple[int, int], int]()
    for step, attempt in told:
        expected = rows.setdefault((step, attempt), len(rows))
        assert history.write(Step(step=step, attempt=attempt)) == expected
    assert len(history) == len(rows)


@given(st.lists(st.integers(0, 20), unique=True, max_size=20), st.integers(0, 20))
def test_a_restart_leaves_the_steps_before_it_as_progress(steps: list[int], from_step: int) -> None:
    history = History()
    for step in steps:
        history.write(Step(step=step))
    history.restart(from_step)
    assert [history.steps[row] for row in history.progress] == [step for step in steps if step < from_step]
