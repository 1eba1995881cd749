"""How much wall time a run has used, from whatever its log tells of time. Pure; never reads a clock."""

from dataclasses import dataclass

from ..models.text import duration
from .history import Row
from .status import LEFT_S

UNUSUAL = 20.0
"""A silence is one only where it is so many times as long as a step has been so far."""


@dataclass(slots=True)
class Timekeeper:
    """Adds up wall seconds row by row.

    Three witnesses, and the longest is believed, since each can only leave something out: the sum of
    step durations (not what runs between steps), the span over which steps were seen to end (only
    what carries a time), and the run's own progress display (not what ran before it was shown).
    A run that was silent for more than a day was left and later resumed: nobody knows that its GPUs were
    held meanwhile, so that this time is no part of it.
    """

    before_s: float = 0.0
    """Durations up to and with the first step whose end is known."""
    after_s: float = 0.0
    """Durations of the steps after it."""
    first_ended_at: float | None = None
    last_ended_at: float | None = None
    last_duration_s: float | None = None
    timed: bool = False
    left_s: float = 0.0
    """Seconds for which the run had been left."""
    _seen_to_end: int = 0

    def add_row(self, row: Row) -> None:
        """Count a closed step."""
        duration_s = row.get("duration_s")
        if duration_s is not None:
            self.timed = True
            self.last_duration_s = duration_s
            if self.first_ended_at is None:
                self.before_s += duration_s
            else:
                self.after_s += duration_s
        ended_at = row.get("ended_at")
        if ended_at is not None:
            if self.first_ended_at is None or self.last_ended_at is None:
                self.first_ended_at = self.last_ended_at = ended_at
            silent_s = ended_at - self.last_ended_at - (duration_s or 0.0)
            if silent_s > LEFT_S and 0 < UNUSUAL * self._usual_s < silent_s:
                self.left_s += silent_s
            self._seen_to_end += 1
            self.last_ended_at = max(ended_at, self.last_ended_at)

    @property
    def note(self) -> str | None:
        """What is not counted, and why; None where everything is."""
        if not self.left_s:
            return None
        return f"{duration(self.left_s)} without a step are not counted: the GPUs need not have been held"

    @property
    def _usual_s(self) -> float:
        """Wall seconds of a step so far; 0 where nothing tells."""
        if self.first_ended_at is None or self.last_ended_at is None or self._seen_to_end < 2:
            return self.before_s
        return (self.last_ended_at - self.first_ended_at - self.left_s) / (self._seen_to_end - 1)

    def elapsed_s(self, shown_s: float, since_last_step_s: float | None) -> float | None:
        """Wall seconds up to now, or None when nothing was timed.

        `shown_s` is what the run's own progress display says, 0 where it says nothing;
        `since_last_step_s` what has passed since the last step ended, for a run that goes on.
        """
        span_s = 0.0
        if self.first_ended_at is not None and self.last_ended_at is not None:
            span_s = self.last_ended_at - self.first_ended_at - self.left_s
        if not self.timed and not span_s and not shown_s:
            return None
        stepped_s = self.before_s + max(self.after_s, span_s)
        return max(stepped_s + (since_last_step_s or 0.0), shown_s)
