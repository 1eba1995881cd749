"""A reward that no longer rises: the rest of the run would buy nothing. Told, never warned of.

Least squares over the last 30 % of the steps (20 to 300 points), its standard error widened for
autocorrelation, sqrt((1 + r) / (1 - r)). The 90 % upper bound of the slope, times the steps to go or
the window if that is shorter, must be below `gain`; five readings in a row. Within the last tenth of the run
nothing new is said, since little can be saved, and what was said is put in the past.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

from ...models.text import usd
from ..moment import Moment
from .rule import FINE, Debounce, Reading, Rule, Unwatched, learning
from .stakes import remaining_steps, saving_usd

_UPPER_90 = 1.2816
_LARGEST = 300
"""Points; more would cost time and say nothing else."""
_BELIEVED = 5
"""Looks in a row."""
_END = 0.1
"""Steps to go, of those done, below which the run is nearly over."""
_LOOKS = 25
"""Long windows are looked at this many times per length, since they hardly change from step to step."""


@dataclass(frozen=True, slots=True)
class Limits:
    """`gain` in units of the reward, or as a share of it where it is larger than 1."""

    gain: float = 0.01
    window: float = 0.3
    """Of the steps done."""
    least_steps: int = 20
    after: float = 0.2
    """Of the whole run: before that nothing is said."""


class Memory(NamedTuple):
    """The newest mean rewards, oldest first."""

    rewards: tuple[float, ...] = ()
    seen: int = 0
    flat: int = 0
    """Looks in a row at which it did not rise."""
    window: int = 0
    """Steps that were looked at."""


def observe(memory: Memory, moment: Moment, limits: Limits) -> tuple[Memory, Reading | Unwatched | None]:
    """One closed step."""
    reward = moment.get("reward_mean")
    if reward is None or not math.isfinite(reward):
        return memory, Unwatched("no reward in this log")
    memory = memory._replace(rewards=(*memory.rewards, reward)[-_LARGEST:], seen=memory.seen + 1)
    least = max(limits.least_steps, 3)
    total = moment.info.total_steps
    if memory.seen < max(least, limits.after * (total or 0)):
        return memory, learning(memory.seen, math.ceil(max(least, limits.after * (total or 0))))
    window = min(_LARGEST, max(least, int(limits.window * memory.seen)))
    if memory.seen % max(1, window // _LOOKS):
        return memory, None
    recent = memory.rewards[-window:]
    size = max(abs(x) for x in recent)
    if min(recent) == max(recent):
        return memory, Unwatched("the reward is the same at every step")
    steps = remaining_steps(moment)
    if steps is not None and steps < _END * memory.seen:
        return memory, _past(memory, moment, limits) or Reading()
    most = steepest(recent) * (window if steps is None else min(steps, window))
    threshold = limits.gain * max(1.0, size)
    if most >= threshold:
        return memory._replace(flat=0), FINE
    saved = saving_usd(moment)
    return memory._replace(flat=memory.flat + 1, window=window), Reading(
        level="info",
        value=most,
        threshold=threshold,
        message=f"reward flat: the last {window} steps bought nothing",
        advice=f"stopping now saves {usd(saved)}" if saved else "stop, or change something",
    )


def tick(memory: Memory, moment: Moment, limits: Limits) -> tuple[Memory, Reading | None]:
    """Once the run is over nothing can be saved."""
    over = moment.status in ("finished", "crashed")
    return memory, _past(memory, moment, limits) if over else None


def _past(memory: Memory, moment: Moment, limits: Limits) -> Reading | None:
    """What was said already, with what it has cost; None where nothing was."""
    if memory.flat < _BELIEVED:
        return None
    done, spent = moment.state.steps_done, moment.spent_usd
    cost = spent * min(1.0, memory.window / done) if spent and done else None
    return Reading(
        level="info",
        threshold=limits.gain,
        message=f"reward flat: the last {memory.window} steps bought nothing",
        advice=f"they cost about {usd(cost)}" if cost else "the next run can be shorter",
    )


def steepest(values: tuple[float, ...]) -> float:
    """The 90 % upper bound of the slope per step, by least squares with an AR(1) standard error."""
    n = len(values)
    middle, mean = (n - 1) / 2, sum(values) / n
    squares = n * (n * n - 1) / 12
    slope = sum((i - middle) * x for i, x in enumerate(values)) / squares
    left = [x - mean - slope * (i - middle) for i, x in enumerate(values)]
    noise = sum(x * x for x in left)
    if noise <= 0:
        return slope
    neighbours = sum(a * b for a, b in zip(left[1:], left[:-1], strict=True))
    r = max(0.0, min(0.9, neighbours / noise))
    return slope + _UPPER_90 * math.sqrt(noise / (n - 2) / squares * (1 + r) / (1 - r))


RULE = Rule(
    name="reward_plateau",
    about="a reward that no longer rises",
    limits=Limits(),
    memory=Memory(),
    severities=("info",),
    debounce=Debounce(warning=(_BELIEVED, _BELIEVED), clear=10),
    observe=observe,
    tick=tick,
)
