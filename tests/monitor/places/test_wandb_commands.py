"""The commands on runs of a W&B server, each in a process of its own, as users start them."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from .test_wandb_api import VERL, verl_row
from .wandb_server import KEY, ServedRun, WandbServer, serving


def environment(server: WandbServer, home: Path, key: str | None) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("WANDB_", "NETRC"))}
    login = {"WANDB_API_KEY": key} if key else {}
    temporary = home / "tmp"
    temporary.mkdir()
    return {**kept, **login, "HOME": str(home), "WANDB_BASE_URL": server.url, "TMPDIR": str(temporary)}


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "rltop", *words]


def test_a_look_prints_its_report_and_leaves_nothing_behind(tmp_path: Path) -> None:
    with serving() as server:
        server.runs["team/proj/abc"] = ServedRun(rows=[verl_row(n) for n in range(1, 41)], config=VERL)
        done = subprocess.run(
            command("check", "--json", "wandb:team/proj/abc"),
            env=environment(server, tmp_path, KEY),
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stderr) == (0, "")
    report = json.loads(done.stdout)
    assert (report["run"]["framework"], report["run"]["step"], report["run"]["total_steps"]) == (
        *("verl", 40),
        40,
    )
    assert report["run"]["sources"] == [{"kind": "wandb-api", "path": "wandb:team/proj/abc"}]
    assert KEY not in done.stdout
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == []


def test_without_a_login_it_says_so_and_asks_nothing_even_on_a_terminal(tmp_path: Path) -> None:
    keyboard, terminal = pty.openpty()
    with serving() as server:
        started = subprocess.Popen(
            command("follow", "wandb:team/proj/abc"),
            env=environment(server, tmp_path, None),
            stdin=terminal,
            stdout=terminal,
            stderr=terminal,
        )
        os.close(terminal)
        said = b""
        while True:
            try:
                piece = os.read(keyboard, 4096)
            except OSError:  # the terminal's last user has gone
                break
            if not piece:
                break
            said += piece
        assert started.wait() == 3
        assert server.asked == []
    os.close(keyboard)
    assert said.decode().split("\r\n") == [
        "rltop: not logged in to W&B: run `wandb login`, or set WANDB_API_KEY",
        "",
    ]


def test_a_followed_run_is_printed_until_it_ends(tmp_path: Path) -> None:
    with serving() as server:
        server.runs["team/proj/abc"] = ServedRun(rows=[verl_row(40)], config=VERL, state="finished")
        done = subprocess.run(
            command("follow", f"{server.url}/team/proj/runs/abc"),
            env=environment(server, tmp_path, KEY),
            capture_output=True,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout.splitlines()[-1])["run"]["state"] == "finished"


AS_IF = """
import importlib.metadata, sys

def version(name):
    if {installed!r}: return {installed!r}
    raise importlib.metadata.PackageNotFoundError(name)

importlib.metadata.version = version
from rltop.cli import main
sys.exit(main(["check", "wandb:a/b/c"]))
"""


@pytest.mark.parametrize(("installed", "why"), [("", ""), ("0.24.2", "wandb 0.24.2 is too old: ")])
def test_a_package_that_is_not_there_or_too_old_is_named(installed: str, why: str) -> None:
    code = AS_IF.format(installed=installed)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 3
    assert done.stderr == (
        f"rltop: wandb:a/b/c: {why}reading from W&B needs its own package: pip install 'rltop[wandb]'\n"
    )
