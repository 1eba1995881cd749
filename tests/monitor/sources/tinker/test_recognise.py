"""Tinker runs are recognised by what is in them, and nothing else is taken for one."""

import json
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from rltop.monitor.sources.tinker import FORMAT
from rltop.monitor.target import TargetError, open_target, probe

Row = dict[str, object]
MakeRow = Callable[..., Row]


def score(path: Path) -> float:
    return FORMAT.score(probe(path))


def write(path: Path, rows: Iterable[Row]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_metrics_of_any_name_are_recognised(tmp_path: Path, train_row: MakeRow) -> None:
    assert score(write(tmp_path / "whatever.txt", [train_row(0)])) > 0.9
    assert score(tmp_path) == 0.0  # a folder is a run by its .jsonl
    write(tmp_path / "training.jsonl", [train_row(0)])
    assert score(tmp_path) > 0.9


def test_metrics_of_several_runs_side_by_side_are_no_run(tmp_path: Path, train_row: MakeRow) -> None:
    for name in ("first-metrics.jsonl", "second-metrics.jsonl"):
        write(tmp_path / name, [train_row(0)])
    assert 0 < score(tmp_path) < 0.5
    with pytest.raises(TargetError, match="holds 2 runs"):
        open_target(tmp_path)


@pytest.mark.parametrize(
    "row",
    [
        {"step": 0, "train_mean_nll": 0.9, "num_tokens": 5},
        {"step": 0, "num_pairs": 4, "dpo_loss": 0.6},
        {"step": 0, "progress/batch": 0, "progress/done_frac": 0.1, "reward/total": 0.2},
        {"step": 3, "test/env/all/reward/total": 0.2},
        {"tokens/cumulative/sampled": 5, "tokens/discarded/sampled": 5},
        {"step": 0, "env": {"all": {"total_ac_tokens": 4}}},
        {"step": 0, "mean_reward": 0.1, "clock_cycle:unique": 94609.0},
    ],
)
def test_every_kind_of_row_is_recognised(tmp_path: Path, row: Row) -> None:
    assert score(write(tmp_path / "metrics.jsonl", [row])) > 0.9


def test_a_first_row_that_is_still_being_written_is_enough(tmp_path: Path, train_row: MakeRow) -> None:
    path = tmp_path / "metrics.jsonl"
    path.write_text(json.dumps(train_row(0))[:150])
    assert score(path) > 0.9


@pytest.mark.parametrize(
    "rows",
    [
        [{"step": 1, "data": {"actor/entropy": 0.1, "env/all/reward/total": 0.5}}],
        [{"accuracy": 0.65, "approx_kl": 0.0, "mean_reward": 0.9, "loss": -0.01, "step": 1}],
        [{"loss": 0.5, "grad_norm": 1.0, "learning_rate": 1e-6, "epoch": 0.1, "step": 10}],
        [{"name": "000010", "batch": 10, "state_path": "tinker://x/weights/000010"}],
        [{"step": 1, "spans": [{"name": "step", "duration": 1.0}]}],
        [{"env/all/reward/total": 1.0, "_step": 5, "_wandb": {"runtime": 9}}],
        [{"prompt": "2 + 2", "answer": "4"}],
        [],
    ],
)
def test_rows_of_others_are_not_taken(tmp_path: Path, rows: list[Row]) -> None:
    path = write(tmp_path / "metrics.jsonl", rows)
    assert score(path) == 0.0
    assert score(tmp_path) == 0.0


def test_a_hand_written_loop_is_known_by_its_checkpoints(tmp_path: Path) -> None:
    path = write(tmp_path / "log.jsonl", [{"step": 1, "loss": 0.5, "mean_reward": 0.1}])
    assert score(tmp_path) == 0.0
    write(
        tmp_path / "checkpoints.jsonl",
        [{"name": "step_1", "state_path": "tinker://a:train:0/weights/step_1"}],
    )
    assert 0.5 <= score(path) < 0.95
    assert score(tmp_path) == score(path)
    assert score(tmp_path / "checkpoints.jsonl") == 0.0


def test_a_run_that_has_only_a_config_so_far_is_one(tmp_path: Path) -> None:
    config: Row = {
        "model_name": "m",
        "log_path": "p",
        "lora_rank": 8,
        "base_url": None,
        "dataset_builder": {},
    }
    (tmp_path / "config.json").write_text(json.dumps(config))
    assert 0.5 <= score(tmp_path) < 0.95
    (tmp_path / "config.json").write_text(json.dumps({"model_name": "m", "model_type": "qwen3"}))
    assert score(tmp_path) == 0.0


def test_the_copy_that_a_resume_keeps_does_not_compete(tmp_path: Path, train_row: MakeRow) -> None:
    path = write(tmp_path / "metrics.jsonl", [train_row(0)])
    kept = write(tmp_path / "metrics.jsonl.pre_resume_000002", [train_row(0)])
    assert 0.5 < score(kept) < score(path)


def test_no_file_of_another_framework_is_taken(shared_data: Path) -> None:
    taken = [
        path
        for path in sorted(shared_data.rglob("*"))
        if path.relative_to(shared_data).parts[0] != "tinker" and score(path) > 0
    ]
    assert taken == []


def test_all_real_runs_are_recognised(shared_data: Path) -> None:
    runs = sorted((shared_data / "tinker").iterdir())
    assert all(score(run) > 0.9 and score(run / "metrics.jsonl") > 0.9 for run in runs)
