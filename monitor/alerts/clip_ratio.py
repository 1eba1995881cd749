"""Responses cut at the token cap: they are paid for in full and often scored as wrong.

Only a figure that the source vouches for is read. EWMA(0.4) against an absolute limit and against
the run's own start: max(limit, median of the first 10 steps + rise), twice the rise for critical;
3 of 4 steps to warn, 2 of 3 for critical, clear below 0.7 of the limit.

With a handful of responses a step the figure jumps by itself. How much is told by how it bends from step to
step: the average then reaches further back, until its own scatter is 3 points at most, and the rise must be
four times the scatter of the difference between the average and the start.
"""

import math
import statistics
from dataclasses import dataclass
from typing import NamedTuple

from ...models.text import number, percent, tokens, usd
from ..moment import Moment
from .baseline import Baseline
from .rule import FINE, Debounce, Reading, Rule, Unwatched
from .stakes import advise


@dataclass(frozen=True, slots=True)
class Limits:
    """Shares from 0 to 1."""

    warn: float = 0.10
    critical: float = 0.25
    rise: float = 0.08
    """Above the start of the run."""
    base_steps: int = 10
    clear: float = 0.7
    """Of the limit."""


_WEIGHT = 0.4
_SCATTER = 0.03
"""Of the average, at most."""
_BENDS = 20
"""Second differences that tell the noise."""


class Memory(NamedTuple):
    """The share at first and now, and how it bends from step to step."""

    shares: Baseline = Baseline()
    bends: tuple[float, ...] = ()
    last: tuple[float, ...] = ()
    """The newest two shares."""
    noise: float = 0.0
    """The scatter of one step; 0 before it is known."""

    def add(self, share: float, base_steps: int) -> "Memory":
        """One more step."""
        shares = self.shares.add(share, base_steps, weight=_weight(self.noise))
        last = (*self.last, share)[-2:]
        if len(self.last) < 2:
            return Memory(shares, last=last)
        bends = (*self.bends, abs(share - 2 * self.last[1] + self.last[0]))[-_BENDS:]
        return Memory(shares, bends, last, _noise(bends))

    def rise(self, limits: Limits) -> float:
        """How far above the start is more than noise."""
        weight = _weight(self.noise)
        # The variance of a median of n is 1.57 times that of their mean.
        own = self.noise * math.sqrt(1.57 / limits.base_steps + weight / (2 - weight))
        return max(limits.rise, 4 * own)


def _noise(bends: tuple[float, ...]) -> float:
    """Second differences of normal noise scatter by the root of 6 times as much, and their median is 0.6745
    times that; a steady rise leaves them as they are."""
    return statistics.median(bends) / (0.6745 * math.sqrt(6)) if len(bends) >= 3 else 0.0


def _weight(noise: float) -> float:
    """Of the newest step in the average: one of weight w scatters by sqrt(w / (2 - w)) times one step."""
    if noise < _SCATTER / 1000:
        return _WEIGHT
    share = (_SCATTER / noise) ** 2
    return min(_WEIGHT, 2 * share / (1 + share))


def observe(memory: Memory, moment: Moment, limits: Limits) -> tuple[Memory, Reading | Unwatched]:
    """One closed step."""
    if moment.state.clip_reliable is False:
        return memory, Unwatched(moment.state.clip_why or "the log's clip ratio cannot be trusted")
    clip = moment.get("clip_ratio")
    if clip is None:
        return memory, Unwatched("no clip ratio in this log")
    if not 0 <= clip <= 1:
        return memory, Unwatched(f"a clip ratio of {number(clip)} is no share")
    memory = memory.add(clip, limits.base_steps)
    now, usual, rise = memory.shares.now or 0.0, memory.shares.usual or 0.0, memory.rise(limits)
    warn, critical = max(limits.warn, usual + rise), max(limits.critical, usual + 2 * rise)
    good = now < limits.clear * min(warn, limits.critical)
    if now < warn and now < limits.critical:
        return memory, Reading(good=good, value=now, threshold=warn) if not good else FINE
    # Of a figure that jumps, one step is no more than a sample.
    shown, on_average = (clip, "") if memory.noise <= _SCATTER else (now, " on average")
    cap = moment.info.max_tokens
    where = f"cut at {tokens(cap)}" if cap else "cut at the token cap"
    if now < warn:
        # As it has been from the first step on: perhaps meant, so it is told and not warned of.
        level, threshold, when = "info", limits.critical, ", from the start"
    else:
        level, threshold = ("critical", critical) if now >= critical else ("warning", warn)
        when = ""
    return memory, Reading(
        level=level,
        good=good,
        value=now,
        threshold=threshold,
        message=f"clip ratio {percent(shown)} of responses {where}{on_average}{when}",
        advice=advise("raise the cap or add a length term", _paid(moment, clip)),
    )


def _paid(moment: Moment, clip: float) -> str:
    """What one step pays for responses that were cut, by their share of the tokens."""
    cost, length, cap = moment.cost, moment.get("response_length_mean"), moment.info.max_tokens
    if cost is None or cost.usd is None or not length or not cap or clip * cap > length:
        return ""
    return f"cut responses take {usd(clip * cap / length * cost.usd)} a step"


RULE = Rule(
    name="clip_ratio",
    about="responses cut at the token cap",
    limits=Limits(),
    memory=Memory(),
    severities=("info", "warning", "critical"),
    debounce=Debounce(warning=(3, 4), critical=(2, 3)),
    observe=observe,
)
