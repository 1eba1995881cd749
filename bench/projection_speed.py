"""What a step costs the projection late in a long run: milliseconds to observe it and project anew.

Its one rule: measured is what happens at every step, three quantities observed and the final cost, time
and length projected, without the fan that only the screen asks for. The same steps are gone through a
few times and each step's least counts, so that what else the machine does stays out of it.

    python bench/projection_speed.py [--steps 10000] [--measured 2000]
"""

import argparse
import gc
from random import Random
from time import perf_counter
from typing import Any

from backtest import quantile

from rltop.models.money import StepCost
from rltop.models.projection import Plan
from rltop.monitor.projection.projector import Projector

ROUNDS = 3


def made_step(step: int, random: Random) -> StepCost:
    """A step of a slowly growing run, with an evaluation at every twentieth."""
    length = 600 * (1 + step / 20_000) * random.lognormvariate(0, 0.1)
    evaluated = step % 20 == 0
    return StepCost(
        step=step,
        usd=length * 4e-4,
        usd_at_cap=2048 * 4e-4,
        duration_s=20 + length * 0.1,
        response_length=length,
        clip_ratio=0.05,
        eval_usd=0.2 if evaluated else None,
        eval_s=40.0 if evaluated else None,
    )


def milliseconds(plan: Plan, state: dict[str, Any], steps: list[StepCost], spent_usd: float) -> list[float]:
    """What each of these steps took, going on from a state."""
    projector, took = Projector.restore(plan, state), list[float]()
    gc.collect()
    for cost in steps:
        spent_usd += cost.usd or 0.0
        started = perf_counter()
        projector.observe(cost)
        projector.project(spent_usd=spent_usd, budget_usd=None, dollars_only=True)
        took.append((perf_counter() - started) * 1000)
    return took


def main() -> None:
    """Print the median, the 99th percentile and the worst."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--steps", type=int, default=10_000, help="steps done before measuring")
    parser.add_argument("--measured", type=int, default=2_000, help="steps measured")
    asked = parser.parse_args()
    random, spent_usd = Random(1), 0.0
    plan = Plan(total_steps=2 * (asked.steps + asked.measured), first_step=1, max_tokens=2048)
    projector = Projector(plan)
    for step in range(1, asked.steps + 1):
        cost = made_step(step, random)
        spent_usd += cost.usd or 0.0
        projector.observe(cost)
    steps = [made_step(asked.steps + 1 + more, random) for more in range(asked.measured)]
    rounds = [milliseconds(plan, projector.state(), steps, spent_usd) for _ in range(ROUNDS)]
    took = [min(same) for same in zip(*rounds, strict=True)]
    print(f"after {asked.steps} steps, {asked.measured} steps observed and projected:")
    print(f"p50 {quantile(took, 0.5):.3f} ms, p99 {quantile(took, 0.99):.3f} ms, worst {max(took):.3f} ms")


if __name__ == "__main__":
    main()
