"""The backtest is a command with a fixed form of answer."""

import subprocess
import sys
from pathlib import Path

from pydantic_core import from_json, to_json

from .families import make

ROOT = Path(__file__).resolve().parents[3]


def test_the_backtest_scores_ours_and_every_rival_at_four_moments(tmp_path: Path) -> None:
    rows = [
        {"name": family, "source": "made", "max_tokens": run.cap, "response_length": run.lengths}
        for family in ("stable", "line up", "hill")
        for run in [make(family, 1, steps=40)]
    ]
    series, out = tmp_path / "series.json", tmp_path / "out.json"
    series.write_bytes(to_json(rows))
    command = [sys.executable, str(ROOT / "bench" / "backtest.py"), str(series), "--json", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    scores = from_json(out.read_bytes())
    assert scores["n"] == 3
    assert set(scores["at"]) == {"10", "25", "50", "75"}
    for at in scores["at"].values():
        assert set(at["ours"]) == {"median", "p90", "coverage", "width"}
        assert {"naive", "last10", "last25", "seed"} < set(at)
        assert {"median", "p90"} <= set(at["naive"])
    assert "ours" in done.stdout
