"""One run in several logs: counted once, and each quantity from the log that tells it best."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rltop.models.event import Ended, LogLine, Progress, Restart, Totals
from rltop.models.run import RunInfo
from rltop.models.step import Eval, Step
from rltop.monitor.check import report
from rltop.monitor.fleet.joined import PATIENCE_S
from rltop.monitor.frame import Frame
from rltop.monitor.target import open_target

from .logs import CLUSTER, TINKER, VERL, Log, joined, part, steps_of, watched

MONEY = ("duration_s", "phases", "sampled_tokens", "prefill_tokens", "trained_tokens")


def bill(frame: Frame) -> float:
    assert frame.bill.spent_usd is not None
    return frame.bill.spent_usd


def notes(frame: Frame) -> str:
    return "\n".join(report(frame).input.notes)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    count=st.integers(6, 25),
    behind=st.integers(0, 3),
    fields=st.sets(st.sampled_from([*MONEY, "reward_mean", "response_length_mean", "ended_at"])),
    tinker=st.booleans(),
)
def test_a_run_told_twice_costs_what_its_best_log_says(
    seed: int, count: int, behind: int, fields: set[str], tinker: bool
) -> None:
    info, said = (TINKER, None) if tinker else (VERL, CLUSTER)
    steps = steps_of(seed, count)
    whole = [info, *steps]
    partly = [info, *(part(step, *fields) for step in steps[: len(steps) - behind])]
    alone = watched(Log("whole", whole), said)
    for source in (joined(Log("a", whole), Log("b", partly)), joined(Log("b", partly), Log("a", whole))):
        both = watched(source, said)
        assert bill(both) == pytest.approx(bill(alone), rel=1e-9)
        assert both.state.steps_done == alone.state.steps_done
        assert list(both.state.history.steps) == list(alone.state.history.steps)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.lists(st.integers(1, 4), min_size=3, max_size=8), st.integers(0, 2))
def test_a_run_that_grows_costs_the_same_in_two_logs_as_in_one(seed: int, sizes: list[int], lag: int) -> None:
    steps = steps_of(seed, sum(sizes) + 4)
    slices: list[list[Step]] = [steps[:4]]
    for size in sizes:
        start = sum(len(some) for some in slices)
        slices.append(steps[start : start + size])
    late = [[part(step, *MONEY) for step in some] for some in slices]
    late = [late[0], *[[]] * lag, *late[1:]]
    source = joined(Log("a", [VERL, *slices[0]], *slices[1:]), Log("b", *late))
    grown = watched(source, CLUSTER, looks=len(late) + 2)
    alone = watched(Log("a", [VERL, *steps]), CLUSTER)
    assert bill(grown) == pytest.approx(bill(alone), rel=1e-9)
    assert list(grown.state.history.steps) == [step.step for step in steps]


def test_each_quantity_is_from_the_log_that_tells_it_and_the_choice_is_told() -> None:
    steps = steps_of(1, 8)
    console = [VERL, *(part(step, "duration_s", "phases") for step in steps)]
    other = [
        part(step, "reward_mean", "kl").model_copy(update={"raw": {**step.raw, "extra": 1.5}})
        for step in steps
    ]
    frame = watched(joined(Log("train.log", console), Log("run.wandb", other)), CLUSTER)
    row = frame.state.last_row
    assert row is not None
    assert row.get("reward_mean") == steps[-1].reward_mean
    assert row.get("duration_s") == steps[-1].duration_s
    assert row.raw("extra") == 1.5
    assert "steps from train.log; reward and KL from log1" in notes(frame)
    assert [source.path for source in report(frame).run.sources] == ["train.log", "run.wandb"]


def test_tokens_come_from_one_log_even_where_another_tells_some_of_them() -> None:
    steps = steps_of(1, 8)
    few = [TINKER, *(part(step, "duration_s", "sampled_tokens") for step in steps)]
    all_ = [part(step, "sampled_tokens", "prefill_tokens", "trained_tokens") for step in steps]
    odd = [step.model_copy(update={"sampled_tokens": (step.sampled_tokens or 0) * 1.001}) for step in all_]
    both = watched(joined(Log("few", few), Log("all", odd)))
    alone = watched(Log("all", [TINKER, *odd]))
    assert bill(both) == pytest.approx(bill(alone))


def test_logs_of_two_runs_are_not_joined_and_it_is_said() -> None:
    other = Log("other.jsonl", steps_of(2, 8))
    frame = watched(joined(Log("mine.log", [VERL, *steps_of(1, 8)]), other), CLUSTER)
    alone = watched(Log("mine.log", [VERL, *steps_of(1, 8)]), CLUSTER)
    assert bill(frame) == bill(alone)
    assert "log1 is of another run: other numbers for the same steps" in notes(frame)
    assert [source.path for source in report(frame).run.sources] == ["mine.log"]
    assert other.closed


def test_a_log_that_tells_too_little_is_left_apart_until_its_numbers_are_known() -> None:
    steps = steps_of(1, 12)
    late = [part(step, "reward_mean") for step in steps]
    bare = [part(step, *MONEY) for step in steps]
    source = joined(
        Log("a", [VERL, *bare[:2]], bare[2:]), Log("b", [late[0].model_copy(update={"raw": {}})], late)
    )
    frame = watched(source, CLUSTER, looks=3)
    row = frame.state.last_row
    assert row is not None
    assert row.get("reward_mean") == steps[-1].reward_mean


def test_what_the_user_says_is_one_run_is_joined_without_proof() -> None:
    one = [VERL, *(Step(step=n, duration_s=50.0) for n in range(1, 6))]
    other = [Step(step=n, reward_mean=0.5) for n in range(1, 6)]
    frame = watched(joined(Log("a", one), Log("b", other), said=True), CLUSTER)
    assert frame.health.reward == 0.5
    assert frame.state.steps_done == 5


def test_steps_paid_twice_after_a_restart_are_paid_twice_and_no_more() -> None:
    first, again = (
        steps_of(1, 8),
        [step.model_copy(update={"attempt": 1}) for step in steps_of(2, 6, start=5)],
    )
    console = [VERL, *first, Restart(from_step=5, attempt=1), *again]
    # The other log began with the resume and counts its attempts anew.
    resumed = [part(step, *MONEY, "reward_mean").model_copy(update={"attempt": 0}) for step in again]
    both = watched(joined(Log("console", console), Log("resumed", resumed)), CLUSTER)
    alone = watched(Log("console", console), CLUSTER)
    assert bill(both) == bill(alone)
    assert both.state.steps_done == alone.state.steps_done == 10


def test_the_log_with_more_of_the_run_leads_whatever_was_named_first() -> None:
    steps = steps_of(1, 20)
    tail, whole = Log("tail.log", [VERL, *steps[14:]]), Log("metrics.jsonl", [VERL, *steps])
    frame = watched(joined(tail, whole), CLUSTER)
    assert frame.state.steps_done == 20
    assert "steps from metrics.jsonl" in notes(frame)


def test_evaluations_are_from_one_log_and_paid_once() -> None:
    steps = steps_of(1, 6)
    told: list[Step | Eval] = []
    for step in steps:
        told += [Eval(step=step.step, sampled_tokens=1e6, prefill_tokens=1e5), step]
    alone = watched(Log("a", [TINKER, *told]))
    both = watched(joined(Log("a", [TINKER, *told]), Log("b", told)))
    others = watched(joined(Log("a", [TINKER, *steps]), Log("b", told)))
    assert bill(both) == pytest.approx(bill(alone))
    assert bill(others) == pytest.approx(bill(alone))
    assert len(both.state.history.evals) == len(others.state.history.evals) == 6


def test_counters_and_bars_are_from_one_log() -> None:
    steps = steps_of(1, 6)
    a = [VERL, *steps, Progress(step=6, elapsed_s=900.0), Totals(step=6, spent_usd=2.0)]
    b = [*steps, Progress(step=6, elapsed_s=5000.0), Totals(step=6, spent_usd=9.0)]
    frame = watched(joined(Log("a", a), Log("b", b)), CLUSTER)
    assert frame.state.progress is not None
    assert frame.state.totals is not None
    assert (frame.state.progress.elapsed_s, frame.state.totals.spent_usd) == (900.0, 2.0)


def test_a_crash_that_the_console_proves_beats_an_exit_code_of_0() -> None:
    steps = steps_of(1, 6)
    console = [VERL, *steps, Ended(status="crashed", message="CUDA out of memory")]
    other = [*steps, Ended(status="finished", message="W&B exit code 0")]
    for source in (joined(Log("a", console), Log("b", other)), joined(Log("b", other), Log("a", console))):
        assert watched(source, CLUSTER).status == "crashed"


def test_a_line_that_two_logs_have_is_shown_once() -> None:
    steps, line = steps_of(1, 6), LogLine(text="checkpoint saved")
    frame = watched(joined(Log("a", [VERL, *steps, line]), Log("b", [*steps, line])), CLUSTER)
    assert [one.text for one in frame.state.logs] == ["checkpoint saved"]


def test_facts_of_the_leader_beat_those_of_the_others_whenever_they_come() -> None:
    steps = steps_of(1, 6)
    b = [RunInfo(name="wandb-name", total_steps=99, model="x/y", config={"lr": 1.0, "seed": 3}), *steps]
    a = [VERL.model_copy(update={"name": "mine", "config": {"lr": 2.0}}), *steps]
    info = watched(joined(Log("a", a), Log("b", b)), CLUSTER).info
    assert (info.name, info.total_steps, info.model, info.config) == (
        "mine",
        40,
        "x/y",
        {"lr": 2.0, "seed": 3},
    )


def test_a_step_waits_for_the_other_log_but_not_for_ever() -> None:
    steps = steps_of(1, 6)
    bare = [part(step, *MONEY) for step in steps]
    source = joined(
        Log("a", [VERL, *bare[:5]], bare[5:]), Log("b", [part(step, "reward_mean") for step in steps[:5]])
    )
    numbers = [event.step for event in source.poll(0.0) if isinstance(event, Step)]
    assert max(numbers) == 5
    assert not [event for event in source.poll(1.0) if isinstance(event, Step)]
    (late,) = [event for event in source.poll(1.0 + PATIENCE_S) if isinstance(event, Step)]
    assert (late.step, late.complete) == (6, False)


@pytest.mark.parametrize(
    ("run", "spent"),
    [("format-v0.9.1-ray", 9.0269), ("format-v0.7.1-direct", 3.7265), ("format-v0.3.0.post1-direct", 3.7265)],
)
def test_real_veRL_runs_with_console_file_and_TensorBoard_are_one_run_that_costs_the_same(
    shared_data: Path, run: str, spent: float
) -> None:
    said = CLUSTER.model_copy(update={"usd_per_gpu_hour": 4.0, "gpus": 8})

    def frame(path: Path) -> Frame:
        (source,) = open_target(path)[-1:] if path.is_file() else open_target(path)
        return watched(source, said)

    folder = shared_data / "verl" / run
    whole = frame(folder)
    assert bill(whole) == pytest.approx(bill(frame(folder / "console.log")), rel=1e-6)
    assert bill(whole) == pytest.approx(bill(frame(folder / "tensorboard")), rel=1e-5)
    assert bill(whole) == pytest.approx(spent, rel=1e-4)
    assert {source.kind for source in report(whole).run.sources} >= {"console", "tensorboard"}
    assert "clock times" in notes(whole)
