"""Runs are compared where both have been, and what one does not tell is unknown."""

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rltop.models.comparison import Measure
from rltop.models.event import Event
from rltop.models.run import RunInfo
from rltop.models.settings import Settings
from rltop.models.step import Eval, Step
from rltop.monitor.along import MEASURES
from rltop.monitor.compare import compare
from rltop.monitor.compare_table import page
from rltop.monitor.frame import Frame
from rltop.monitor.money.book import Book
from rltop.monitor.pipeline import Pipeline

GPUS = Settings(gpus=8, gpu_type="B200", usd_per_gpu_hour=4.5)
PRICED = Settings(model="Qwen/Qwen3-4B-Instruct-2507")


def frame_of(events: Iterable[Event], settings: Settings = GPUS) -> Frame:
    pipeline = Pipeline(settings, Book.load(), priced_at=1_770_000_000.0)
    for event in events:
        pipeline.feed(event, 0.0)
    pipeline.close(0.0)
    return pipeline.frame(0.0)


def run(steps: int, seconds: float, tokens: float | None = 1000.0, **info: object) -> list[Event]:
    told = RunInfo(**{"platform": "self-hosted", "total_steps": steps, **info})  # pyright: ignore[reportArgumentType]
    return [
        told,
        *(
            Step(
                step=n,
                duration_s=seconds,
                sampled_tokens=tokens,
                reward_mean=n / 10,
                response_length_mean=100.0 + n,
            )
            for n in range(1, steps + 1)
        ),
    ]


def test_the_shared_place_is_the_furthest_that_all_have_reached() -> None:
    shared = compare([frame_of(run(10, 60.0)), frame_of(run(4, 60.0))]).shared
    assert shared is not None
    assert (shared.at, shared.steps) == (4.0, (4, 4))
    assert shared.reward == (0.4, 0.4)
    assert shared.response_length == (104.0, 104.0)


@pytest.mark.parametrize(
    ("by", "at", "steps"),
    [("time", 300.0, (5, 10)), ("tokens", 10_000.0, (10, 10)), ("step", 10.0, (10, 10))],
)
def test_runs_are_aligned_by_what_is_asked_for(by: Measure, at: float, steps: tuple[int, int]) -> None:
    shared = compare([frame_of(run(10, 60.0)), frame_of(run(10, 30.0))], by).shared
    assert shared is not None
    assert shared.at == pytest.approx(at)
    assert shared.steps == steps


@pytest.mark.parametrize("said", [RunInfo(first_step=0), RunInfo()])
def test_runs_that_count_from_0_and_from_1_are_aligned_by_how_many_steps_are_done(
    said: RunInfo,
) -> None:
    first = [
        event.model_copy(update={"step": event.step - 1}) for event in run(6, 60.0) if isinstance(event, Step)
    ]
    shared = compare([frame_of([said, *first]), frame_of(run(4, 60.0))]).shared
    assert shared is not None
    assert (shared.at, shared.steps) == (4.0, (3, 4))
    assert shared.reward == (0.4, 0.4)


def test_by_dollars_the_cheaper_run_is_further() -> None:
    shared = compare([frame_of(run(10, 60.0)), frame_of(run(10, 30.0))], "dollars").shared
    assert shared is not None
    assert shared.steps == (5, 10)


def test_a_run_that_tells_no_tokens_is_not_aligned_by_them() -> None:
    assert compare([frame_of(run(3, 60.0)), frame_of(run(3, 60.0, None))], "tokens").shared is None


def test_cost_is_told_so_far_at_the_end_and_by_step() -> None:
    one = compare([frame_of(run(10, 60.0)), frame_of(run(10, 30.0))]).runs[0]
    assert one.spent_usd == pytest.approx(8 * 4.5 * 600 / 3600)
    assert one.usd_per_step == pytest.approx(0.6)
    assert one.usd_per_mtok == pytest.approx(600.0)


def test_facts_that_differ_are_told_and_those_that_agree_are_not() -> None:
    first = run(3, 60.0, group_size=8, max_tokens=512, config={"lr": 1e-5, "only.here": 1})
    second = run(3, 60.0, group_size=16, max_tokens=512, config={"lr": 2e-5})
    found = compare([frame_of(first), frame_of(second)]).differences
    assert [(one.name, one.values) for one in found] == [
        ("group_size", ("8", "16")),
        ("lr", ("1e-05", "2e-05")),
    ]


def test_the_table_says_how_many_times_the_second_of_two_is_the_first() -> None:
    text = page(compare([frame_of(run(10, 60.0)), frame_of(run(10, 30.0))], names=("slow", "fast")))
    line = next(line for line in text.splitlines() if line.startswith("cost so far"))
    assert line.split() == ["cost", "so", "far", "$6.00", "$3.00", "×0.50"]
    assert text.splitlines()[0].split() == ["slow", "fast"]


def test_the_newest_score_stands_for_the_evaluations() -> None:
    events = [*run(3, 60.0), Eval(step=1, scores={"acc": 0.2}), Eval(step=3, scores={"acc": 0.6})]
    assert compare([frame_of(events), frame_of(run(3, 60.0))]).runs[0].eval_score == 0.6


@given(st.lists(st.integers(0, 5), min_size=2, max_size=6), st.sampled_from(MEASURES))
def test_any_runs_can_be_compared_even_empty_ones(lengths: list[int], by: Measure) -> None:
    frames = [frame_of(run(steps, 10.0) if steps else []) for steps in lengths]
    found = compare(frames, by)
    assert len(found.runs) == len(lengths)
    assert (found.shared is None) == (0 in lengths)
    assert not {"nan", "None", "inf"} & set(page(found).split())
    assert type(found).model_validate_json(found.model_dump_json(by_alias=True)) == found
