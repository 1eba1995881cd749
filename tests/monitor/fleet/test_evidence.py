"""When two logs are of one run, when they are not, and when nobody can tell."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rltop.models.step import Step
from rltop.monitor.fleet.evidence import Telling, compare, is_telling

from .logs import part, steps_of


def telling(*steps: Step) -> Telling:
    told = Telling()
    for step in steps:
        told.add(step)
    return told


def test_the_same_numbers_of_the_same_steps_are_one_run() -> None:
    verdict = compare(telling(*steps_of(1, 5)), telling(*steps_of(1, 9)))
    assert verdict.same is True
    assert "5 common steps" in verdict.why


def test_other_numbers_of_the_same_steps_are_two_runs() -> None:
    assert compare(telling(*steps_of(1, 5)), telling(*steps_of(2, 5))).same is False


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(3, 40))
def test_two_runs_are_never_taken_for_one(one: int, other: int, count: int) -> None:
    if one != other:
        assert compare(telling(*steps_of(one, count)), telling(*steps_of(other, count))).same is not True


def test_steps_that_do_not_overlap_tell_nothing() -> None:
    assert compare(telling(*steps_of(1, 5)), telling(*steps_of(1, 5, start=50))).same is None


def test_one_number_in_common_is_not_enough() -> None:
    one = [part(step).model_copy(update={"raw": {"loss": step.raw["loss"]}}) for step in steps_of(1, 9)]
    assert compare(telling(*steps_of(1, 9)), telling(*one)).same is None


def test_zeros_ones_and_round_numbers_prove_nothing() -> None:
    flat = [Step(step=n, raw={"lr": 1e-6, "clip": 0.0, "episodes": 512, "epoch": 1.0}) for n in range(30)]
    assert compare(telling(*flat), telling(*flat)).same is None


def test_a_console_that_prints_three_decimals_agrees_with_a_file_that_has_all() -> None:
    printed = [
        step.model_copy(update={"raw": {key: round(value, 3) for key, value in step.raw.items()}})
        for step in steps_of(3, 12)
    ]
    assert compare(telling(*printed), telling(*steps_of(3, 12))).same is True


def test_a_share_and_the_same_in_percent_say_nothing_against_one_run() -> None:
    shares = [0.631, 0.648, 0.702, 0.717, 0.733, 0.751, 0.768, 0.794]
    extra = [{"format": share, "truncated": share / 8} for share in shares]
    one, other = (
        [
            part(step).model_copy(update={"raw": {**step.raw, **{k: by * v for k, v in told.items()}}})
            for step, told in zip(steps_of(1, 8), extra, strict=True)
        ]
        for by in (1, 100)
    )
    assert compare(telling(*one), telling(*other)).same is True
    assert compare(telling(*steps_of(1, 8)), telling(*steps_of(2, 8))).same is False


def test_the_same_seed_run_again_is_another_run_since_its_times_differ() -> None:
    again = [
        step.model_copy(
            update={"raw": {**step.raw, "timing_s/step": 50 + step.step / 7, "timing_s/gen": 20.7}}
        )
        for step in steps_of(4, 8)
    ]
    before = [
        step.model_copy(
            update={"raw": {**step.raw, "timing_s/step": 61 + step.step / 9, "timing_s/gen": 23.1}}
        )
        for step in steps_of(4, 8)
    ]
    assert compare(telling(*before), telling(*again)).same is False


def test_the_same_numbers_at_other_times_are_another_run_but_for_time_zones() -> None:
    for later_s, same in ((400.0, False), (3600.0 * 5 + 20, True)):
        moved = [
            step.model_copy(update={"ended_at": (step.ended_at or 0) + later_s}) for step in steps_of(4, 8)
        ]
        assert compare(telling(*steps_of(4, 8)), telling(*moved)).same is same


def test_a_step_that_ran_again_may_agree_in_either_attempt() -> None:
    first, second = steps_of(5, 6), [step.model_copy(update={"attempt": 1}) for step in steps_of(6, 6)]
    assert compare(telling(*first, *second), telling(*steps_of(6, 6))).same is True


@pytest.mark.parametrize(
    ("value", "tells"), [(0.0, False), (1.0, False), (512.0, True), (1e-6, False), (0.123, True)]
)
def test_which_numbers_tell(value: float, tells: bool) -> None:
    assert is_telling(value) is tells
