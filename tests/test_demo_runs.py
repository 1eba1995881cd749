"""The demo's runs are what their generator writes, and add up to what was published."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "monitor" / "demo" / "data"


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / name / "metrics.jsonl").read_text().splitlines()]


def test_the_generator_writes_the_files_that_are_shipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(ROOT))
    sys.modules.pop("bench", None)
    from bench.demo.__main__ import write_all

    write_all(tmp_path)
    shipped = {path.relative_to(DATA): path.read_bytes() for path in DATA.rglob("*") if path.is_file()}
    written = {p.relative_to(tmp_path): p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    assert written == shipped


@pytest.mark.parametrize(
    ("name", "steps", "action", "observation", "evals", "minutes"),
    [("gsm8k-tinker", 59, 19.3e6, 10.7e6, 12, 33), ("math-tinker", 94, 68.5e6, 18.4e6, 19, 127)],
)
def test_a_tinker_run_has_the_published_totals(
    name: str, steps: int, action: float, observation: float, evals: int, minutes: float
) -> None:
    told = rows(name)
    assert len(told) == steps
    assert sum(row["env/all/total_ac_tokens"] for row in told) == action
    assert sum(row["env/all/total_ob_tokens"] for row in told) == observation
    assert sum("test/env/all/total_ac_tokens" in row for row in told) == evals
    assert sum(row["time/total"] for row in told) / 60 == pytest.approx(minutes, abs=0.01)


def test_every_run_says_that_it_is_reconstructed() -> None:
    for name, file in (
        ("gsm8k-tinker", "config.json"),
        ("math-tinker", "config.json"),
        ("math-verl", "console.log"),
    ):
        assert "reconstructed from published totals" in (DATA / name / file).read_text()
