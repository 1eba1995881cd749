"""`rltop compare` and `rltop --plain` as a user calls them."""

import json
from pathlib import Path

import pytest

from rltop.cli import main

TINKER = Path(__file__).resolve().parents[2] / "monitor" / "demo" / "data" / "math-tinker"


def test_the_demo_is_compared_where_both_have_been(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "demo:math-tinker", "demo:math-verl", "--plain"]) == 0
    text = capsys.readouterr().out
    assert "AT 35 steps done" in text
    line = next(line for line in text.splitlines() if line.startswith("cost so far"))
    assert line.split()[3:5] == ["$37.03", "$46.72"]


def test_json_has_an_entry_for_each_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "demo:math-tinker", "demo:math-verl", "--by", "dollars", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["schema"], told["by"]) == (1, "dollars")
    assert [run["name"] for run in told["runs"]] == ["math-tinker", "math-verl"]
    assert len(told["shared"]["steps"]) == 2


@pytest.mark.parametrize(("words", "code"), [(["demo:none", "demo:math-verl"], 3), (["demo:math-verl"], 2)])
def test_what_cannot_be_compared_is_named(
    words: list[str], code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", *words]) == code
    told = capsys.readouterr()
    assert told.out == ""
    assert len(told.err.splitlines()) == 1


def test_a_finished_run_is_two_plain_lines(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--plain", str(TINKER), "--prices", "2026-01-05"]) == 0
    last, ended = capsys.readouterr().out.splitlines()
    assert last.startswith("step 93/93  $37.03 so far")
    assert ended.startswith("finished after 2 h")
