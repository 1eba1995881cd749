"""What the screen costs: drawing a chart, drawing a frame, and living in a terminal.

The last part runs the app in a pseudo-terminal of its own and counts what it writes there.
"""

import asyncio
import fcntl
import os
import pty
import resource
import statistics
import struct
import sys
import termios
from array import array
from collections.abc import Callable
from time import perf_counter, process_time

from rltop.models.health import Health, Length
from rltop.models.money import Bill
from rltop.models.projection import FanPoint, FinalCost, Projection
from rltop.models.run import RunInfo
from rltop.models.settings import Settings
from rltop.models.step import Step
from rltop.models.value import Quantiles
from rltop.monitor.clock import SystemClock
from rltop.monitor.frame import Frame
from rltop.monitor.history import History
from rltop.monitor.state import RunState
from rltop.tui.plot import Curve, Plot, draw
from rltop.tui.raster import View, curve

STEPS = 20_000
LIVE_S = 20.0
"""Seconds that the app lives in its terminal, with a new step each second."""
COLUMNS, ROWS = 120, 40


class Run:
    """A run that can be given one step after another."""

    def __init__(self, done: int, total: int) -> None:
        self._history = History()
        self._spent = array("d")
        self._step_usd = array("d")
        self._total = total
        for _ in range(done):
            self._write()

    def advance(self) -> Frame:
        """Finish a step; the frame after it."""
        return self._frame(self._write())

    def _write(self) -> int:
        step = len(self._history) + 1
        usd = 0.2 + step % 7 / 100
        self._step_usd.append(usd)
        self._spent.append((self._spent[-1] if self._spent else 0.0) + usd)
        wobble = (step * 7919 % 100) / 100
        self._history.write(
            Step(
                step=step,
                duration_s=30.0 + wobble,
                response_length_mean=500 + 400 * step / self._total + 30 * wobble,
                clip_ratio=0.02 * wobble,
                reward_mean=0.5 + 0.3 * step / self._total + 0.05 * wobble,
                kl=0.001 * (1 + wobble),
                entropy=0.3 - 0.1 * step / self._total,
                grad_norm=0.1 + 0.1 * wobble,
            )
        )
        return step

    def _frame(self, step: int) -> Frame:
        spent = self._spent[-1]
        final = spent + 0.23 * (self._total - step)
        fan = tuple(
            FanPoint(step=at, cost=Quantiles(p10=0.9 * usd, p50=usd, p90=1.2 * usd))
            for at in range(step + 1, self._total + 1, max(1, (self._total - step) // 100))
            for usd in [spent + 0.23 * (at - step)]
        )
        info = RunInfo(name="bench", framework="tinker", total_steps=self._total, first_step=1)
        return Frame(
            now=0.0,
            state=RunState(info=info, history=self._history, revision=step, closed=step),
            info=info,
            settings=Settings(budget_usd=final),
            status="running",
            elapsed_s=30.0 * step,
            bill=Bill(basis="metered", spent_usd=spent, last_step_usd=self._step_usd[-1]),
            spent_usd=self._spent,
            at_end=array("d"),
            projection=Projection(final_usd=FinalCost(p10=0.9 * final, p50=final, p90=1.2 * final), fan=fan),
            health=Health(response_length=Length(first=500, last=900, growth=1.8), reward=0.7),
            alerts=(),
            step_usd=self._step_usd,
        )


class Live:
    """Publishes a step each second."""

    control = None

    async def run(self, publish: Callable[[Frame], None]) -> None:
        run, clock = Run(100, 300), SystemClock()
        while True:
            publish(run.advance())
            await clock.sleep(1.0)


class Still:
    """Publishes nothing."""

    control = None

    async def run(self, publish: Callable[[Frame], None]) -> None:
        await asyncio.Event().wait()


def main() -> None:
    """Print every figure, one a line."""
    if "--live" in sys.argv:
        from rltop.tui.launch import show

        sys.exit(show(Live()))
    xs = list(range(STEPS))
    ys = [float(x * 7919 % 1000) for x in xs]
    view = View(0, STEPS, 0, 1000, 120, 20)
    print(f"curve of {STEPS:,} points on 120x20: {milliseconds(lambda: curve(xs, ys, view)):.1f} ms")
    plot = Plot(0, STEPS, 0, 1000, curves=(Curve(xs, ys),))
    print(f"chart of {STEPS:,} points on 250x70: {milliseconds(lambda: draw(plot, 250, 70)):.1f} ms")
    for width, height in ((120, 40), (250, 70)):
        asyncio.run(overview(width, height))
    live()


def milliseconds(draw_once: Callable[[], object]) -> float:
    """Median CPU time of a call."""
    times: list[float] = []
    for _ in range(15):
        started = process_time()
        draw_once()
        times.append(process_time() - started)
    return statistics.median(times) * 1000


async def overview(width: int, height: int) -> None:
    """Time of a whole frame on the overview: laid out, and painted."""
    from rltop.tui.app import RltopApp

    run = Run(STEPS - 20, STEPS)
    app = RltopApp(Still())
    laid_out: list[float] = []
    painted: list[float] = []
    async with app.run_test(size=(width, height)) as pilot:
        for _ in range(12):
            frame = run.advance()
            started = process_time()
            app.frame = frame
            laid_out.append(process_time() - started)
            await pilot.pause()
            painted.append(process_time() - started)
    # The first frames set up what the later ones reuse.
    layout, whole = (statistics.median(times[3:]) * 1000 for times in (laid_out, painted))
    print(
        f"overview at {width}x{height} with {STEPS:,} steps: {layout:.1f} ms laid out, {whole:.1f} ms in all"
    )


def live() -> None:
    """First byte, bytes a second and CPU of the app in a terminal, a step each second."""
    child, terminal = pty.fork()
    if child == 0:
        os.environ.update(TERM="xterm-256color", COLORTERM="truecolor")
        os.execv(sys.executable, [sys.executable, __file__, "--live"])
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    started = perf_counter()
    first: float | None = None
    settled_at, settled_bytes, total = started + 4.0, 0, 0
    while perf_counter() - started < LIVE_S:
        total += len(os.read(terminal, 65_536))
        first = first if first is not None else perf_counter() - started
        if perf_counter() < settled_at:
            settled_bytes = total
    os.write(terminal, b"q")
    steady = (total - settled_bytes) / (LIVE_S - 4.0)
    while True:
        try:
            if not os.read(terminal, 65_536):
                break
        except OSError:
            break
    os.waitpid(child, 0)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = used.ru_utime + used.ru_stime
    print(
        f"live at {COLUMNS}x{ROWS}, a step each second: first byte {first or 0:.2f} s, "
        f"{steady / 1024:.1f} KiB/s, {cpu:.2f} s CPU in {LIVE_S:.0f} s with start-up, "
        f"{used.ru_maxrss / 1024:.0f} MiB"
    )


if __name__ == "__main__":
    main()
