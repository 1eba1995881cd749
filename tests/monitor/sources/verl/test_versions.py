"""The shapes that the metrics had from version to version, and what each gives."""

from collections.abc import Callable

import pytest

from rltop.models.event import Event, RunInfo
from rltop.models.step import Step
from rltop.monitor.state import RunState

Read = Callable[..., list[Event]]
Fold = Callable[..., RunState]

V02 = (
    "step:0 - timing/gen:20.0 - timing/ref:4.0 - timing/values:5.0 - critic/kl:0.125 - timing/adv:0.5 - "
    "timing/update_critic:15.0 - critic/vf_loss:1.5 - critic/lr(1e-4):0.100 - timing/update_actor:19.5 - "
    "actor/entropy_loss:0.375 - actor/ppo_kl:0.000 - actor/grad_norm:2.125 - actor/lr(1e-4):0.010 - "
    "timing/testing:56.0 - val/test_score/openai/gsm8k:0.250 - critic/score/mean:0.500 - "
    "response_length/mean:100.000 - response_length/max:256.000 - prompt_length/mean:50.000"
)
V04 = (
    "step:1 - actor/entropy_loss:0.424 - actor/pg_loss:-0.395 - actor/kl_loss:0.001 - actor/lr:0.000 - "
    "perf/mfu/actor:0.410 - critic/score/mean:0.844 - response_length/mean:400.000 - "
    "response_length/max:1024.000 - response_length/clip_ratio:0.250 - prompt_length/mean:100.000 - "
    "timing_s/gen:20.000 - timing_s/ref:2.000 - timing_s/update_actor:8.000 - timing_s/testing:30.000 - "
    "timing_s/step:61.000 - perf/total_num_tokens:32000.000 - perf/time_per_step:61.000 - "
    "perf/throughput:65.574"
)
MODERN = (
    "step:1 - actor/entropy:0.3 - actor/pg_loss:-0.009 - actor/lr:1e-06 - perf/mfu/actor:0.4 - "
    "critic/score/mean:0.5 - response_length/mean:400.0 - response_length/max:1024.0 - "
    "response_length/clip_ratio:0.25 - {aborted}prompt_length/mean:100.0 - timing_s/gen:20.0 - "
    "timing_s/old_log_prob:3.0 - timing_s/update_actor:8.0 - {sync}timing_s/step:{step} - "
    "timing_s/testing:30.0 - perf/total_num_tokens:32000 - perf/time_per_step:{step} - "
    "perf/throughput:{throughput}"
)
ABORTED = "response/aborted_ratio:0.0 - "
SYNC = "timing_s/update_weights:2.0 - "


def modern(step: float, aborted: str = "", sync: str = "") -> str:
    return MODERN.format(step=step, aborted=aborted, sync=sync, throughput=32000 / step / 8)


def version(events: list[Event]) -> str | None:
    told = [event.framework_version for event in events if isinstance(event, RunInfo)]
    return next((name for name in told if name), None)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (V02, "<=0.2"),
        (V04, "<=0.4.1"),
        (modern(61.5), "0.5"),
        (modern(31.5, ABORTED), "0.6-0.7.0"),
        (modern(33.5, ABORTED, SYNC), "0.7.1-0.8"),
        ("(TaskRunnerV1 pid=1) " + modern(33.5, ABORTED, SYNC), "0.9"),
        (modern(33.5, ABORTED, "training/off_policy/trajectory_spans/mean:1.0 - " + SYNC), "0.9"),
    ],
)
def test_the_version_is_told_by_the_shape_of_a_step(read: Read, line: str, expected: str) -> None:
    assert version(read(line)) == expected


@pytest.mark.parametrize(
    ("line", "seconds"),
    [
        (V02, 120.0),
        (V04, 61.0),
        (modern(61.5), 61.5),
        (modern(31.5, ABORTED), 61.5),
        (modern(33.5, ABORTED, SYNC), 63.5),
    ],
)
def test_the_duration_includes_validation_whatever_the_version_leaves_out(
    fold: Fold, line: str, seconds: float
) -> None:
    assert fold(line).history.get("duration_s", 0) == pytest.approx(seconds)


def test_a_step_of_a_version_before_03_is_read(fold: Fold) -> None:
    state = fold(V02)
    row = state.history.row(0)
    assert (row.step, state.info.first_step, state.info.algorithm) == (0, 0, "ppo")
    assert (row.get("kl"), row.get("entropy"), row.get("reward_mean")) == (0.125, 0.375, 0.5)
    assert row.get("lr") == pytest.approx(1e-6)
    assert row.get("clip_ratio") is None
    assert row.phases() == {
        "generate": 20.0,
        "ref": 4.0,
        "other": 5.5,
        "update_critic": 15.0,
        "update": 19.5,
        "eval": 56.0,
    }
    (told,) = state.history.evals
    assert (told.name, told.scores, told.duration_s) == ("openai/gsm8k", {"test_score": 0.25}, 56.0)


def test_a_rounded_learning_rate_of_zero_is_not_known_and_a_written_one_is(fold: Fold) -> None:
    assert fold(V04).history.get("lr", 0) is None
    assert fold(modern(61.5)).history.get("lr", 0) == 1e-06


def test_gpus_and_tokens_follow_from_the_throughput(fold: Fold) -> None:
    state = fold(modern(33.5, ABORTED, SYNC))
    row = state.history.row(0)
    assert state.info.gpus == 8
    assert any("8 GPUs" in note for note in state.info.notes)
    assert (row.get("episodes"), row.get("sampled_tokens"), row.get("prefill_tokens")) == (64, 25600, 6400)
    assert row.get("trained_tokens") == row.get("total_tokens") == 32000
    assert row.get("tokens_per_s") == pytest.approx(32000 / 63.5)


def test_phases_are_disjoint_and_fit_into_the_step(fold: Fold) -> None:
    line = modern(33.5, ABORTED, SYNC) + (
        " - timing_s/agent_loop/generate_sequences/max:19.0 - timing_s/generation_timing/max:19.5"
        " - timing_s/generate_sequences:19.0 - timing_s/reshard:0.5 - timing_s/agent_loop/num_preempted/max:3"
    )
    row = fold(line).history.row(0)
    assert row.phases() == {
        "generate": 20.0,
        "old_logprob": 3.0,
        "update": 8.0,
        "weight_sync": 2.0,
        "eval": 30.0,
    }
    assert sum(row.phases().values()) <= (row.get("duration_s") or 0)


def test_a_renamed_rollout_counts_as_generation(fold: Fold) -> None:
    line = "step:1 - actor/pg_loss:0.1 - timing_s/get_batch_rollout_filtered:30.0 - timing_s/step:41.0"
    assert fold(line).history.row(0).phases() == {"generate": 30.0}


@pytest.mark.parametrize(
    ("mfu", "shown", "note"),
    [("0.0", None, "MFU of 0"), ("inf", None, "MFU of 0"), ("1.018", None, "above 1"), ("0.4", 0.4, None)],
)
def test_an_mfu_that_says_nothing_is_not_shown(
    fold: Fold, mfu: str, shown: float | None, note: str | None
) -> None:
    state = fold(modern(61.5).replace("perf/mfu/actor:0.4", f"perf/mfu/actor:{mfu}"))
    assert state.history.get("mfu_logged", 0) == shown
    assert (
        any(note in told for told in state.info.notes)
        if note
        else not any("MFU" in told for told in state.info.notes)
    )


def test_nan_and_infinity_stay_raw_and_are_unknown_otherwise(fold: Fold) -> None:
    row = fold("step:1 - actor/grad_norm:nan - actor/pg_loss:inf - timing_s/step:2.0").history.row(0)
    assert (row.get("grad_norm"), row.get("loss")) == (None, None)
    assert row.raw("actor/pg_loss") == float("inf")


def test_sft_is_read(fold: Fold) -> None:
    state = fold(
        "step:1 - train/loss:2.25 - train/lr(1e-3):0.0005 - train/time(s):10.5\n"
        "\rEpoch 1/3:  50%|#####     | 1/2 [00:11<00:11, 11.0s/it]"
        "step:2 - train/loss:2.0 - train/lr(1e-3):0.001 - train/time(s):9.5\n"
        "step:2 - val/loss:1.75\n"
    )
    row = state.history.row(0)
    assert (len(state.history), state.info.algorithm, state.info.total_steps) == (2, "sft", 6)
    assert (row.get("loss"), row.get("duration_s"), row.get("reward_mean")) == (2.25, 10.5, None)
    assert row.get("lr") == pytest.approx(5e-7)
    (told,) = state.history.evals
    assert (told.step, told.scores) == (2, {"loss": 1.75})


def test_scores_are_told_by_data_source(read: Read, fold: Fold) -> None:
    line = (
        "step:10 - actor/pg_loss:0.1 - timing_s/step:9.0 - timing_s/testing:4.0 - "
        "val-core/openai/gsm8k/acc/mean@1:0.75 - val-aux/openai/gsm8k/reward/std@4:0.5 - "
        "val-core/aime/acc/best@30/mean:0.25 - val-aux/num_turns/mean:2.0"
    )
    told = fold(line).history.evals
    assert [(e.name, e.duration_s, e.scores) for e in told] == [
        ("openai/gsm8k", 4.0, {"acc/mean@1": 0.75, "reward/std@4": 0.5}),
        ("aime", None, {"acc/best@30/mean": 0.25}),
    ]
    assert sum(isinstance(event, Step) for event in read(line)) == 1
