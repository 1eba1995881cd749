"""How soon the screen answers: from a key to its paint, and a frame of six charts, in a terminal of its own.

20,000 steps are loaded, on 250×70 cells. A key's paint is over when nothing more has come for a while; that
while is not counted. On a busy machine trust the CPU time. `python -m bench.latency`
"""

import asyncio
import fcntl
import os
import pty
import select
import statistics
import struct
import sys
import termios
from collections.abc import Callable
from time import perf_counter, process_time

from bench.tui import STEPS, Run
from rltop.monitor.clock import SystemClock
from rltop.monitor.frame import Frame
from rltop.tui.app import RltopApp

COLUMNS, ROWS = 250, 70
LATEST_S = 3.0
"""A key that has changed nothing by then is not counted."""
QUIET_S = 0.2
"""Silence after which a paint is over."""
FRAMES = 15
ROUNDS = 8
KEYS = {
    "crosshair": "[[[[]",
    "zoom": "zzzZZZ",
    "another screen": "2345",
}


class Held:
    """Publishes one frame, then nothing."""

    control = None

    def __init__(self) -> None:
        self._frame = Run(STEPS, STEPS + 5_000).advance()

    async def run(self, publish: Callable[[Frame], None]) -> None:
        publish(self._frame)
        await asyncio.Event().wait()


class Growing:
    """Opens the screen of six charts and gives it a step every half second; notes the CPU time of each."""

    control = None
    app: RltopApp

    def __init__(self) -> None:
        self.milliseconds: list[float] = []
        self._run = Run(STEPS, STEPS + 5_000)

    async def run(self, publish: Callable[[Frame], None]) -> None:
        run, clock = self._run, SystemClock()
        publish(run.advance())
        await self.app.action_view("health")
        for _ in range(FRAMES):
            await clock.sleep(0.5)
            painted = asyncio.Event()
            started = process_time()
            publish(run.advance())
            self.app.call_after_refresh(painted.set)
            await painted.wait()
            self.milliseconds.append((process_time() - started) * 1000)
        self.app.exit()


def main() -> None:
    """Print every figure, one a line."""
    if "--held" in sys.argv:
        RltopApp(Held()).run()
    elif "--growing" in sys.argv:
        runner = Growing()
        runner.app = RltopApp(runner)
        runner.app.run()
        times = sorted(runner.milliseconds[3:])  # the first set up what the later ones reuse
        print(f"{statistics.median(times):.1f} {times[-1]:.1f}")
    else:
        latency()
        frames()


def latency() -> None:
    """From writing a key to the last byte of its paint."""
    child, terminal = _opened("--held")
    select.select([terminal], [], [])  # the run is there when the first picture is
    _drained(terminal, 3.0)
    for name, keys in KEYS.items():
        worked = _cpu_s(child)
        every = [_pressed(terminal, key) for _ in range(ROUNDS) for key in keys]
        taken = sorted(seconds for seconds in every if seconds is not None)
        p50, p95 = (taken[int(len(taken) * share)] * 1000 for share in (0.5, 0.95))
        print(
            f"key to paint at {COLUMNS}x{ROWS} with {STEPS:,} steps, {name}: "
            f"p50 {p50:.0f} ms, p95 {p95:.0f} ms over {len(taken)} of {len(every)} keys, "
            f"{(_cpu_s(child) - worked) / len(every) * 1000:.0f} ms CPU a key"
        )
    os.write(terminal, b"q")
    _drained(terminal, 1.0)
    os.waitpid(child, 0)


def _cpu_s(child: int) -> float:
    """CPU seconds of a process so far."""
    with open(f"/proc/{child}/stat") as told:
        fields = told.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _pressed(terminal: int, key: str) -> float | None:
    """Seconds from the key to the end of its paint; None where it changed nothing."""
    started = perf_counter()
    os.write(terminal, key.encode())
    if not select.select([terminal], [], [], LATEST_S)[0]:
        return None
    return _drained(terminal, QUIET_S) - started


def _drained(terminal: int, quiet_s: float) -> float:
    """Read until nothing has come for so long; when the last byte came."""
    last = perf_counter()
    while select.select([terminal], [], [], quiet_s)[0]:
        try:
            if not os.read(terminal, 1 << 20):
                break
        except OSError:
            break
        last = perf_counter()
    return last


def frames() -> None:
    """CPU time of laying out and painting a step on six charts, the terminal written to."""
    child, terminal = _opened("--growing")
    told = b""
    while True:
        try:
            read = os.read(terminal, 1 << 16)
        except OSError:
            break
        if not read:
            break
        told = (told + read)[-200:]
    told = told.rpartition(b"\x1b")[2].partition(b"l")[2] or told
    os.waitpid(child, 0)
    median, most = told.decode(errors="replace").split()[-2:]
    print(
        f"a step on six charts at {COLUMNS}x{ROWS} with {STEPS:,} steps: {median} ms CPU "
        f"to lay out and paint, {most} ms at most"
    )


def _opened(mode: str) -> tuple[int, int]:
    child, terminal = pty.fork()
    if child == 0:
        os.environ.update(
            TERM="xterm-256color", COLORTERM="truecolor", TEXTUAL_ANIMATIONS="none", TEXTUAL_FPS="30"
        )
        os.execv(sys.executable, [sys.executable, "-m", "bench.latency", mode])
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    return child, terminal


if __name__ == "__main__":
    main()
