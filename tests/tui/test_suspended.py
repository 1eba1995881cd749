"""ctrl-z on a terminal of its own: the process stops, and `fg` brings the whole screen back."""

import os
import pty
import select
import signal
import struct
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from fcntl import ioctl
from pathlib import Path
from termios import TIOCSWINSZ

import pytest

PATIENCE_S = 20.0
LAST_LINE = b"overview"
"""In the line of keys, which is always there and never changes by itself."""


@contextmanager
def started(*words: str) -> Generator[tuple[int, int]]:
    """(pid, keyboard) of rltop on a terminal of 80 × 24."""
    keyboard, terminal = pty.openpty()
    ioctl(terminal, TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-m", "rltop", *words],
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        start_new_session=True,
        env={**os.environ, "TERM": "xterm-256color"},
    )
    os.close(terminal)
    try:
        yield process.pid, keyboard
    finally:
        process.kill()
        process.wait()
        os.close(keyboard)


def read_until(keyboard: int, *words: bytes) -> None:
    seen = b""
    while not all(word in seen for word in words):
        ready, _, _ = select.select([keyboard], [], [], PATIENCE_S)
        assert ready, seen[-2000:]
        seen += os.read(keyboard, 65536)


def drain(keyboard: int) -> None:
    while select.select([keyboard], [], [], 0)[0]:
        os.read(keyboard, 65536)


@pytest.mark.parametrize(
    ("words", "shown"),
    [(("{run}",), LAST_LINE), (("compare", "{run}", "demo:math-verl"), b"by step")],
    ids=("one run", "compared"),
)
def test_ctrl_z_stops_and_going_on_draws_all_again(
    words: tuple[str, ...], shown: bytes, shared_data: Path
) -> None:
    run = shared_data / "tinker" / "arithmetic-100"
    with started(*(word.format(run=run) for word in words)) as (pid, keyboard):
        read_until(keyboard, shown, b"100/100")
        os.write(keyboard, b"\x1a")
        _, status = os.waitpid(pid, os.WUNTRACED)
        assert os.WIFSTOPPED(status)
        drain(keyboard)
        os.kill(pid, signal.SIGCONT)
        read_until(keyboard, shown, b"100/100")
