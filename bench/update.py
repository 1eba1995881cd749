"""What one step costs from event to alerts: fold, price, project, alert, with 60 raw metrics beside.

Usage: `python bench/update.py [STEPS]`. A step is measured alone, in processor time, without the parser and
without the screen.
"""

import resource
import statistics
import sys
from time import process_time

from rltop.models.event import SourceStatus
from rltop.models.run import RunInfo
from rltop.models.settings import Settings
from rltop.models.step import Step
from rltop.monitor.money.book import Book
from rltop.monitor.pipeline import Pipeline

WINDOW = 1000


def step(number: int) -> Step:
    """A step of a run that neither stands still nor goes wild."""
    wobble = (number * 7919 % 100) / 100
    return Step(
        step=number,
        duration_s=100 + 5 * wobble,
        response_length_mean=600 + 20 * wobble,
        response_length_max=2048,
        clip_ratio=0.03,
        clip_reliable=True,
        reward_mean=0.5 + wobble / 100,
        kl=0.001,
        entropy=0.3,
        grad_norm=0.1,
        total_tokens=8e5,
        tokens_per_s=7000,
        raw={f"metric/{index}": wobble for index in range(60)},
        phases={"generate": 40, "update": 55},
    )


def main() -> None:
    """Feed a long run and print what its steps took along the way."""
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 11_000
    pipeline = Pipeline(Settings(budget_usd=5000, usd_per_gpu_hour=5), Book.load())
    pipeline.feed(SourceStatus(source="console", path="x", modified_at=1.0), 0.0)
    pipeline.feed(
        RunInfo(
            platform="self-hosted",
            gpus=8,
            gpu_type="B200",
            model="Qwen/Qwen3-8B",
            total_steps=steps + 1000,
            first_step=1,
            max_tokens=2048,
        ),
        0.0,
    )
    took: list[float] = []
    for number in range(1, steps + 1):
        event = step(number)
        began = process_time()
        pipeline.feed(event, 100.0 * number)
        took.append(process_time() - began)
        if number in (2 * WINDOW, steps):
            times = statistics.quantiles(took[-WINDOW:], n=100)
            print(f"after {number:>7} steps: p50 {times[49] * 1e3:.3f} ms, p99 {times[98] * 1e3:.3f} ms")
    began = process_time()
    pipeline.frame(100.0 * steps)
    print(f"a frame: {(process_time() - began) * 1e3:.1f} ms")
    print(f"memory: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")


if __name__ == "__main__":
    main()
