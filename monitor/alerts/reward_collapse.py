"""A reward that falls back: what was paid for is being unlearnt.

EWMA(0.1) against its own best, in units of the noise from step to step, so that small batches and
changing prompts stay quiet: a fall of `noise` standard deviations and of `share` of what had been
gained (warning), or below where the run began by as much (critical); 3 of 4 steps.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

from ...models.text import number
from ..moment import Moment
from .rule import FINE, Debounce, Reading, Rule, Unwatched, learning

_LARGEST = 1e150
"""A change beyond this has a square that no float holds."""
_WEIGHT = 0.1


@dataclass(frozen=True, slots=True)
class Limits:
    """`noise` in standard deviations of a single step; `share` of the gain, 0 to 1."""

    noise: float = 2.0
    share: float = 0.5
    base_steps: int = 20


class Memory(NamedTuple):
    """Moving averages of the reward; `variance` of a single step, from the differences of neighbours."""

    now: float | None = None
    last: float | None = None
    best: float = -math.inf
    best_step: int = 0
    start: float | None = None
    variance: float = 0.0
    seen: int = 0


def observe(memory: Memory, moment: Moment, limits: Limits) -> tuple[Memory, Reading | Unwatched]:
    """One closed step."""
    reward, row = moment.get("reward_mean"), moment.row
    if reward is None or row is None or not math.isfinite(reward):
        return memory, Unwatched("no reward in this log")
    memory = _remember(memory, reward, row.step, limits)
    if memory.seen <= limits.base_steps or memory.now is None or memory.start is None:
        return memory, learning(min(memory.seen, limits.base_steps), limits.base_steps)
    least = limits.noise * math.sqrt(memory.variance)
    fall = memory.best - memory.now
    worst = memory.start - memory.now
    lost = max(least, limits.share * (memory.best - memory.start))
    if fall <= lost or fall <= 0.02 * abs(memory.best):
        return memory, FINE if fall < 0.7 * lost else Reading(value=memory.now, threshold=memory.best - lost)
    critical = worst > least
    return memory, Reading(
        level="critical" if critical else "warning",
        value=memory.now,
        threshold=memory.best - lost,
        message=f"reward {number(memory.now)}, from {number(memory.best)} at step {memory.best_step}",
        advice=f"go back to a checkpoint from about step {memory.best_step}",
    )


def _remember(memory: Memory, reward: float, step: int, limits: Limits) -> Memory:
    seen = memory.seen + 1
    # The first values are averaged evenly, so that the first one of all does not weigh for long.
    weight = max(_WEIGHT, 1 / seen)
    now = reward if memory.now is None else (1 - weight) * memory.now + weight * reward
    variance = memory.variance
    if memory.last is not None:
        change = min(abs(reward - memory.last), _LARGEST)
        variance += max(0.05, 1 / (seen - 1)) * (change**2 / 2 - variance)
    learnt = seen >= limits.base_steps
    start = now if memory.start is None and seen >= limits.base_steps // 2 else memory.start
    better = learnt and now > memory.best
    return Memory(
        now=now,
        last=reward,
        best=now if better else memory.best,
        best_step=step if better else memory.best_step,
        start=start,
        variance=variance,
        seen=seen,
    )


RULE = Rule(
    name="reward_collapse",
    about="a reward that falls back from its best",
    limits=Limits(),
    memory=Memory(),
    debounce=Debounce(warning=(3, 4), critical=(3, 4)),
    observe=observe,
)
