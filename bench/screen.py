"""How long a program takes to fill its screen: it runs on a pseudo-terminal until it and its children rest.

Its one rule: nothing is asked of the program, so that any two are measured alike. Linux alone (/proc).
"""

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

ROWS, COLUMNS = 50, 180
QUIET_S, LOOK_S, LONGEST_S = 1.5, 0.05, 300.0
IDLE = 0.15
"""Less than this share of a core over `QUIET_S` is idle: both still blink and look at the file."""
TICK = os.sysconf("SC_CLK_TCK")


class Filled(NamedTuple):
    """What it took until the screen was full."""

    wall_s: float
    cpu_s: float
    """Of the program and its children."""
    rss_mb: float
    """The most that they held together."""


def filled(words: list[str]) -> Filled:
    """Run a program until it has been idle for a while, then end it.

    Raises:
        RuntimeError: it ended by itself, or was never idle.
    """
    parent, child = pty.openpty()
    fcntl.ioctl(child, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    began = perf_counter()
    environment = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
    process = subprocess.Popen(
        words, stdin=child, stdout=child, stderr=child, env=environment, start_new_session=True
    )
    os.close(child)
    looks: list[tuple[float, float]] = [(0.0, 0.0)]
    most = 0.0
    try:
        while looks[-1][0] < LONGEST_S:
            _drain(parent)
            if process.poll() is not None:
                raise RuntimeError(f"{words[0]} ended by itself, with {process.returncode}")
            cpu, rss = _usage(process.pid)
            most = max(most, rss)
            looks.append((perf_counter() - began, cpu))
            if (busy_until := _idle_since(looks)) is not None:
                return Filled(*busy_until, most)
        raise RuntimeError(f"{words[0]} was never idle in {LONGEST_S:.0f} s")
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        os.close(parent)


def _idle_since(looks: list[tuple[float, float]]) -> tuple[float, float] | None:
    """(wall, CPU) of the moment from which on it was idle, once that has lasted."""
    now, cpu = looks[-1]
    before = [look for look in looks if look[0] <= now - QUIET_S]
    if not before or cpu < 0.2 or cpu - before[-1][1] > IDLE * QUIET_S:
        return None
    return next(look for look in looks if look[1] >= before[-1][1])


def _drain(terminal: int) -> None:
    """Take what was drawn, and answer what terminals are asked for when a program starts."""
    ends = perf_counter() + LOOK_S
    while (left := ends - perf_counter()) > 0:
        ready, _, _ = select.select([terminal], [], [], left)
        if ready:
            try:
                drawn = os.read(terminal, 65536)
            except OSError:
                return  # the program is gone
            if b"\x1b[6n" in drawn:
                os.write(terminal, b"\x1b[1;1R")
            if b"\x1b]11;?" in drawn:
                os.write(terminal, b"\x1b]11;rgb:0000/0000/0000\x1b\\")
            if b"\x1b[c" in drawn:
                os.write(terminal, b"\x1b[?62;22c")


def _usage(session: int) -> tuple[float, float]:
    """(CPU seconds, MB held) of all processes of a session, ended ones with their parents."""
    ticks = pages = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue  # it has ended meanwhile
        if int(words[3]) == session:
            ticks += sum(map(int, words[11:15]))
            pages += int(words[21])
    return ticks / TICK, pages * os.sysconf("SC_PAGE_SIZE") / 1e6
