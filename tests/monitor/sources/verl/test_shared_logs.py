"""Real logs, whole files through the same sources as in use, held against what is known of them."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest

from rltop.models.event import LogLine
from rltop.monitor.reduce import reduce
from rltop.monitor.source import Source
from rltop.monitor.sources.verl import CONSOLE, FILE_LOGGER, FOLDER
from rltop.monitor.state import RunState


def read(sources: Iterable[Source]) -> RunState:
    sources = list(sources)
    state = RunState()
    more = True
    while more:
        for source in sources:
            for event in source.poll(0.0):
                state = reduce(state, event)
        more = any(source.more for source in sources)
    for source in sources:
        for event in source.close():
            state = reduce(state, event)
    return state


@dataclass(frozen=True)
class Known:
    name: str
    steps: int = 0
    first: int | None = None
    last: int | None = None
    total: int | None = None
    gpus: int | None = None
    model: str | None = None
    cap: int | None = None
    seconds: float | None = None
    """Sum of the durations."""
    bar: float | None = None
    ended: str | None = None
    lengths: tuple[float, float] | None = None
    evals: int = 0
    version: str | None = None
    algorithm: str | None = "rl"


QWEN7 = "Qwen/Qwen2.5-7B-Instruct"
RUNS = [
    Known(
        "config-interleaved", total=1065, gpus=1, model="/root/models/Qwen/Qwen2.5-1.5B", cap=512,
        algorithm=None,
    ),
    Known("crash-7b", total=6, gpus=2, model=QWEN7, cap=128, ended="crashed"),
    Known("crash-7b-fixed", total=3, gpus=2, model=QWEN7, cap=256, ended="crashed"),
    Known(
        "crash-agentic-2", 2, 1, 2, 563250, 8, "/mnt/ceph_rbd/models/Qwen/Qwen3-VL-2B-Thinking", 20480,
        2107.6, 2107.0, None, (4977.5, 5191.0), 0, "0.6-0.7.0",
    ),
    Known(
        "crash-at-start", total=30, gpus=1, model="Qwen/Qwen2.5-1.5B-Instruct", cap=256, ended="crashed",
        algorithm="ppo",
    ),
    Known(
        "format-v0.3.0.post1-direct", 4, 1, 4, None, 8, None, 1922, 419.2, None, None, (464.5, 629.4), 1,
        "<=0.4.1",
    ),
    Known(
        "format-v0.7.1-direct", 4, 1, 4, None, 8, None, 1922, 419.2, None, None, (464.5, 629.4), 1,
        "0.7.1-0.8",
    ),
    Known(
        "format-v0.9.1-ray", 8, 1, 8, 105, 8, QWEN7, 2048, 1015.5, 9.0, "finished", (468.0, 841.9), 3, "0.9"
    ),
    Known(
        "grpo-54-ansi", 54, 1, 54, 300, 1, "/workspace/models/Qwen2.5-7B-Instruct", 128, 1787.1, 1787.0, None,
        (18.0, 19.0), 0, "0.6-0.7.0",
    ),
    Known("logic-chatty-2", 1, 1, 1, seconds=31.6, lengths=(435.7, 435.7), evals=1, version="<=0.4.1"),
    Known(
        "notebook-60", 61, 0, 60, 435, 1, "/teamspace/studios/this_studio/models/Qwen2.5-0.5B-Instruct", 256,
        3336.6, None, None, (236.0, 155.7), 6, "<=0.2", "ppo",
    ),
    Known(
        "ppo-gemma-106", 106, 0, 105, 210, 2, "sft_model_path/global_step_58", 512, 15264.4, None, None,
        (136.5, 155.1), 11, "<=0.2", "ppo",
    ),
    Known(
        "ppo-gsm8k-435", 435, 0, 434, 435, 1, "Qwen/Qwen2.5-0.5B-Instruct", 256, 30032.3, None, "finished",
        (234.9, 143.9), 43, "<=0.2", "ppo",
    ),
    Known(
        "sft-200", 200, 1, 200, 200, 2, "/Data/public/Qwen3-1.7B", None, 1840.9, 1885.0, "finished", evals=3,
        algorithm="sft",
    ),
    Known(
        "step60-wrapped", 1, 60, 60, 3499, 8, None, 10240, 8547.2, 78062.0, None, (4352.7, 4352.7), 1,
        "0.6-0.7.0",
    ),
    Known("v0.10dev-tail", 1, 13, 13, 20, 4, None, None, 107.7, 1881.0, None, (1916.4, 1916.4), 0, "0.9"),
]  # fmt: skip


@pytest.mark.parametrize("known", RUNS, ids=lambda known: known.name)
def test_a_real_run_is_read_as_it_was(shared_data: Path, known: Known) -> None:
    state = read(FOLDER.open(shared_data / "verl" / known.name))
    history, info = state.history, state.info
    steps = list(history.steps)
    assert len(steps) == known.steps
    assert (steps[0], steps[-1]) == (known.first, known.last) if steps else known.first is None
    assert (info.total_steps, info.gpus, info.max_tokens) == (known.total, known.gpus, known.cap)
    assert (info.model, info.framework, info.platform) == (known.model, "verl", "self-hosted")
    assert (info.framework_version, info.algorithm) == (known.version, known.algorithm)
    assert info.gpu_type is None
    if known.seconds is not None:
        assert sum(history.columns["duration_s"]) == pytest.approx(known.seconds, abs=0.1)
    assert (state.progress and state.progress.elapsed_s) == known.bar
    assert (state.ended and state.ended.status) == known.ended
    if known.lengths:
        lengths = history.columns["response_length_mean"]
        assert (lengths[0], lengths[-1]) == pytest.approx(known.lengths, abs=0.06)
    assert (len(history.evals), state.attempt) == (known.evals, 0)
    assert all(status.bad_lines == 0 for status in state.sources.values())


@pytest.mark.parametrize("name", ["grpo-54-ansi", "crash-agentic-2"])
def test_durations_add_up_to_the_bar_s_time(shared_data: Path, name: str) -> None:
    state = read(FOLDER.open(shared_data / "verl" / name))
    assert state.progress is not None
    assert sum(state.history.columns["duration_s"]) == pytest.approx(state.progress.elapsed_s, rel=0.001)


def test_phases_never_exceed_their_step(shared_data: Path) -> None:
    for known in RUNS:
        history = read(FOLDER.open(shared_data / "verl" / known.name)).history
        for index in range(len(history)):
            row = history.row(index)
            assert sum(row.phases().values()) <= (row.get("duration_s") or 0) * 1.001 + 0.01, known.name


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("crash-7b", "NotImplementedError: sequence_length=1055 is larger than max_length=512"),
        ("crash-7b-fixed", "torch.OutOfMemoryError: CUDA out of memory."),
        ("crash-at-start", "NotImplementedError"),
    ],
)
def test_a_crash_is_told_with_its_cause(shared_data: Path, name: str, message: str) -> None:
    ended = read(FOLDER.open(shared_data / "verl" / name)).ended
    assert ended is not None
    assert ended.message.startswith(message)


def test_hundreds_of_a_worker_s_tracebacks_are_shown_once_and_prove_nothing(shared_data: Path) -> None:
    state = read(FOLDER.open(shared_data / "verl" / "crash-agentic-2"))
    assert state.ended is None
    assert [log.text for log in state.logs].count(
        "TypeError: cannot unpack non-iterable NoneType object"
    ) == 1


@pytest.mark.parametrize(
    ("name", "steps", "evals"),
    [
        ("clip_ratio_high_agent_loop_v0.8.log", [34], 0),
        ("ppo_length_blowup_wrapped.log", [1049], 0),
        ("raylet_oom_killed.log", [], 0),
        ("step0_val_then_step1.log", [1], 1),
    ],
)
def test_an_excerpt_is_read(shared_data: Path, name: str, steps: list[int], evals: int) -> None:
    state = read(CONSOLE.open(shared_data / "verl" / "excerpts" / name))
    assert (list(state.history.steps), len(state.history.evals)) == (steps, evals)


def test_values_that_a_terminal_cut_in_two_are_whole_again(shared_data: Path) -> None:
    excerpts = shared_data / "verl" / "excerpts"
    row = read(CONSOLE.open(excerpts / "ppo_length_blowup_wrapped.log")).history.row(0)
    assert (row.raw("actor/ppo_kl"), row.raw("critic/score/max"), row.raw("critic/values/mean")) == (
        0.0,
        0.133,
        0.516,
    )
    row = read(CONSOLE.open(excerpts / "clip_ratio_high_agent_loop_v0.8.log")).history.row(0)
    assert row.raw("timing_s/adv") == 0.036577751860022545
    assert row.raw("critic/rewards/min") == -1.0


def test_a_worker_that_ray_lost_is_shown(shared_data: Path) -> None:
    logs = read(CONSOLE.open(shared_data / "verl" / "excerpts" / "raylet_oom_killed.log")).logs
    assert [(type(log), log.topic) for log in logs] == [(LogLine, "oom")]


@pytest.mark.parametrize("name", ["format-v0.7.1-direct", "format-v0.9.1-ray"])
def test_the_metrics_file_alone_tells_the_same_steps(shared_data: Path, name: str) -> None:
    folder = shared_data / "verl" / name
    console = read(CONSOLE.open(folder / "console.log")).history
    alone = read(FILE_LOGGER.open(folder / "file" / "verl_examples" / "gsm8k_demo.jsonl")).history
    assert list(alone.steps) == list(console.steps)
    for column in ("response_length_mean", "duration_s", "reward_mean", "kl"):
        assert list(alone.columns[column]) == list(console.columns[column])
