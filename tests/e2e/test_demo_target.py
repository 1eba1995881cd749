"""A built-in run is a target like any other: `demo:NAME`."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from rltop.cli import main
from rltop.monitor.places.demo import REMARK, RUNS

BASH = """
eval "$(cat rltop.bash)"
complete_line() {
  COMP_LINE="$1"; COMP_POINT=${#1}; COMP_WORDS=($1); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMPREPLY=()
  _rltop rltop; echo "${COMPREPLY[@]}"
}
complete_line 'rltop check demo:math-'
complete_line 'rltop check dem'
COMP_WORDBREAKS=' '
complete_line 'rltop replay demo:g'
"""


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In an empty folder: no rltop.toml, no runs."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    "words",
    [
        "check demo:gsm8k-tinker",
        "check demo:gsm8k-tinker demo:math-tinker",
        "replay demo:gsm8k-tinker --plain",
        "follow demo:gsm8k-tinker",
        "report demo:gsm8k-tinker",
        "compare demo:gsm8k-tinker demo:math-tinker --plain",
        "whatif demo:gsm8k-tinker",
        "demo demo:gsm8k-tinker --plain",
        "--plain demo:gsm8k-tinker",
    ],
)
def test_a_built_in_run_is_taken_wherever_a_target_is_and_priced_by_its_day(
    words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words.split()) == 0
    assert re.search(r"\b12\.9[67]", capsys.readouterr().out)


def test_an_estimate_starts_from_a_built_in_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["estimate", "--from", "demo:math-tinker"]) == 0
    assert "94 steps" in capsys.readouterr().out


def test_what_is_known_of_a_built_in_run_holds_for_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "demo:math-verl", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["run"]["gpu_type"], told["projection"]["budget_usd"]) == ("B200", 150.0)
    assert REMARK in told["input"]["notes"]
    assert main(["check", "demo:math-verl", "--json", "--budget", "20"]) == 0
    assert json.loads(capsys.readouterr().out)["projection"]["budget_usd"] == 20.0


def test_a_demo_that_there_is_not_is_told_with_those_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "demo:none"]) == 3
    assert capsys.readouterr().err == f"rltop: demo:none: no such demo; there are {', '.join(RUNS)}\n"


def test_bash_completes_the_names_of_built_in_runs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", "bash"]) == 0
    Path("rltop.bash").write_text(capsys.readouterr().out)
    told = subprocess.run(["bash", "-c", BASH], capture_output=True, text=True, check=True).stdout
    assert told.splitlines() == ["math-tinker math-verl", "demo:", "demo:gsm8k-tinker"]
