"""When the next evaluations and checkpoints fall, and what one comes to.

Its one rule: what the log did beats what the configuration said, once two equal gaps have been seen.
"""

from dataclasses import dataclass, field
from statistics import median

_KEPT = 5


@dataclass(slots=True)
class Cadence:
    """Something that happens every so many steps and costs money or time of its own."""

    last_step: int | None = None
    seen: int = 0
    gaps: list[int] = field(default_factory=list[int])
    usd: list[float] = field(default_factory=list[float])
    """What the last few cost, dollars. Where they scale with length: per token of response length."""
    seconds: list[float] = field(default_factory=list[float])

    def observe(self, step: int, usd: float | None, seconds: float | None, length: float | None) -> None:
        """One has happened at `step`; `length` is the response length then, if the cost goes with it."""
        if self.last_step is not None and step > self.last_step:
            self.gaps = [*self.gaps, step - self.last_step][-_KEPT:]
        self.last_step = step if self.last_step is None else max(step, self.last_step)
        self.seen += 1
        if usd is not None:
            self.usd = [*self.usd, usd / (length or 1.0)][-_KEPT:]
        if seconds is not None:
            self.seconds = [*self.seconds, seconds / (length or 1.0)][-_KEPT:]

    @property
    def usual_gap(self) -> int | None:
        """The gap that the log has kept to, in steps; None before two gaps agree."""
        if len(self.gaps) < 2:
            return None
        middle = round(median(self.gaps))
        return middle if self.gaps.count(middle) * 2 > len(self.gaps) else None

    def every(self, planned: int | None) -> int | None:
        """Steps from one to the next: as the log shows, else as planned."""
        if self.usual_gap is not None:
            return self.usual_gap
        if planned is not None:
            return planned if planned > 0 else None
        return self.gaps[-1] if self.gaps else None

    def contradicts(self, planned: int | None) -> bool:
        """Whether the log keeps to another gap than the plan says."""
        return bool(planned and planned > 0) and self.usual_gap not in (None, planned)

    def to_come(self, after: int, last: int, planned: int | None, at_end: bool | None) -> int:
        """How many fall on the steps after `after`, up to and with `last`."""
        every = self.every(planned)
        if last <= after:
            return 0
        ending = 1 if at_end else 0
        if every is None:
            return ending
        base = self.last_step if self.last_step is not None else after - after % every
        count = max(0, (last - base) // every) - max(0, (after - base) // every)
        return count + (ending if (last - base) % every else 0)

    def unit_usd(self) -> float | None:
        """What the next one costs, dollars (per token of length)."""
        return median(self.usd) if self.usd else None

    def unit_seconds(self) -> float | None:
        """How long the next one takes, seconds (per token of length)."""
        return median(self.seconds) if self.seconds else None
