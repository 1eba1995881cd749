"""MFU that is low in itself: most of what is paid for is not used.

The median of 5 steps of whole-step MFU, in which generation counts: a few percent is common in RL,
so the limit is low. The logged MFU of the update phase is a different quantity and is not read here.
"""

import statistics
from dataclasses import dataclass

from ...models.text import percent
from ..moment import Moment
from .mfu_drop import measured
from .rule import FINE, Debounce, Reading, Rule, Unwatched, learning
from .stakes import advise, usd_per_second


@dataclass(frozen=True, slots=True)
class Limits:
    """Shares of the peak from 0 to 1."""

    warn: float = 0.05
    clear: float = 0.07
    steps: int = 5


def observe(
    memory: tuple[float, ...], moment: Moment, limits: Limits
) -> tuple[tuple[float, ...], Reading | Unwatched]:
    """One closed step; the memory is the newest figures."""
    x = measured(moment, "mfu_whole_step")
    if x is None:
        return memory, Unwatched("no whole-step MFU: it takes model, GPU type, GPU count and step times")
    memory = (*memory, x)[-limits.steps :]
    if len(memory) < limits.steps:
        return memory, learning(len(memory), limits.steps)
    now = statistics.median(memory)
    if now >= limits.warn:
        return memory, FINE if now > limits.clear else Reading(value=now, threshold=limits.warn)
    return memory, Reading(
        level="info",
        value=now,
        threshold=limits.warn,
        message=f"MFU {percent(now)} over the whole step",
        advice=advise("fewer GPUs may do as well" if usd_per_second(moment) else "", "see the phases"),
    )


RULE = Rule(
    name="mfu_low",
    about="whole-step MFU below a few percent",
    limits=Limits(),
    memory=(),
    severities=("info",),
    debounce=Debounce(warning=(1, 1)),
    observe=observe,
)
