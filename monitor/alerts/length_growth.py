"""Responses that grow: the first sign of a bill that will not be what was planned.

One-sided CUSUM (Page 1954) on the log of the mean length against the run's first steps: z in units of
their scatter, S = max(0, S + min(z, 6) - slack), S > height, and the EWMA(0.4) of the log at least
`warn` times the start. The second condition keeps a long, small drift quiet. Two readings of three over both
raise it; since the sum weighs the evidence of many steps, one suffices where it is far over. A run that
explodes while its start is still being learnt is held against its first three steps.
"""

import math
import statistics
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from ...models.text import ratio
from ..moment import Moment
from .baseline import spread
from .rule import FINE, Debounce, Reading, Rule, Unwatched, learning
from .stakes import advise, at_this_rate, extra_usd

_MOST_SD = 6.0
"""One wild step may not raise the sum by more."""
_CLEAR = 3.0
"""A sum of so many times `height` needs no second reading."""
_EARLY = 3
"""Steps that make up the start of a run that explodes at once, ..."""
_EARLY_RATIO = 1.5
"""... and how far above them the moving average must be, with three steps of growth in a row."""
_STILL_GROWING = 1.02
"""A moving average this far above that of five steps ago still grows."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Ratios to the median of the first `base_steps` steps; `slack` and `height` in standard deviations."""

    warn: float = 1.25
    critical: float = 1.8
    clear: float = 1.12
    slack: float = 0.75
    height: float = 6.0
    base_steps: int = 10
    least_sd: float = 0.03
    """In the log of the length."""


class Memory(NamedTuple):
    """Logs of lengths in tokens, and dollars a step."""

    first: tuple[float, ...] = ()
    learnt: bool = False
    costs: tuple[float, ...] = ()
    usual: float = 0.0
    usual_usd: float | None = None
    sd: float = 0.0
    total: float = 0.0
    now: float | None = None
    recent: tuple[float, ...] = ()
    first_step: int = 0


def observe(memory: Memory, moment: Moment, limits: Limits) -> tuple[Memory, Reading | Unwatched]:
    """One closed step."""
    length = moment.get("response_length_mean")
    if length is None or length <= 0:
        return memory, Unwatched("no response length in this log")
    z = math.log(length)
    now = z if memory.now is None else 0.6 * memory.now + 0.4 * z
    if not memory.learnt:
        memory = _learn(memory, moment, z, now, limits)
        if not memory.learnt or len(memory.first) == limits.base_steps:
            return memory, learning(len(memory.first), limits.base_steps)
    total = max(0.0, memory.total + min((z - memory.usual) / memory.sd, _MOST_SD) - limits.slack)
    memory = memory._replace(now=now, total=total, recent=(*memory.recent, now)[-6:])
    growth = _times(now - memory.usual)
    good = growth < limits.clear
    if total <= limits.height or growth < limits.warn:
        return memory, FINE if good else Reading(value=growth, threshold=limits.warn)
    critical = growth >= limits.critical
    return memory, Reading(
        level="critical" if critical else "warning",
        good=good,
        certain=total > _CLEAR * limits.height and not critical,
        value=growth,
        threshold=limits.critical if critical else limits.warn,
        message=_message(memory, moment, _times(z - memory.usual)),
        advice=_advice(memory, moment),
    )


def _times(logarithm: float) -> float:
    """The factor that a difference of logarithms is; no larger than a float can be."""
    return math.exp(min(logarithm, 700.0))


def _learn(memory: Memory, moment: Moment, z: float, now: float, limits: Limits) -> Memory:
    first = (*memory.first, z)
    usd = moment.cost.usd if moment.cost is not None else None
    costs = memory.costs if usd is None else (*memory.costs, usd)
    memory = memory._replace(first=first, costs=costs, now=now)
    if len(first) == 1 and moment.row is not None:
        memory = memory._replace(first_step=moment.row.step)
    if _explodes(first, now):
        return _settled(memory, first[:_EARLY], costs[:_EARLY], limits, total=limits.height)
    if len(first) < limits.base_steps:
        return memory
    return _settled(memory, first, costs, limits, total=0.0)


def _settled(
    memory: Memory, first: tuple[float, ...], costs: tuple[float, ...], limits: Limits, total: float
) -> Memory:
    """What is usual, from the logs of the first lengths."""
    # The scatter from step to step does not count a drift that was there from the first.
    steps = [b - a for a, b in pairwise(first)]
    scatter = statistics.pstdev(steps) / math.sqrt(2) if steps else 0.0
    return memory._replace(
        learnt=True,
        usual=statistics.median(first),
        usual_usd=statistics.median(costs) if costs else None,
        sd=max(limits.least_sd, spread(first), scatter),
        total=total,
    )


def _explodes(first: tuple[float, ...], now: float) -> bool:
    if len(first) < _EARLY + 3:
        return False
    grows = all(a < b for a, b in pairwise(first[-4:]))
    return grows and now - statistics.median(first[:_EARLY]) > math.log(_EARLY_RATIO)


def _message(memory: Memory, moment: Moment, growth: float) -> str:
    steps = moment.row.step - memory.first_step + 1 if moment.row is not None else len(memory.first)
    grows = memory.now is not None and memory.now - memory.recent[0] > math.log(_STILL_GROWING)
    return f"length {ratio(growth)} in {steps} steps{', still growing' if grows else ''}"


def _advice(memory: Memory, moment: Moment) -> str:
    return advise(
        at_this_rate(extra_usd(moment, memory.usual_usd)), "read some long responses, or add a length term"
    )


RULE = Rule(
    name="length_growth",
    about="responses that grow longer",
    limits=Limits(),
    memory=Memory(),
    debounce=Debounce(warning=(2, 3), critical=(2, 3)),
    observe=observe,
)
