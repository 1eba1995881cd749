"""Several logs and several runs, as a script meets them."""

import json
from pathlib import Path

from ..monitor.fleet.conftest import verl_console
from .test_cli import run

GPUS = ("--gpus", "8", "--usd-per-gpu-hour", "3")


def test_logs_joined_by_hand_are_one_run_with_both_as_sources(tmp_path: Path) -> None:
    log = verl_console(tmp_path / "train.log")
    more = tmp_path / "more.jsonl"
    more.write_text("".join(json.dumps({"step": step, "kl": 0.01 * step}) + "\n" for step in range(1, 5)))
    told = json.loads(run("check", str(log), "--with", str(more), "--json", *GPUS).stdout)
    alone = json.loads(run("check", str(log), "--json", *GPUS).stdout)
    assert [Path(source["path"]).name for source in told["run"]["sources"]] == ["train.log", "more.jsonl"]
    assert told["health"]["kl"] == 0.04
    assert told["cost"]["spent_usd"] == alone["cost"]["spent_usd"]
    assert "steps from train.log; KL from more.jsonl" in told["input"]["notes"]


def test_a_log_joined_by_hand_that_is_not_there_is_one_clear_line(tmp_path: Path) -> None:
    log = verl_console(tmp_path / "train.log")
    done = run("check", str(log), "--with", str(tmp_path / "nowhere"))
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == f"rltop: {tmp_path / 'nowhere'}: no such file or folder\n"
