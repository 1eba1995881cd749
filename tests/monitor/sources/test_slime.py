import re
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rltop.models.event import Ended, Event, LogLine, Restart
from rltop.models.run import RunInfo
from rltop.models.step import Eval, Step
from rltop.monitor.reduce import reduce
from rltop.monitor.source import Line, Probe
from rltop.monitor.sources import slime
from rltop.monitor.sources.slime import FORMAT, SlimeParser
from rltop.monitor.sources.slime_flags import flags_of, info_of
from rltop.monitor.state import RunState

ENTRYPOINT = (
    "2026-07-20 17:40:00,123\tINFO job_manager.py:568 -- Running entrypoint for job raysubmit_a1: "
    "python3 train.py --actor-num-nodes 1 --actor-num-gpus-per-node 2 --rollout-num-gpus 6 "
    "--hf-checkpoint /root/Qwen3-4B --num-rollout 200 --rollout-batch-size 6 --n-samples-per-prompt 8 "
    "--rollout-max-response-len 8192 --global-batch-size 24 --use-kl-loss --eval-interval 20"
)
MANAGER = "\x1b[36m(RolloutManager pid=6809)\x1b[0m [2026-07-20 17:53:16] rollout.py:1303 - "
TRAINER = "\x1b[36m(MegatronTrainRayActor pid=10122, ip=10.0.0.2)\x1b[0m [2026-07-20 17:53:{:02d}] x.py:9 - "


def manager(n: int) -> str:
    return MANAGER + (
        f"perf {n}: {{'rollout/response_len/mean': 1000.0, 'rollout/response_len/max': 4096, "
        "'rollout/truncated_ratio': 0.25, 'rollout/dynamic_filter/drop_zero_std_0.0': 5, "
        "'perf/rollout_time': 100.0, 'perf/tokens_per_gpu_per_sec': 120.0}"
    )


def rollout(n: int) -> str:
    return TRAINER.format(20) + (
        f"rollout {n}: {{'rollout/response_lengths': 1500.0, 'rollout/total_lengths': 2000.0, "
        "'rollout/raw_reward': np.float64(0.5), 'rollout/rewards': 1e-09, 'rollout/kl': nan}"
    )


def train(k: int, loss: float) -> str:
    return (
        TRAINER.format(30) + f"step {k}: {{'train/loss': {loss}, 'train/lr-pg_0': 1e-06, 'train/step': {k}}}"
    )


def trained(n: int, step_time: float = 200.0) -> str:
    return TRAINER.format(40) + (
        f"perf {n}: {{'perf/train_wait_time': {step_time - 60}, 'perf/train_time': 60.0, "
        f"'perf/actor_train_time': 40.0, 'perf/ref_log_probs_time': 10.0, 'perf/log_probs_time': 8.0, "
        f"'perf/update_weights_time': 5.0, 'perf/step_time': {step_time}}}"
    )


def events_of(lines: Iterable[str]) -> list[Event]:
    parser = SlimeParser()
    events = [event for n, text in enumerate(lines, 1) for event in parser.feed(Line(text, None, n))]
    events.extend(parser.flush())
    assert parser.bad_lines == 0, parser.first_bad
    return events


def state_of(events: Iterable[Event]) -> RunState:
    state = RunState()
    for event in events:
        state = reduce(state, event)
    return state


def test_the_lines_of_a_rollout_make_one_step() -> None:
    state = state_of(
        events_of([ENTRYPOINT, manager(0), rollout(0), train(0, 0.2), train(1, 0.4), trained(0)])
    )
    assert list(state.history.steps) == [0]
    row = state.history.row(0)
    assert row.get("duration_s") == 200.0
    assert row.get("response_length_mean") == 1000.0
    assert row.get("prompt_length_mean") == 500.0
    assert row.get("clip_ratio") == 0.25
    assert row.get("reward_mean") == 0.5
    assert row.get("loss") == pytest.approx(0.3), "the mean of the rollout's train steps"
    assert row.raw("train/loss") == 0.4
    assert row.get("sampled_tokens") == 48_000, "48 samples; what tools wrote is left out"
    assert row.get("total_tokens") == 96_000
    assert row.get("tokens_per_s") == 480.0
    assert row.get("ended_at") == datetime(2026, 7, 20, 17, 53, 40).timestamp()
    assert row.phases() == {"generate": 100, "old_logprob": 8, "ref": 10, "update": 40, "weight_sync": 5}


def test_a_step_is_complete_only_with_the_trainers_perf_line() -> None:
    steps = [e for e in events_of([manager(0), rollout(0), train(0, 0.2), trained(0)]) if isinstance(e, Step)]
    assert [step.complete for step in steps] == [False, False, False, True]


def test_the_command_line_tells_plan_model_and_gpus() -> None:
    info = state_of(events_of([ENTRYPOINT])).info
    assert (info.framework, info.platform, info.first_step) == ("slime", "self-hosted", 0)
    assert (info.total_steps, info.groups, info.group_size, info.max_tokens) == (200, 6, 8, 8192)
    assert (info.gpus, info.model, info.reference_pass, info.eval_every) == (8, "Qwen3-4B", True, 20)
    assert info.config["global_batch_size"] == 24


def test_colocated_gpus_are_counted_once_and_unknown_ones_not_guessed() -> None:
    flags = "--colocate --actor-num-nodes 2 --actor-num-gpus-per-node 8 --rollout-num-gpus 16"
    assert info_of(flags_of(flags)).gpus == 16
    assert info_of(flags_of("--actor-num-nodes 2")).gpus is None
    assert info_of(flags_of("--num-rollout 3")).gpus is None


def test_a_cut_command_line_is_still_read() -> None:
    assert flags_of("train.py --num-rollout=7 --label 'unclosed --n-samples-per-prompt 4")["num_rollout"] == 7


def test_the_placement_group_beats_the_flags() -> None:
    info = state_of(
        events_of([ENTRYPOINT, "[2026-07-20 17:41:00] pg.py:1 - Creating placement group with 12 GPUs..."])
    )
    assert info.info.gpus == 12


def test_gpus_that_generate_follow_from_the_tokens_once_samples_are_known() -> None:
    # 1500 tokens × 48 samples = 72 000 = 120 tokens/s and GPU × 100 s × 6 GPUs.
    collected = "Final collected 48 samples from rollout to train"
    state = state_of(events_of([collected, manager(0), rollout(0)]))
    assert any("6 GPUs generate" in note for note in state.info.notes)
    assert state.info.gpus is None
    assert state.history.get("sampled_tokens", 0) == 48_000


def test_tokens_are_unknown_where_samples_are() -> None:
    state = state_of(events_of([manager(0), rollout(0), trained(0)]))
    assert state.history.get("sampled_tokens", 0) is None
    assert state.history.get("total_tokens", 0) is None


def test_an_asynchronous_trainer_prints_the_next_rollout_before_this_step() -> None:
    lines = [
        manager(0),
        rollout(0),
        manager(1),
        train(0, 0.1),
        trained(0, 110),
        rollout(1),
        train(1, 0.3),
        trained(1, 110),
    ]
    state = state_of(events_of(lines))
    assert list(state.history.steps) == [0, 1]
    assert [state.history.get("loss", i) for i in (0, 1)] == [0.1, 0.3]
    # 100 s of generation and 63 s of training do not fit one after the other into 110 s.
    assert state.history.row(1).phase("generate") == 110 - 63
    assert state.attempt == 0


def test_dropped_groups_are_noted() -> None:
    assert any("dynamic filter" in note for note in state_of(events_of([manager(0)])).info.notes)


def test_a_rollout_told_again_is_a_restart() -> None:
    events = events_of(
        [manager(3), rollout(3), trained(3), manager(4), rollout(4), trained(4), manager(4), trained(4)]
    )
    assert next(e for e in events if isinstance(e, Restart)).from_step == 4
    state = state_of(events)
    assert state.attempt == 1
    assert state.steps_done == 2


def test_train_steps_that_come_first_wait_for_their_rollout() -> None:
    state = state_of(events_of([train(47, 0.5), trained(11), manager(12)]))
    assert list(state.history.steps) == [11, 12]
    assert state.history.get("loss", 0) == 0.5


def test_evaluations_are_told_by_data_set() -> None:
    line = MANAGER + (
        "eval 20: {'eval/aime-24': 0.5, 'eval/aime-24-truncated_ratio': 0.1, 'eval/aime-24-pass@8': 0.7, "
        "'eval/aime-24/response_len/mean': 900.0, 'eval/math': 0.9}"
    )
    evals = [e for e in events_of([line]) if isinstance(e, Eval)]
    assert [(e.step, e.name) for e in evals] == [(20, "aime-24"), (20, "math")]
    assert evals[0].scores == {
        "score": 0.5,
        "truncated_ratio": 0.1,
        "pass@8": 0.7,
        "response_len/mean": 900.0,
    }
    assert evals[0].response_length_mean == 900.0


def test_critic_steps_do_not_touch_the_actors_values() -> None:
    critic = TRAINER.format(31) + "critic-step 0: {'train/loss': 9.0}"
    state = state_of(events_of([rollout(0), train(0, 0.2), critic]))
    assert state.history.get("loss", 0) == 0.2
    assert state.history.row(0).raw("critic/train/loss") == 9.0
    assert state.info.algorithm == "ppo"


def test_out_of_memory_and_the_end_of_the_job_are_told() -> None:
    lines = [
        "(MegatronTrainRayActor pid=1) torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB.",
        "\x1b[31mJob 'raysubmit_a1' failed\x1b[39m",
    ]
    events = events_of([manager(0), *lines])
    assert [e.topic for e in events if isinstance(e, LogLine)] == ["oom"]
    assert [e.status for e in events if isinstance(e, Ended)] == ["crashed"]
    succeeded = events_of([manager(0), "Job 'raysubmit_a1' succeeded"])
    assert [e.status for e in succeeded if isinstance(e, Ended)] == ["finished"]


def test_a_cut_line_is_counted_and_named() -> None:
    parser = SlimeParser()
    assert list(parser.feed(Line(manager(0)[:-20], None, 7))) == []
    assert parser.bad_lines == 1
    assert parser.first_bad.startswith("line 7: ")


def test_miles_prefix_and_repetition_suffix_are_no_hindrance() -> None:
    text = (
        "\x1b[36m(M pid=1)\x1b[0m [2026-07-20 17:53:16.250 actor_cell0_rank0] a.py:1 - "
        "perf 5: {'perf/step_time': 3.5}\x1b[32m [repeated 7x across cluster]\x1b[0m"
    )
    state = state_of(events_of([text]))
    assert list(state.history.steps) == [5]
    assert state.history.get("duration_s", 0) == 3.5
    assert state.history.get("ended_at", 0) == datetime(2026, 7, 20, 17, 53, 16).timestamp() + 0.25


def test_a_log_is_recognised_by_its_lines() -> None:
    def score(head: str) -> float:
        return FORMAT.score(Probe(path=Path("x"), is_dir=False, head=head))

    assert score("noise\n" + manager(0)) > 0.9
    assert score(ENTRYPOINT) > 0.5
    assert score("step:1 - actor/loss:0.1") == 0
    assert score("{'loss': 0.1}") == 0


CASES = {
    "tau2-excerpt/pt-fbuxh8xv_excerpt.log": {
        "step": 0,
        "response_length_mean": 1877.1458333333333,
        "response_length_max": 5478,
        "clip_ratio": 0.0,
        "reward_mean": 0.20833333333333334,
        "duration_s": None,
        "sampled_tokens": None,
    },
    "rollout-only/train.log": {
        "step": 0,
        "response_length_mean": 2773.71484375,
        "response_length_max": 4096,
        "clip_ratio": 0.46484375,
        "reward_mean": None,
        "duration_s": None,
    },
    "midrun-oom/train.log": {
        "step": 11,
        "grad_norm": 0.07986056034213801,
        "entropy": 0.18443581461906433,
        "kl": 0.002021021908149123,
        "lr": 1e-6,
        "response_length_mean": None,
    },
}


@pytest.mark.parametrize("name", CASES)
def test_real_logs_give_their_values(name: str, shared_data: Path) -> None:
    (source,) = slime.FORMAT.open(shared_data / "slime" / name)
    state = state_of([*source.poll(0.0), *source.close()])
    assert len(state.history) == 1
    expected = dict(CASES[name])
    assert state.history.steps[0] == expected.pop("step")
    assert {key: state.history.get(key, 0) for key in expected} == expected
    assert state.info.framework == "slime"
    assert all(status.bad_lines == 0 for status in state.sources.values())


WHOLE = "\n".join([ENTRYPOINT, manager(0), rollout(0), train(0, 0.2), trained(0), manager(1)])


@given(
    st.lists(
        st.tuples(st.integers(0, len(WHOLE)), st.text(max_size=3), st.integers(0, 9)), min_size=1, max_size=6
    )
)
def test_no_mutated_log_makes_it_raise(edits: list[tuple[int, str, int]]) -> None:
    text = WHOLE
    for position, insert, cut in edits:
        text = text[:position] + insert + text[position + cut :]
    parser = SlimeParser()
    for n, line in enumerate(re.split("\n", text), 1):
        for event in parser.feed(Line(line, None, n)):
            assert not isinstance(event, RunInfo) or event.framework in (None, "slime")
    list(parser.flush())


def test_the_printed_table_of_arguments_is_the_configuration_where_no_command_is() -> None:
    table = [
        "------------------------ arguments ------------------------",
        "  actor_num_gpus_per_node ......................... 8",
        "  actor_num_nodes ................................. 1",
        "  colocate ........................................ True",
        "  eval_interval ................................... None",
        "  hf_checkpoint ................................... /root/Model-4B",
        "  lr .............................................. 1e-06",
        "  n_samples_per_prompt ............................ 8",
        "  num_layers ...................................... 36",
        "  num_rollout ..................................... 20",
        "  rollout_batch_size .............................. 6",
        "  rollout_max_response_len ........................ 8192",
        "-------------------- end of arguments ---------------------",
    ]
    info = state_of(events_of([*table, manager(0)])).info
    assert (info.model, info.total_steps, info.gpus, info.max_tokens) == ("Model-4B", 20, 8, 8192)
    assert (info.groups, info.group_size, info.eval_every) == (6, 8, None)
    assert "num_layers" not in info.config
    assert FORMAT.score(Probe(path=Path("x"), is_dir=False, head="\n".join(table))) > 0.5
    assert info.config.get("lr") == 1e-06
