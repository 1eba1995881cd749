"""Entropy that falls to nothing: the policy always says the same and stops exploring.

EWMA(0.4) below 0.3 of the median of the first 10 steps and still falling, or below an absolute floor
that the run did not start at. Where the reward stands at its best all the same, the task may simply
be learnt: that is told, not warned of.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

from ...models.text import number, ratio
from ..moment import Moment
from .baseline import Baseline
from .rule import FINE, Debounce, Reading, Rule, Unwatched, learning

_FALLING_STEPS = 5
_OFF_BEST = 0.1
"""How far below its best moving average a reward may be to count as at its best."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Ratios to the usual entropy; `floor` in nats."""

    warn: float = 0.3
    clear: float = 0.4
    floor: float = 0.05
    base_steps: int = 10


class Memory(NamedTuple):
    """Entropy in nats, its newest moving averages, and how the reward stands to its best."""

    entropy: Baseline = Baseline()
    recent: tuple[float, ...] = ()
    reward: float | None = None
    best: float | None = None


def observe(memory: Memory, moment: Moment, limits: Limits) -> tuple[Memory, Reading | Unwatched]:
    """One closed step."""
    entropy = moment.get("entropy")
    if entropy is None or not math.isfinite(entropy):
        return memory, Unwatched("no entropy in this log")
    learnt = len(memory.entropy.first) >= limits.base_steps
    memory = _remember(memory, entropy, moment.get("reward_mean"), limits)
    usual, now = memory.entropy.usual or 0.0, memory.entropy.now or 0.0
    if not learnt or usual <= 0:
        return memory, learning(len(memory.entropy.first), limits.base_steps)
    good = now > limits.clear * usual and now > limits.floor
    falling = len(memory.recent) > _FALLING_STEPS and memory.recent[-1] < memory.recent[0]
    low = now < limits.warn * usual and (falling or now < limits.floor)
    # An instruct model may start below the floor: then only its own start counts.
    floored = now < limits.floor and usual > 2 * limits.floor
    if not low and not floored:
        return memory, FINE if good else Reading(value=now, threshold=limits.warn * usual)
    solved = _at_best(memory)
    return memory, Reading(
        level="info" if solved else "warning",
        value=now,
        threshold=max(limits.warn * usual, limits.floor if floored else 0.0),
        message=f"entropy {number(now)} nats, {ratio(now / usual)} of its start",
        advice="the reward is at its best: the task may be learnt" if solved else _ADVICE,
    )


_ADVICE = "raise the entropy term or the temperature, or lower the learning rate"


def _at_best(memory: Memory) -> bool:
    if memory.reward is None or not memory.best:
        return False
    return memory.reward >= memory.best - _OFF_BEST * abs(memory.best)


def _remember(memory: Memory, entropy: float, reward: float | None, limits: Limits) -> Memory:
    series = memory.entropy.add(entropy, limits.base_steps)
    recent = (*memory.recent, series.now or 0.0)[-_FALLING_STEPS - 1 :]
    if reward is None or not math.isfinite(reward):
        return Memory(series, recent, memory.reward, memory.best)
    now = reward if memory.reward is None else 0.9 * memory.reward + 0.1 * reward
    return Memory(series, recent, now, now if memory.best is None else max(memory.best, now))


RULE = Rule(
    name="entropy_collapse",
    about="entropy that falls to nothing",
    limits=Limits(),
    memory=Memory(),
    severities=("info", "warning"),
    debounce=Debounce(warning=(3, 4)),
    observe=observe,
)
