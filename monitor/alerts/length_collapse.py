"""Responses that shrink to almost nothing: the policy has found that saying little pays.

EWMA(0.4) of the mean length against the median of the first 10 steps; 3 of 4 steps. Learning to be
brief halves a length in healthy runs, so the limits lie well below that.
"""

from dataclasses import dataclass

from ...models.text import ratio, tokens_unit
from ..moment import Moment
from .baseline import Baseline
from .rule import FINE, Debounce, Reading, Rule, Unwatched, learning


@dataclass(frozen=True, slots=True)
class Limits:
    """Ratios to the usual length."""

    warn: float = 0.30
    critical: float = 0.10
    clear: float = 0.45
    base_steps: int = 10


def observe(memory: Baseline, moment: Moment, limits: Limits) -> tuple[Baseline, Reading | Unwatched]:
    """One closed step."""
    length = moment.get("response_length_mean")
    if length is None:
        return memory, Unwatched("no response length in this log")
    learnt = len(memory.first) >= limits.base_steps
    memory = memory.add(length, limits.base_steps)
    if not learnt or not memory.usual:
        return memory, learning(len(memory.first), limits.base_steps)
    share = (memory.now or 0.0) / memory.usual
    good = share > limits.clear
    if share >= limits.warn:
        return memory, FINE if good else Reading(value=share, threshold=limits.warn)
    critical = share < limits.critical
    return memory, Reading(
        level="critical" if critical else "warning",
        value=share,
        threshold=limits.critical if critical else limits.warn,
        message=f"length {ratio(share)} of its start, now {tokens_unit(memory.now)}",
        advice="read some responses: the reward may be paid for saying nothing",
    )


RULE = Rule(
    name="length_collapse",
    about="responses that shrink to almost nothing",
    limits=Limits(),
    memory=Baseline(),
    debounce=Debounce(warning=(3, 4), critical=(3, 4)),
    observe=observe,
)
