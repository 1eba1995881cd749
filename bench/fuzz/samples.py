"""A small, whole log of each format, which the mutations start from. Its one rule: every format that can be
read has one here; a test fails for one that has not.
"""

import json
import sqlite3
import tempfile
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

from rltop.models.event import Ended, LogLine
from rltop.models.run import RunInfo
from rltop.models.step import Eval, Step
from rltop.monitor.recorder import Recorder

from ..longrun.swanlab import HEADER_1, config_file, log_of, scalar_1, told_1, write_swanlab
from ..longrun.tensorboard import write_tensorboard
from ..longrun.text import write_console, write_file_logger
from ..longrun.wandb import write_wandb

TEXTS = Path(__file__).parent / "samples"
DEMO = Path(__file__).resolve().parents[2] / "monitor" / "demo" / "data"
MACHINE = b'{"hardware": {"accelerators": [{"vendor": "nvidia", "devices": [{"name": "NVIDIA H100"}]}]}}'
Sample = Mapping[str, bytes]
"""Contents by name. One file is the target itself; several lie in the folder that is the target."""


def text(name: str) -> Sample:
    """One of the small logs beside this file."""
    return {name: (TEXTS / name).read_bytes()}


def head(path: Path, lines: int) -> bytes:
    """The first lines of a file."""
    return b"".join(path.read_bytes().splitlines(keepends=True)[:lines])


def made(name: str, write: Callable[[Path], object]) -> Sample:
    """What a writer writes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        write(path)
        return {name: path.read_bytes()}


def _record(path: Path) -> None:
    recorder = Recorder(path)
    recorder.write(RunInfo(framework="verl", total_steps=10, config={"data.x": 1}), 1.0)
    recorder.write(Step(step=1, duration_s=5.0, phases={"update": 2.0}, raw={"loss": float("nan")}), 2.0)
    recorder.write(Eval(step=1, scores={"acc": 0.5}), 3.0)
    recorder.write(LogLine(text="out of memory", level="error", topic="oom"), 4.0)
    recorder.write(Ended(status="finished", at=5.0), 5.0)
    recorder.close()


def _trackio(path: Path) -> None:
    database = sqlite3.connect(path)
    names = "id INTEGER PRIMARY KEY, run_id TEXT, timestamp TEXT, run_name TEXT"
    database.executescript(
        f"CREATE TABLE metrics ({names}, step INTEGER, metrics TEXT);"
        f"CREATE TABLE system_metrics ({names}, metrics TEXT);"
        f"CREATE TABLE alerts ({names}, title TEXT, text TEXT, level TEXT);"
        "CREATE TABLE configs (id INTEGER PRIMARY KEY, run_id TEXT, run_name TEXT, config TEXT);"
    )
    for step in range(1, 4):
        row = json.dumps({"reward": 0.5, "completions/mean_length": 100.0 + step, "loss": "NaN"})
        told = ("r1", f"2026-11-29T19:0{step}:00+00:00", "my run", step, row)
        database.execute(
            "INSERT INTO metrics (run_id, timestamp, run_name, step, metrics) VALUES (?, ?, ?, ?, ?)", told
        )
    database.execute(
        "INSERT INTO configs (run_id, run_name, config) VALUES (?, ?, ?)",
        ("r1", "my run", json.dumps({"max_steps": 10, "_Created": "2026-11-29T19:00:00+00:00"})),
    )
    database.commit()
    database.close()


def _mlflow(path: Path) -> None:
    database = sqlite3.connect(path)
    database.executescript(
        "CREATE TABLE experiments (experiment_id INTEGER, name TEXT);"
        "CREATE TABLE runs (run_uuid TEXT, name TEXT, status TEXT, start_time INTEGER, end_time INTEGER,"
        " lifecycle_stage TEXT, experiment_id INTEGER);"
        "CREATE TABLE params (key TEXT, value TEXT, run_uuid TEXT);"
        "CREATE TABLE metrics (key TEXT, value REAL, timestamp INTEGER, run_uuid TEXT, step INTEGER,"
        " is_nan BOOLEAN);"
        "CREATE TABLE latest_metrics (key TEXT, value REAL, timestamp INTEGER, step INTEGER, is_nan BOOLEAN,"
        " run_uuid TEXT);"
        "INSERT INTO runs VALUES ('abc', 'my run', 'RUNNING', 1790000000000, NULL, 'active', 0);"
        "INSERT INTO params VALUES ('trainer/total_training_steps', '10', 'abc');"
    )
    for step in range(1, 4):
        for key, value in (("critic/score/mean", 0.5), ("response_length/mean", 100.0 + step)):
            told = (key, value, 1_790_000_000_000 + step * 1000, "abc", step, False)
            database.execute("INSERT INTO metrics VALUES (?, ?, ?, ?, ?, ?)", told)
    database.commit()
    database.close()


def _mlflow_files() -> Sample:
    rows = b"".join(b"%d %f %d\n" % (1_790_000_000_000 + step * 1000, 0.5, step) for step in range(1, 4))
    return {
        "meta.yaml": b"run_id: abc\nrun_name: my run\nstart_time: 1000\nend_time: 2000\nstatus: 1\n",
        "metrics/critic/score/mean": rows,
        "metrics/response_length/mean": rows,
        "params/trainer/total_training_steps": b"10",
    }


def _swanlab() -> list[Sample]:
    """Both versions, the newer one in its run's folder."""
    (log,) = made("run-abc.swanlab", lambda path: write_swanlab(path, 3)).values()
    config = config_file({"trainer": {"total_training_steps": 10, "nnodes": 1}, "model": "Qwen/Qwen3-8B"})
    rows = [scalar_1("critic/score/mean", step, 0.5 if step > 1 else "NaN") for step in (1, 2, 3)]
    old = [told_1("Experiment", id="a", name="my run"), *rows, told_1("Footer", success=True)]
    return [
        {"run-abc.swanlab": log, "files/config.yaml": config, "files/swanlab-metadata.json": MACHINE},
        {"backup.swanlab": log_of(old, HEADER_1)},
    ]


@cache
def samples() -> dict[str, list[Sample]]:
    """By the format's entry in the registry."""
    tinker = {
        "config.json": (DEMO / "gsm8k-tinker" / "config.json").read_bytes(),
        "metrics.jsonl": head(DEMO / "gsm8k-tinker" / "metrics.jsonl", 4),
    }
    console = {"console.log": head(DEMO / "math-verl" / "console.log", 40)}
    steps = made("steps.log", lambda path: write_console(path, 2))
    logger = made("metrics.jsonl", lambda path: write_file_logger(path, 2))
    hydra = {".hydra/overrides.yaml": b"- trainer.total_training_steps=10\n- data.train_batch_size=8\n"}
    return {
        "..recorder:FORMAT": [made("run.rltop", _record)],
        ".tinker:FORMAT": [tinker, {"metrics.jsonl": tinker["metrics.jsonl"]}],
        ".tinker.console:FORMAT": [text("tinker_console.log")],
        ".verl:CONSOLE": [console, steps],
        ".verl:FILE_LOGGER": [logger],
        ".verl:FOLDER": [{**console, **logger, **hydra}],
        ".slime:FORMAT": [text("slime.log")],
        ".trl:FORMAT": [
            text("trl.log"),
            text("trainer_state.json"),
            text("logging.jsonl"),
            text("trainer_log.jsonl"),
        ],
        ".train_console:FORMAT": [text("train_console.log")],
        ".train_bar:FORMAT": [text("train_bar.log")],
        ".prime_rl:FORMAT": [text("prime_rl.log")],
        ".nemo_rl:FORMAT": [text("nemo_rl.log")],
        ".openrlhf:FORMAT": [text("openrlhf.log")],
        ".skyrl:FORMAT": [text("skyrl.log"), text("skyrl_lines.log")],
        ".areal:FORMAT": [text("areal.log")],
        ".roll:FORMAT": [text("roll.log")],
        ".wandb_local:FORMAT": [made("run-abc.wandb", lambda path: write_wandb(path, 3))],
        ".swanlab:FORMAT": _swanlab(),
        ".tensorboard:FORMAT": [made("events.out.tfevents.1.host", lambda path: write_tensorboard(path, 3))],
        ".trackio:FORMAT": [made("project.db", _trackio)],
        ".mlflow:FORMAT": [made("mlflow.db", _mlflow), _mlflow_files()],
        ".jsonl:FORMAT": [text("metrics.jsonl")],
        ".json_rows:FORMAT": [text("json_rows.json")],
        ".csv_rows:FORMAT": [text("metrics.csv"), text("log_history.csv")],
    }
