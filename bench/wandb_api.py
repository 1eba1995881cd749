"""What a run on a W&B server costs to open and to follow, in seconds and in questions.

Usage: `python -m bench.wandb_api`. W&B's own package asks a server on this machine: the network's time is
left out, and that server's is in.
"""

import os
import resource
import sys
import time

from rltop.models.event import Step
from rltop.monitor.places.wandb_api_run import ApiRun
from rltop.monitor.reader import Pause
from tests.monitor.places.wandb_server import KEY, ServedRun, serving

LENGTHS = (50, 2_000, 20_000)
KEYS = 60
LOOKS = 25
LOOK_S = 12.0


def row(step: int) -> dict[str, float]:
    """A row as wide as veRL's."""
    named = {
        "timing_s/step": 40.0,
        "timing_s/gen": 20.0,
        "response_length/mean": 300.0,
        "actor/pg_loss": 0.1,
        "critic/score/mean": 0.5,
    }
    more = {f"metric/{number}": number * 0.1 for number in range(KEYS - len(named))}
    return {"_step": step, "_timestamp": 1.79e9 + 40 * step, "_runtime": 40.0 * step, **named, **more}


class Looks(Pause):
    """Pauses that take no time; in some of them a row is logged."""

    def __init__(self, served: ServedRun, looks: int, every: int) -> None:
        super().__init__()
        self._served, self._left, self._every = served, looks, every

    def wait(self, timeout: float | None = None) -> bool:
        self._left -= 1
        if self._every and self._left % self._every == 0:
            self._served.rows.append(row(self._served.last_step + 1))
        return self._left < 0


def main() -> None:
    """Print the table."""
    with serving() as server:
        os.environ.update(WANDB_API_KEY=KEY)
        started = time.perf_counter()
        import wandb  # as a run on a server does it

        print(f"import of wandb {wandb.__version__}: {time.perf_counter() - started:.2f} s", file=sys.stderr)
        print(f"{'steps':>8}{'open s':>10}{'own CPU s':>12}{'questions':>12}")
        for length in LENGTHS:
            served = ServedRun(rows=[row(step) for step in range(1, length + 1)])
            server.runs["team/proj/abc"] = served
            seconds, cpu_s, asked = told(server.url, Looks(served, 0, 0), length, server.asked)
            print(f"{length:>8}{seconds:>10.2f}{cpu_s:>12.2f}{asked:>12}")
        for name, every in (("no new step", 0), ("a step every 60 s", 5), ("a step every 24 s", 2)):
            served = server.runs["team/proj/abc"] = ServedRun(rows=[row(1)])
            *_, opened = told(server.url, Looks(served, 0, 0), 1, server.asked)
            *_, asked = told(server.url, Looks(served, LOOKS, every), 1, server.asked)
            print(f"{name}: {(asked - opened) / (LOOKS * LOOK_S / 60):.1f} questions a minute")


def told(url: str, looks: Looks, least: int, asked: list[str]) -> tuple[float, float, int]:
    """(seconds, our own CPU seconds, questions) to read a run with at least so many steps."""
    asked.clear()
    before, cpu_before = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF).ru_utime
    steps = sum(
        isinstance(event, Step)
        for events in ApiRun("team", "proj", "abc", url).read(looks)
        for event in events
    )
    assert steps >= least
    cpu_s = resource.getrusage(resource.RUSAGE_SELF).ru_utime - cpu_before
    return time.perf_counter() - before, cpu_s, len(asked)


if __name__ == "__main__":
    main()
