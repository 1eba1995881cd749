from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rltop.models.event import Ended, Event, Progress, Restart
from rltop.models.step import Eval, Step
from rltop.monitor.reduce import reduce
from rltop.monitor.source import Format, Line, Parser, Probe
from rltop.monitor.sources import nemo_rl, openrlhf, prime_rl, skyrl
from rltop.monitor.sources.nemo_rl import NemoRlParser
from rltop.monitor.sources.openrlhf import OpenRlhfParser
from rltop.monitor.sources.prime_rl import PrimeRlParser
from rltop.monitor.sources.skyrl import SkyRlParser
from rltop.monitor.state import RunState

OPENRLHF = [
    "INFO 08-13 10:00:01 ppo_trainer.py:1] Episode [1/2]:   5%|▌         | 3/60 [01:00<19:00, 20.0s/it]",
    "INFO 08-13 10:00:02 ppo_trainer.py:2] ✨ Global step 3: {'policy_loss': 0.5, 'actor_lr': 1e-06, "
    "'rollout/response_length_mean': 400.0, 'rollout/truncated_rate': 0.125, 'rollout/reward_mean': 0.5, "
    "'rollout/num_samples': 64, 'total_length': 500.0, 'timing/step_total': 20.0, 'timing/generation': 12.0}",
    "(EvalActor pid=3) Global step 3: {'eval_gsm8k_pass1': 0.75}",
]
SKYRL = [
    "(skyrl_entrypoint pid=7) Training Batches Processed:  14%|█▍  | 1/7 [00:30<03:00, 30s/it]",
    "(skyrl_entrypoint pid=7) 2026-08-01 10:00:00.250 | INFO     | skyrl:log:1 - Step 1: ",
    "(skyrl_entrypoint pid=7) {'generate/avg_num_tokens': '300.5',",
    "(Worker pid=9) noise {'x': 1}",
    "(skyrl_entrypoint pid=7)  'policy/policy_loss': '0.25', 'reward/avg_raw_reward': '0.5',",
    "(skyrl_entrypoint pid=7)  'timing/step': '30.0', 'timing/generate': '20.0', 'trainer/global_step': 1}",
]
SKYRL_LINES = [
    "(entry pid=7) 2026-08-01 10:00:00.000 | INFO | skyrl.train.trainer:train:2 - Total steps: 9",
    "(entry pid=7) 2026-08-01 10:00:00.010 | INFO | skyrl.train.trainer:train:3 - Started: 'step'",
    "(entry pid=7) 2026-08-01 10:00:20.000 | INFO | skyrl.train.trainer:train:4 - "
    "Finished: 'generate', time cost: 20.00s",
    "(entry pid=7) 2026-08-01 10:00:20.100 | INFO | skyrl.train.trainer:post:5 - "
    "reward/avg_pass_at_4: 0.75, reward/avg_raw_reward: 0.5",
    "(entry pid=7) 2026-08-01 10:00:20.200 | INFO | skyrl.train.trainer:convert:6 - "
    "batch_num_seq: 8, batch_padded_seq_len: 90",
    "(entry pid=7) 2026-08-01 10:00:20.300 | INFO | skyrl.train.trainer:advantages:7 - "
    "avg_final_rewards: 0.25, avg_response_length: 50.5",
    "(entry pid=7) 2026-08-01 10:00:29.000 | INFO | skyrl.train.trainer:train:8 - "
    "Finished: 'train_critic_and_policy', time cost: 8.50s",
    "(entry pid=7) 2026-08-01 10:00:30.000 | INFO | skyrl.train.trainer:train:3 - "
    "Finished: 'step', time cost: 30.00s",
    "(entry pid=7) 2026-08-01 10:00:30.010 | INFO | skyrl.train.trainer:train:9 - "
    "{'final_loss': 0.125, 'policy_lr': 1e-06}",
    "Training Batches Processed:  44%|█▍  | 4/9 [00:30<03:00, 30s/it]",
]
"""Where the numbers go to a tracker: the first step of a run that goes on from its third."""
PRIME = [
    "10:00:00    INFO  Micro Step 1/8 | Loss: 9.0 | Entropy: 9.0",
    "10:00:01 SUCCESS  Step 4 | 1m 29s | Loss 0.5 | Entropy 0.25 | Mismatch KL 0.001 | Grad. Norm 1.5 | "
    "LR 1.00e-06 | Throughput 12,345 tokens/s | MFU 25.5% | Peak Mem. 60.1 GiB",
    "10:00:02 SUCCESS  Step 5 | Time: 12.34s | Loss: 0.4 | Entropy: 0.2 | Grad. Norm: 1.25",
]
ORCHESTRATOR = ["10:00:02 SUCCESS  Step 5 | 1m 2s | Reward 0.75 | Trainable 10/12 (83.3%) | Truncation 12.5%"]
NEMO = [
    "========================= Step 1/50 =========================",
    "(VllmGenerationWorker pid=1) 2026-08-01 10:00:00 Avg Reward: 99.0",
    "📊 Training Results:",
    "  • Loss: 0.0250",
    "  • Generation KL Error: nan",
    "  • Avg Reward: 0.5000",
    "  • Mean Generation Length: 201.2197",
    "",
    "⏱️  Timing:",
    "  • Total step time: 40.00s",
    "  • policy_training: 10.00s (25.0%)",
    "  • generation: 20.00s (50.0%)",
    "",
    "🔍 Performance Metrics:",
    "  • Mean Total Tokens per Sample: 204.01",
    "  • Throughputs (per GPU):",
    "    - E2E (Tokens/sec/gpu): 1073.59",
    "  • Throughputs (per Group):",
    "    - E2E (Tokens/sec): 8588.75",
    "Saving checkpoint",
    "========================= Step 2/50 =========================",
    "📊 Training Results:",
    "  • Loss: 0.0200",
    "⏱️  Timing:",
    "  • Total step time: 41.00s",
]
CASES: dict[str, tuple[Format, Callable[[], Parser], list[str]]] = {
    "openrlhf": (openrlhf.FORMAT, OpenRlhfParser, OPENRLHF),
    "skyrl": (skyrl.FORMAT, SkyRlParser, SKYRL),
    "skyrl_lines": (skyrl.FORMAT, SkyRlParser, SKYRL_LINES),
    "prime-rl": (prime_rl.FORMAT, PrimeRlParser, PRIME),
    "nemo-rl": (nemo_rl.FORMAT, NemoRlParser, NEMO),
}


def events_of(parser: Parser, lines: Iterable[str]) -> list[Event]:
    events = [event for n, text in enumerate(lines, 1) for event in parser.feed(Line(text, 50.0, n))]
    events.extend(parser.flush())
    return events


def state_of(events: Iterable[Event]) -> RunState:
    state = RunState()
    for event in events:
        state = reduce(state, event)
    return state


def test_openrlhf_steps_are_read() -> None:
    events = events_of(OpenRlhfParser(), OPENRLHF)
    state = state_of(events)
    get = state.history.get
    assert (state.info.framework, state.info.total_steps) == ("openrlhf", 120)
    assert list(state.history.steps) == [3]
    assert (get("response_length_mean", 0), get("clip_ratio", 0), get("reward_mean", 0)) == (400, 0.125, 0.5)
    assert (get("sampled_tokens", 0), get("total_tokens", 0)) == (25_600, 32_000)
    assert (get("duration_s", 0), state.history.row(0).phases()) == (20, {"generate": 12})
    assert [e.scores for e in events if isinstance(e, Eval)] == [{"eval_gsm8k_pass1": 0.75}]
    assert [e.step for e in events if isinstance(e, Progress)] == [3]


def test_openrlhf_cut_lines_are_counted() -> None:
    parser = OpenRlhfParser()
    list(parser.feed(Line(OPENRLHF[1][:-3], None, 2)))
    assert parser.bad_lines == 1


def test_skyrl_dicts_are_put_together_over_the_lines_of_one_process() -> None:
    state = state_of(events_of(SkyRlParser(), SKYRL))
    get = state.history.get
    assert (state.info.framework, state.info.total_steps) == ("skyrl", 7)
    assert list(state.history.steps) == [1]
    assert (get("response_length_mean", 0), get("loss", 0), get("reward_mean", 0)) == (300.5, 0.25, 0.5)
    assert (get("duration_s", 0), state.history.row(0).phases()) == (30, {"generate": 20})


def test_a_skyrl_sentence_about_a_step_is_no_step() -> None:
    assert events_of(SkyRlParser(), ["- Step 3:", "we multiply", "{'a': 1}"]) == []


def test_skyrl_steps_are_read_where_only_the_trainer_speaks_of_them() -> None:
    state = state_of(events_of(SkyRlParser(), SKYRL_LINES))
    get = state.history.get
    assert (state.info.framework, state.info.total_steps) == ("skyrl", 9)
    assert list(state.history.steps) == [4]
    assert (get("response_length_mean", 0), get("sampled_tokens", 0)) == (50.5, 404)
    assert (get("reward_mean", 0), get("loss", 0), get("lr", 0), get("duration_s", 0)) == (
        0.5,
        0.125,
        1e-6,
        30,
    )
    assert state.history.row(0).phases() == {"generate": 20, "update": 8.5}


def test_skyrl_steps_that_no_bar_follows_are_counted_on() -> None:
    said = SKYRL_LINES[1:-1]
    assert list(state_of(events_of(SkyRlParser(), [*SKYRL_LINES, *said, *said])).history.steps) == [4, 5, 6]
    assert list(state_of(events_of(SkyRlParser(), said)).history.steps) == [1]
    assert not [e for e in events_of(SkyRlParser(), said[:-2]) if isinstance(e, Step)]


def test_skyrl_trainer_lines_add_no_step_to_those_of_the_logger() -> None:
    told = [*SKYRL_LINES[1:-1], *SKYRL[1:], "Training Batches Processed: 14%|█▍ | 1/7 [00:30<03:00, 30s/it]"]
    steps = [e for e in events_of(SkyRlParser(), [*told, *SKYRL_LINES]) if isinstance(e, Step)]
    assert [step.step for step in steps] == [1]
    assert steps[0].duration_s == 30


def test_skyrl_steps_go_on_after_the_traceback_of_a_worker_and_end_with_the_drivers() -> None:
    worker = [
        "(Worker pid=9) Traceback (most recent call last):",
        '(Worker pid=9)   File "a.py", line 1, in f',
    ]
    driver = [
        "Traceback (most recent call last):",
        '  File "/x/main_train.py", line 1, in <module>',
        "ValueError: no batch",
    ]
    lines = [*SKYRL_LINES, *worker, *SKYRL_LINES[1:-1], *driver]
    events = events_of(SkyRlParser(), lines)
    assert [e.step for e in events if isinstance(e, Step)] == [4, 5]
    assert [e.status for e in events if isinstance(e, Ended)] == ["crashed"]


def test_prime_rl_cells_are_read_by_name_in_both_styles() -> None:
    state = state_of(events_of(PrimeRlParser(), PRIME))
    get = state.history.get
    assert state.info.framework == "prime-rl"
    assert list(state.history.steps) == [4, 5]
    assert [get("duration_s", i) for i in (0, 1)] == [89, pytest.approx(12.34)]
    assert [get("loss", i) for i in (0, 1)] == [0.5, 0.4]
    assert (get("kl", 0), get("lr", 0), get("mfu_logged", 0)) == (0.001, 1e-6, 0.255)
    assert state.history.row(0).raw("Throughput") == 12_345
    assert get("tokens_per_s", 0) is None, "prime-rl counts padding"
    orchestrated = state_of(events_of(PrimeRlParser(), ORCHESTRATOR))
    assert orchestrated.history.get("reward_mean", 0) == 0.75
    assert orchestrated.history.get("clip_ratio", 0) == 0.125


def test_prime_rl_tells_plan_model_evaluations_and_end() -> None:
    lines = [
        "10:00:00    INFO Starting RL trainer in World(world_size=4, rank=0) in outputs",
        "10:00:00    INFO Initializing model (type='model' name='Org/Model-1B' seq_len=2048)",
        "10:00:01    INFO Starting training loop (max_steps=5)",
        PRIME[1],
        "10:00:02 SUCCESS Evaluated aime-24 (Step 4) | Policy v4 | 1m 5s | Reward 0.4000 | Truncation 10.0%",
        PRIME[2],
        "10:00:03 SUCCESS RL trainer finished!",
    ]
    events = events_of(PrimeRlParser(), lines)
    info = state_of(events).info
    assert (info.model, info.total_steps, info.algorithm) == ("Org/Model-1B", 5, "rl")
    assert any("4 GPUs train" in note for note in info.notes)
    (told,) = [event for event in events if isinstance(event, Eval)]
    assert (told.name, told.step, told.duration_s, told.scores["Reward"]) == ("aime-24", 4, 65, 0.4)
    assert [event.status for event in events if isinstance(event, Ended)] == ["finished"]


def test_prime_rl_supervised_training_is_told_by_what_it_lacks() -> None:
    lines = [
        "10:00:01 SUCCESS Step 0 | 1.5s | Loss 2.5 | Grad. Norm 1.5 | LR 1.00e-06 | Throughput 9 tokens/s",
        "10:00:02 SUCCESS Validation | Step 0 | Loss 2.4000",
    ]
    events = events_of(PrimeRlParser(), lines)
    info = state_of(events).info
    assert (info.algorithm, info.first_step) == ("sft", 0)
    assert [(e.name, e.scores) for e in events if isinstance(e, Eval)] == [("validation", {"Loss": 2.4})]
    assert [event.step for event in events if isinstance(event, Step)] == [0]


def test_nemo_rl_blocks_are_read_and_strangers_in_them_are_not() -> None:
    state = state_of(events_of(NemoRlParser(), NEMO))
    get = state.history.get
    assert (state.info.framework, state.info.total_steps, state.info.gpus) == ("nemo-rl", 50, 8)
    assert list(state.history.steps) == [1, 2]
    assert (get("loss", 0), get("reward_mean", 0), get("kl", 0)) == (0.025, 0.5, None)
    assert get("response_length_mean", 0) == 201.2197
    assert get("duration_s", 0) == 40
    assert get("total_tokens", 0) == 8588.75 * 40
    assert state.history.row(0).phases() == {"update": 10, "generate": 20}
    assert get("duration_s", 1) == 41


def test_nemo_rl_steps_are_told_when_their_last_block_is_over() -> None:
    parser = NemoRlParser()
    told = [
        e.step
        for n, t in enumerate(NEMO[:20], 1)
        for e in parser.feed(Line(t, 1.0, n))
        if isinstance(e, Step)
    ]
    assert told == [1]


@pytest.mark.parametrize("name", CASES)
def test_going_back_is_a_restart(name: str) -> None:
    _, make, lines = CASES[name]
    events = events_of(make(), [*(_later(lines) if name.startswith("skyrl") else lines), *lines])
    assert len([e for e in events if isinstance(e, Restart)]) == 1


def _later(lines: list[str]) -> list[str]:
    return [line.replace("Step 1:", "Step 2:").replace("4/9", "5/9") for line in lines]


@pytest.mark.parametrize("name", CASES)
def test_each_console_is_recognised_by_its_own_format_alone(name: str) -> None:
    seen = Probe(path=Path("x"), is_dir=False, head="\n".join(CASES[name][2]))
    assert {form.name for form, _, _ in CASES.values() if form.score(seen) >= 0.5} == {CASES[name][0].name}
    assert CASES[name][0].score(Probe(path=Path("x"), is_dir=True)) == 0


EDIT = st.tuples(st.integers(0, 700), st.text(max_size=3), st.integers(0, 9))


@pytest.mark.parametrize("name", CASES)
@given(edits=st.lists(EDIT, min_size=1, max_size=6))
def test_no_mutated_log_makes_it_raise(name: str, edits: list[tuple[int, str, int]]) -> None:
    _, make, lines = CASES[name]
    text = "\n".join(lines)
    for position, insert, cut in edits:
        text = text[:position] + insert + text[position + cut :]
    events_of(make(), text.split("\n"))


def test_the_other_runs_are_none_of_these(shared_data: Path) -> None:
    for path in [*shared_data.glob("*/*/*.log")]:
        text = path.read_text(encoding="utf-8", errors="replace")
        seen = Probe(path=path, is_dir=False, head=text[:256_000], tail=text[-64_000:])
        assert {name for name, (form, _, _) in CASES.items() if form.score(seen) > 0} == set(), path
