"""What a step costs at most: with every response run to the token cap.

Its one rule: tokens at the cap are counted, time at the cap is inferred. On rented GPUs a step of
longer responses takes longer by a power of the length, and that power is learnt from the run.
"""

from dataclasses import dataclass, field
from math import log

_KEPT = 9
"""Few, since a step that is near the cap already says more than one that was far from it."""
_PRIOR_WEIGHT = 0.5
"""How much spread of log length it takes to outweigh the prior exponent of 1."""
_EXPONENT_RANGE = (0.2, 1.6)
"""Over 43 public runs the exponent had a median of 0.45; an exploding one had 1.24."""


@dataclass(slots=True)
class TimePower:
    """The exponent of step time in response length: a least-squares slope of logs, drawn to 1."""

    steps: int = 0
    length_mean: float = 0.0
    time_mean: float = 0.0
    length_spread: float = 0.0
    both_spread: float = 0.0

    def observe(self, length: float, seconds: float) -> None:
        """Take a step's response length (tokens) and time (s)."""
        self.steps += 1
        at, took = log(length), log(seconds)
        off = at - self.length_mean
        self.length_mean += off / self.steps
        self.time_mean += (took - self.time_mean) / self.steps
        self.length_spread += off * (at - self.length_mean)
        self.both_spread += off * (took - self.time_mean)

    @property
    def exponent(self) -> float:
        """Within the range that real runs have shown."""
        slope = (self.both_spread + _PRIOR_WEIGHT) / (self.length_spread + _PRIOR_WEIGHT)
        low, high = _EXPONENT_RANGE
        return min(high, max(low, slope))


@dataclass(slots=True)
class StepCeiling:
    """The dearest that an ordinary step can be, dollars."""

    recent: list[float] = field(default_factory=list[float])
    power: TimePower = field(default_factory=TimePower)

    def observe_tokens(self, usd_at_cap: float) -> None:
        """A step billed by tokens: what it would have cost at the cap is exact."""
        self.recent = [*self.recent, usd_at_cap][-_KEPT:]

    def observe_time(self, usd: float, usd_at_cap: float) -> None:
        """A step billed by time; `usd_at_cap` is in proportion to length, and is bent to the power learnt."""
        self.observe_tokens(usd * (usd_at_cap / usd) ** self.power.exponent)

    def usd(self) -> float | None:
        """The dearest that the last few steps tell of; None while none has told."""
        return max(self.recent) if self.recent else None
