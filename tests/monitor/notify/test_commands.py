"""`rltop notify` and `rltop follow` with somebody to tell."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.monitor.notify.conftest import Server

RLTOP = [sys.executable, "-m", "rltop"]
DEAD = "json://127.0.0.1:1/Sesame-Token"
LOG = Path(__file__).resolve().parents[3] / "monitor" / "demo" / "data" / "math-verl" / "console.log"


def run(*words: str, cwd: Path, stdin: bytes = b"", **more: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [*RLTOP, *words],
        cwd=cwd,
        input=stdin,
        env={**os.environ, **more},
        capture_output=True,
        timeout=60,
        check=False,
    )
    out, err = done.stdout.decode(), done.stderr.decode()
    assert "Sesame" not in out + err
    assert "Traceback" not in err
    return subprocess.CompletedProcess(done.args, done.returncode, out, err)


def test_each_receiver_is_tried_and_the_code_tells_whether_all_were_reached(
    server: Server, tmp_path: Path
) -> None:
    done = run("notify", "--test", "--url", server.url, "--url", DEAD, cwd=tmp_path)
    assert done.returncode == 3
    fine, dead = done.stdout.splitlines()
    assert fine == "url 1, json://…: delivered"
    assert dead.startswith("url 2, json://…: failed: ")
    assert "test" in server.posted.get(timeout=5)["title"]
    assert run("notify", "--test", "--url", "$THERE", cwd=tmp_path, THERE=server.url).returncode == 0


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        ((), 3, 'write urls = ["$NAME"] under [notify]'),
        (("--test", "--url", "foo://Sesame-Token"), 2, "url 1, foo://…"),
        (("--test", "--url", "$NOT_THERE"), 2, "NOT_THERE"),
    ],
)
def test_what_cannot_be_told_is_one_line(
    tmp_path: Path, words: tuple[str, ...], code: int, says: str
) -> None:
    done = run("notify", *words, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (code, "", 1)
    assert says in done.stderr


def test_a_followed_run_tells_of_its_crash_runs_the_command_and_says_who_was_not_reached(
    server: Server, tmp_path: Path
) -> None:
    (tmp_path / "rltop.toml").write_text('[notify]\nurls = ["$FINE", "$DEAD"]\nseverity = "critical"\n')
    keep = tmp_path / "keep.py"
    keep.write_text("import sys; open('told', 'w').write(sys.stdin.read())")
    done = run(
        "follow", "-", "--on-critical", f"{sys.executable} {keep}",
        cwd=tmp_path, stdin=LOG.read_bytes(), FINE=server.url, DEAD=DEAD,
    )  # fmt: skip
    assert done.returncode == 0
    posted = server.posted.get(timeout=5)
    assert "crashed" in posted["message"]
    assert "WARNING" not in posted["message"]
    assert json.loads((tmp_path / "told").read_text().splitlines()[0])["alert"]["severity"] == "critical"
    assert "not delivered to url 2, json://…" in done.stderr


def test_nobody_is_told_where_that_is_not_wanted(server: Server, tmp_path: Path) -> None:
    (tmp_path / "rltop.toml").write_text('[notify]\nurls = ["$FINE"]\n')
    assert run("follow", "-", "--no-notify", cwd=tmp_path, stdin=LOG.read_bytes()).returncode == 0
    assert server.posted.empty()


def test_a_follower_that_is_ended_by_a_scheduler_sends_what_waits(server: Server, tmp_path: Path) -> None:
    (tmp_path / "rltop.toml").write_text('[notify]\nurls = ["$FINE"]\n')
    with subprocess.Popen(
        [*RLTOP, "follow", "-"],
        cwd=tmp_path,
        env={**os.environ, "FINE": server.url},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        log = LOG.read_bytes()
        process.stdin.write(log[: log.rindex(b"step:35 ")])
        process.stdin.flush()
        # The line is printed with the frame whose alerts have just been handed on.
        assert json.loads(process.stdout.readline())["alerts"]
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=30)
        assert process.returncode == 130
    assert b"Traceback" not in errors
    assert "warning" in server.posted.get(timeout=5)["message"].lower()
