"""`rltop doctor`: what is there, what is not, and what to do; never a secret."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from rltop.monitor import doctor
from rltop.monitor.doctor import Finding, Screen

SECRET = "0123456789abcdef0123456789abcdef01234567"
ROOT = Path(__file__).resolve().parents[3]
GOOD = Screen(is_terminal=True, columns=120, lines=40, encoding="utf-8")


def run(*words: str, **env: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "rltop", "doctor", *words],
        env={**os.environ, "PYTHONPATH": str(ROOT), **env},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.fixture
def no_driver(tmp_path: Path) -> Path:
    """A folder whose library cannot be loaded, which is found before any other."""
    (tmp_path / "libnvidia-ml.so.1").write_text("not a library")
    return tmp_path


def test_each_thing_is_a_line_with_the_way_out_below_it_and_all_is_well(no_driver: Path) -> None:
    done = run(LD_LIBRARY_PATH=str(no_driver), HOME=str(no_driver), WANDB_API_KEY="", TINKER_API_KEY="")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    names = [line[2:].split("  ")[0].strip() for line in lines if not line.startswith(" ")]
    assert names == ["python", "terminal", "colour", "NVML", "W&B", "Tinker", "Ray", "ssh"]
    missing = next(number for number, line in enumerate(lines) if "NVML" in line)
    assert "libnvidia-ml.so.1 not found" in lines[missing]
    assert lines[missing + 1].strip().startswith("→ GPUs elsewhere: --gpus-from")
    assert "wandb login" in done.stdout
    assert "tinker auth login" in done.stdout


def test_the_gpus_are_named(fake_driver: Path) -> None:
    done = run("--json", LD_LIBRARY_PATH=str(fake_driver), FAKE_NVML="sys.count=8")
    told = {each["name"]: each for each in json.loads(done.stdout)}
    assert told["NVML"] == {"name": "NVML", "verdict": "ok", "found": "8 × NVIDIA Fake 80GB", "fix": ""}


@pytest.mark.parametrize(
    ("error", "reason"), [(18, "differ in version"), (4, "no permission"), (9, "not loaded")]
)
def test_why_there_are_no_gpus_is_told(fake_driver: Path, error: int, reason: str) -> None:
    done = run("--json", LD_LIBRARY_PATH=str(fake_driver), FAKE_NVML=f"sys.error.nvmlInitWithFlags={error}")
    told = {each["name"]: each for each in json.loads(done.stdout)}
    assert (done.returncode, told["NVML"]["verdict"]) == (0, "missing")
    assert reason in told["NVML"]["found"]


def test_no_secret_is_told(tmp_path: Path, no_driver: Path) -> None:
    (tmp_path / ".netrc").write_text(f"machine api.wandb.ai\n  login user\n  password {SECRET}\n")
    (tmp_path / ".tinker").mkdir()
    (tmp_path / ".tinker" / "credentials.json").write_text(json.dumps({"key": SECRET}))
    for env in ({}, {"WANDB_API_KEY": SECRET, "TINKER_API_KEY": SECRET}):
        for words in ((), ("--json",)):
            done = run(*words, HOME=str(tmp_path), LD_LIBRARY_PATH=str(no_driver), **env)
            assert done.returncode == 0
            assert SECRET not in done.stdout + done.stderr


def test_a_login_to_wandb_is_found_where_its_own_command_puts_it(tmp_path: Path) -> None:
    assert doctor.wandb({}, tmp_path).fix == "wandb login"
    (tmp_path / ".netrc").write_text(f"machine api.wandb.ai\n  login user\n  password {SECRET}\n")
    assert doctor.wandb({}, tmp_path) == Finding("W&B", "ok", "logged in to api.wandb.ai")
    other = doctor.wandb({"WANDB_BASE_URL": "https://wandb.example.org"}, tmp_path)
    assert (other.verdict, other.found) == ("missing", "not logged in to wandb.example.org")


def test_a_broken_netrc_is_named_without_what_is_in_it(tmp_path: Path) -> None:
    (tmp_path / ".netrc").write_text(f"machine api.wandb.ai\n  {SECRET}\n")
    found = doctor.wandb({}, tmp_path)
    assert found.verdict == "wrong"
    assert SECRET not in found.found


@pytest.mark.parametrize(
    ("screen", "verdict", "fix"),
    [(GOOD, "ok", ""), (GOOD._replace(encoding="ascii"), "wrong", "C.UTF-8"),
     (GOOD._replace(columns=60), "wrong", "80×24"), (GOOD._replace(is_terminal=False), "missing", "report")],
)  # fmt: skip
def test_a_terminal_that_cannot_show_all_is_told_of(screen: Screen, verdict: str, fix: str) -> None:
    found = doctor.terminal(screen, {"TERM": "xterm"})
    assert found.verdict == verdict
    assert fix in found.fix


@pytest.mark.parametrize(
    ("env", "found"),
    [({"COLORTERM": "truecolor"}, "16 million colours"), ({"TERM": "screen-256color"}, "256 colours"),
     ({"TERM": "dumb"}, "none by TERM"),
     ({"NO_COLOR": "1", "COLORTERM": "truecolor"}, "none, as NO_COLOR asks")],
)  # fmt: skip
def test_how_many_colours_there_are_is_told(env: dict[str, str], found: str) -> None:
    assert doctor.colour(GOOD, env).found.startswith(found)


def test_where_there_is_no_ssh_the_package_is_named(tmp_path: Path) -> None:
    assert doctor.ssh({"PATH": str(tmp_path)}).fix == "install OpenSSH's client, such as openssh-client"


def test_an_ssh_tells_its_version(tmp_path: Path) -> None:
    (tmp_path / "ssh").write_text("#!/bin/sh\necho 'OpenSSH_9.9p1, OpenSSL 3' >&2\n")
    (tmp_path / "ssh").chmod(0o755)
    assert doctor.ssh({"PATH": str(tmp_path)}).found == "OpenSSH_9.9p1, without an agent"
    assert doctor.ssh({"PATH": str(tmp_path), "SSH_AUTH_SOCK": "/x"}).fix == ""
