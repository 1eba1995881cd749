"""How much memory a run takes, by the steps it has: 60 raw metrics and 20 quantities a step.

Usage: `python -m bench.memory [STEPS] [--logged] [--priced]`. Steps are noise in every digit, so that nothing
is packed well; with `--logged` they are those of a veRL log, as `bench.read` reads them. Without `--priced`
they are folded alone; with it they go through prices, projection and alerts too, which takes minutes.
"""

import random
import resource
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from rltop.models.run import RunInfo
from rltop.models.settings import Settings
from rltop.models.step import COLUMNS, Step
from rltop.monitor.money.book import Book
from rltop.monitor.pipeline import Pipeline
from rltop.monitor.reduce import reduce
from rltop.monitor.sources.verl.telling import Telling
from rltop.monitor.state import RunState

from .longrun.run import rows

MARKS = (1_000, 10_000, 100_000, 300_000, 1_000_000)
RAW = 60
CANONICAL = COLUMNS[:20]
KEYS = [f"family/metric_{index}" for index in range(RAW)]


def step(number: int, rng: random.Random) -> Step:
    """Noise in every metric; some quantities stand still, as in real runs."""
    noise = [rng.random() for _ in range(RAW)]
    told = {name: noise[place] for place, name in enumerate(CANONICAL)}
    told |= {
        "ended_at": 1.79e9 + 60.0 * number,
        "response_length_max": 2048.0,
        "lr": 1e-6,
        "episodes": 1024.0,
    }
    return Step.model_validate({"step": number, "raw": dict(zip(KEYS, noise, strict=True)), **told})


def noise(steps: int) -> Iterator[Step]:
    """So many steps of noise."""
    rng = random.Random(7)
    return (step(number, rng) for number in range(1, steps + 1))


def logged(steps: int) -> Iterator[Step]:
    """So many steps of a long veRL run."""
    telling = Telling()
    for number, row in enumerate(rows(steps), start=1):
        values = {key: float(value) for key, value in row.items()}
        for event in telling.tell(telling, number, values, 1.79e9 + 60.0 * number):
            if isinstance(event, Step):
                yield event


def held_mb() -> float:
    """MB of the process that are in memory now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 1e6


def folder() -> Callable[[Step], object]:
    """Takes steps in, and no more."""
    states = [RunState()]

    def fold(event: Step) -> None:
        states[0] = reduce(states[0], event)

    return fold


def pricer() -> Callable[[Step], object]:
    """Takes steps in as a session does."""
    pipeline = Pipeline(Settings(budget_usd=1e6, usd_per_gpu_hour=2.0), Book.load())
    pipeline.feed(RunInfo(platform="self-hosted", gpus=8, gpu_type="H100", total_steps=1_100_000), 0.0)
    return lambda event: pipeline.feed(event, 1.79e9 + 60.0 * event.step)


def main() -> None:
    """Print a line at each mark."""
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    steps = int(words[0]) if words else MARKS[-1]
    take = pricer() if "--priced" in sys.argv else folder()
    told = logged(steps) if "--logged" in sys.argv else noise(steps)
    before = held_mb()
    print(f"{'steps':>10}{'MB in all':>11}{'for them':>10}")
    for number, event in enumerate(told, start=1):
        take(event)
        if number in MARKS or number == steps:
            print(f"{number:>10}{held_mb():>11.0f}{held_mb() - before:>10.0f}", flush=True)


if __name__ == "__main__":
    main()
