"""EasyR1, a fork of veRL that prints YAML: its console, its file logger, and the settings beside it."""

import json
from collections.abc import Callable
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from rltop.models.step import Eval
from rltop.monitor.reduce import reduce
from rltop.monitor.source import Line
from rltop.monitor.sources.verl import CONSOLE, FILE_LOGGER
from rltop.monitor.sources.verl.console import ConsoleParser
from rltop.monitor.sources.verl.easyr1 import Blocks
from rltop.monitor.sources.verl.filelogger import read_line
from rltop.monitor.state import RunState
from rltop.monitor.target import open_target, probe

Fold = Callable[..., RunState]
RUNNER = "\x1b[36m(Runner pid=77)\x1b[0m "
CONFIG = """\
Config
algorithm:
  adv_estimator: grpo
  use_kl_loss: true
data:
  max_response_length: 64
  rollout_batch_size: 4
  train_files: Org/math@train
trainer:
  experiment_name: first
  logger:
  - console
  - file
  n_gpus_per_node: 8
  nnodes: 1
  project_name: easy
  val_freq: 5
worker:
  actor:
    model:
      model_path: Org/Model-7B
  rollout:
    n: 5
""".splitlines()


def step_lines(step: int) -> list[str]:
    return f"""\
Step {step}
actor:
  entropy_loss: 0.5
  grad_norm: 0.25
  kl_loss: 1.0e-03
  lr: 1.0e-06
critic:
  rewards:
    mean: 0.4
  score:
    mean: 0.{step}
perf:
  mfu_actor: 0.25
  throughput: 1.0
  time_per_step: 10.0
  total_num_tokens: 80
prompt_length:
  mean: 10.0
response_length:
  clip_ratio: 0.05
  max: 64.0
  mean: 30.0
reward:
  accuracy: 0.1
timing_s:
  gen: 4.0
  old: 1.0
  ref: 1.0
  step: 10.0
  update_actor: 3.0
""".splitlines()


def row(step: int) -> dict[str, object]:
    return {
        "step": step,
        "actor": {"grad_norm": 0.25},
        "critic": {"score": {"mean": step / 10}},
        "perf": {"total_num_tokens": 80, "time_per_step": 10.0, "throughput": 1.0},
        "response_length": {"mean": 30.0, "max": 64.0, "clip_ratio": 0.05},
        "timing_s": {"gen": 4.0, "old": 1.0, "step": 10.0},
    }


def prefixed(lines: list[str]) -> str:
    return "\n".join(RUNNER + line for line in lines)


def test_steps_printed_as_yaml_are_read(fold: Fold) -> None:
    lines = ["Total training steps: 20", *CONFIG, "Start validation...", *step_lines(1), *step_lines(2)]
    state = fold(prefixed([*lines, "Start validation..."]))
    get = state.history.get
    info = state.info
    assert (info.framework, info.name, info.model) == ("verl", "easy/first", "Org/Model-7B")
    assert (info.gpus, info.total_steps, info.max_tokens) == (8, 20, 64)
    assert (info.groups, info.group_size, info.eval_every) == (4, 5, 5)
    assert list(state.history.steps) == [1, 2]
    assert [get("reward_mean", at) for at in (0, 1)] == [0.1, 0.2]
    assert (get("kl", 0), get("mfu_logged", 0), get("duration_s", 0)) == (0.001, 0.25, 10)
    assert (get("response_length_mean", 0), get("clip_ratio", 0)) == (30, 0.05)
    assert state.history.row(0).phases()["old_logprob"] == 1


def test_other_workers_between_the_lines_and_the_bar_behind_them_do_no_harm(fold: Fold) -> None:
    lines = step_lines(1)
    text = prefixed(lines[:9]) + "\n(WorkerDict pid=9) actor: 3\nplain noise\n" + prefixed(lines[9:])
    bar = "Running step:  10%|█         | 2/20 [00:22<03:00, 11.0s/it]"
    state = fold(f"{text}\n{prefixed(step_lines(2))}\n{bar}\n{prefixed(step_lines(3))}")
    assert list(state.history.steps) == [1, 2, 3]
    assert state.info.total_steps == 20
    assert state.history.get("reward_mean", 0) == 0.1


def test_validation_before_training_is_an_evaluation(fold: Fold) -> None:
    lines = ["Step 0", "val:", "  accuracy_reward: 0.25", "  reward_score: 0.5", "done"]
    parser = ConsoleParser()
    events = [
        e for n, line in enumerate(prefixed(lines).split("\n"), 1) for e in parser.feed(Line(line, None, n))
    ]
    assert [event.step for event in events if isinstance(event, Eval)]
    assert list(fold(prefixed(lines)).history.steps) == []


def test_yaml_that_is_no_step_tells_nothing(fold: Fold) -> None:
    assert list(
        fold(prefixed(["Step 3", "add:", "  two: 2", "then so on", *step_lines(1)])).history.steps
    ) == [1]


def test_what_follows_a_sampled_text_that_looks_like_a_step_is_still_read(fold: Fold) -> None:
    text = prefixed(
        [
            "Step 1",
            "Given:",
            "Total training steps: 60",
            "Step 2",
            "Training Progress:  5%|▌ | 3/60 [01:00<9:00, 20s/it]",
        ]
    )
    assert fold(text).info.total_steps == 60


def test_the_console_is_recognised(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text(prefixed(["Start validation...", *step_lines(1)]))
    assert CONSOLE.score(probe(path)) > 0.9
    path.write_text("Step 1\nWash:\n  the: 1\n")
    assert CONSOLE.score(probe(path)) == 0


def test_the_file_logger_is_read_with_the_settings_beside_it(tmp_path: Path) -> None:
    rows = [{"step": 0, "val": {"reward_score": 0.5}}, row(1), row(2)]
    path = tmp_path / "experiment_log.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in rows))
    settings = {
        "data": {"max_response_length": 64, "rollout_batch_size": 4},
        "worker": {"rollout": {"n": 5}, "actor": {"model": {"model_path": "Org/Model-7B"}}},
    }
    (tmp_path / "experiment_config.json").write_text(json.dumps(settings))
    assert FILE_LOGGER.score(probe(path)) > 0.9
    for target in (path, tmp_path):
        state = RunState()
        for source in open_target(target):
            for event in (*source.poll(0.0), *source.close()):
                state = reduce(state, event)
        assert (state.info.model, state.info.max_tokens, state.info.group_size) == ("Org/Model-7B", 64, 5)
        assert list(state.history.steps) == [1, 2]
        assert state.history.get("reward_mean", 1) == 0.2


@given(st.lists(st.text(alphabet="Step 1:-ab\n.\"'[]{}", max_size=20), max_size=20))
def test_anything_is_borne(lines: list[str]) -> None:
    blocks = Blocks()
    for line in ("Step 1", *lines):
        blocks.read("", line)
    blocks.end()


def test_a_flat_row_with_keys_like_verls_is_not_easyr1s() -> None:
    assert read_line('{"step": 1, "timestamp": 1790000000.5, "actor/lr": 1e-6}') is None
