"""The reading benchmark: its made-up logs are what the frameworks write."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_each_made_log_is_read_with_all_its_steps(tmp_path: Path) -> None:
    out = tmp_path / "medians.json"
    command = [sys.executable, "-m", "bench.read", "-n", "1", "--steps", "60", "--ours", "--json", str(out)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    rows = json.loads(out.read_text())["rows"]
    assert {row["kind"] for row in rows} == {"wandb", "tensorboard", "jsonl", "file logger", "console"}
    assert {row["steps"] for row in rows} == {60}
