"""Values that jump: what the spike rules share. A value is held against the last 50 of its own series.

z = (ln x - median) / max(0.15, 1.4826 × MAD). Above `single` once is told, since one bad batch passes;
above `repeated` in 3 of 5 steps warns. 20 quiet steps clear it.
"""

import math
import statistics
from dataclasses import dataclass
from typing import NamedTuple

from ...models.text import number, ratio
from ..moment import Moment
from .baseline import spread
from .rule import FINE, Debounce, Reading, Rule, Unwatched, learning

_MOST = 700.0
"""The logarithm of nearly the largest float."""
_KEPT = 50
_LEAST = 10
_LEAST_SD = 0.15
"""In the log: a series that hardly moves makes no spike of a 15 % change."""


@dataclass(frozen=True, slots=True)
class Limits:
    """In standard deviations of the logarithm."""

    single: float = 8.0
    repeated: float = 6.0


class Memory(NamedTuple):
    """Logarithms of the newest values, and which of the last five were high."""

    recent: tuple[float, ...] = ()
    high: tuple[bool, ...] = ()


def spike_rule(
    name: str, about: str, quantity: str, called: str, smallest: float, advice: str
) -> Rule[Memory, Limits]:
    """A rule on a canonical quantity. `smallest` is added to |x|, so that noise near zero is no spike."""

    def observe(memory: Memory, moment: Moment, limits: Limits) -> tuple[Memory, Reading | Unwatched]:
        x = moment.get(quantity)
        if x is None or not math.isfinite(x):
            return memory, Unwatched(f"no {called} in this log")
        y = math.log(abs(x) + smallest)
        recent = (*memory.recent, y)[-_KEPT:]
        if len(memory.recent) < _LEAST:
            return Memory(recent), learning(len(recent), _LEAST)
        z, usual = _scored(memory.recent, y, limits.repeated)
        high = (*memory.high, z > limits.repeated)[-5:]
        memory = Memory(recent, high)
        repeated = sum(high) >= 3
        if z <= limits.single and not (repeated and high[-1]):
            return memory, FINE
        usual_x = math.exp(usual) - smallest
        times = f", {ratio(abs(x) / usual_x)} the usual" if usual_x > smallest else ""
        return memory, Reading(
            level="warning" if repeated else "info",
            value=x,
            threshold=math.exp(min(usual + limits.repeated * max(_LEAST_SD, spread(recent)), _MOST)),
            message=f"{called} {number(x)}{times}",
            advice=advice,
        )

    return Rule(
        name=name,
        about=about,
        limits=Limits(),
        memory=Memory(),
        severities=("info", "warning"),
        debounce=Debounce(clear=20),
        observe=observe,
    )


def _scored(recent: tuple[float, ...], y: float, limit: float) -> tuple[float, float]:
    """(z, the median it is held against)."""
    if y - min(recent) < limit * _LEAST_SD:
        # It cannot reach the limit however the rest lies, and this spares most steps two sorts.
        return 0.0, 0.0
    middle = statistics.median(recent)
    return (y - middle) / max(_LEAST_SD, spread(recent)), middle
