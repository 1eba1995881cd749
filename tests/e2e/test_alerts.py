"""`rltop alerts` and `rltop follow` as a script meets them."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

RLTOP = [sys.executable, "-m", "rltop"]


def run(*words: str, cwd: Path | None = None, stdin: bytes = b"") -> "subprocess.CompletedProcess[str]":
    done = subprocess.run(
        [*RLTOP, *words], cwd=cwd, input=stdin, env=os.environ, capture_output=True, timeout=60, check=False
    )
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    text = '[alerts.nan]\nenabled = false\n[runs."math-*".alerts.budget]\ncritical = 0.95\n'
    (tmp_path / "rltop.toml").write_text(text)
    return tmp_path


def test_every_rule_is_listed_with_its_settings_and_where_they_are_from(settings: Path) -> None:
    told = json.loads(run("alerts", "--json", cwd=settings).stdout)
    rules = {rule["rule"]: rule for rule in told["rules"]}
    assert len(rules) >= 22
    assert rules["nan"]["enabled"] is False
    (enabled,) = (s for s in rules["nan"]["settings"] if s["name"] == "enabled")
    assert enabled == {"name": "enabled", "value": False, "default": True, "origin": "rltop.toml, line 2"}
    assert {s["origin"] for s in rules["budget"]["settings"]} == {"default"}
    assert rules["budget"]["watched"] is None


def test_of_a_run_it_is_told_which_rules_are_watched_and_what_the_others_lack(
    settings: Path, demo: Path
) -> None:
    told = json.loads(run("alerts", str(demo / "math-verl"), "--json", cwd=settings).stdout)
    rules = {rule["rule"]: rule for rule in told["rules"]}
    assert rules["length_growth"]["watched"] is True
    assert (rules["gpu_idle"]["watched"], rules["gpu_idle"]["why"]) == (False, "no GPU readings")
    assert rules["nan"]["why"] == "switched off"
    (critical,) = (s for s in rules["budget"]["settings"] if s["name"] == "critical")
    assert (critical["value"], critical["origin"]) == (0.95, "rltop.toml, line 4")


def test_the_page_says_in_words_what_the_json_does(settings: Path, demo: Path) -> None:
    lines = run("alerts", str(demo / "math-verl"), cwd=settings).stdout.splitlines()
    assert any(line.startswith("nan") and " off · critical · " in line for line in lines)
    assert any(
        line.startswith("clip_ratio") and " watched · info, warning or critical" in line for line in lines
    )
    assert any("critical" in line and "0.95" in line and "line 4 (default 0.9)" in line for line in lines)


@pytest.mark.parametrize(("words", "code"), [(("gone.log",), 3), (("--budget", "much"), 2)])
def test_what_cannot_be_listed_is_one_line(tmp_path: Path, words: tuple[str, ...], code: int) -> None:
    done = run("alerts", *words, cwd=tmp_path)
    assert done.returncode == code
    assert "Traceback" not in done.stderr


def test_a_run_that_has_ended_is_one_line_and_its_standing_alerts_are_the_code(demo: Path) -> None:
    log = (demo / "math-verl" / "console.log").read_bytes()
    for level, code in (("never", 0), ("critical", 1)):
        done = run("follow", "-", "--fail-on", level, stdin=log)
        assert done.returncode == code
        (line,) = done.stdout.splitlines()
        assert json.loads(line)["run"]["state"] == "crashed"
    done = run("follow", str(demo / "gsm8k-tinker"), "--fail-on", "warning")
    assert done.returncode == 0, done.stdout
    assert [json.loads(line)["run"]["state"] for line in done.stdout.splitlines()] == ["finished"]


def test_a_run_that_grows_is_a_line_a_step(demo: Path, tmp_path: Path) -> None:
    rows = (demo / "gsm8k-tinker" / "metrics.jsonl").read_text().splitlines(keepends=True)
    log = tmp_path / "metrics.jsonl"
    log.write_text("".join(rows[:20]))
    words = [*RLTOP, "follow", str(log), "--total-steps", "24"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        seen = [json.loads(process.stdout.readline())["run"]["steps_done"]]
        for row in rows[20:24]:
            with log.open("a") as file:
                file.write(row)
            seen.append(json.loads(process.stdout.readline())["run"]["steps_done"])
        process.terminate()
    assert seen == [20, 21, 22, 23, 24]


def test_what_is_said_of_a_run_holds_for_the_one_in_the_current_folder(demo: Path, tmp_path: Path) -> None:
    folder = tmp_path / "mine-1"
    shutil.copytree(demo / "gsm8k-tinker", folder)
    (folder / "rltop.toml").write_text('[runs."mine-*"]\nbudget_usd = 1\n[runs."other-*"]\nbudget_usd = 2\n')
    assert "budget broken: $12.97 of $1.00" in run("--plain", cwd=folder).stdout
