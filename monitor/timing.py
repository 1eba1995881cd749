"""How much wall time a run has used, from whatever its log tells of time. Pure; never reads a clock."""

from dataclasses import dataclass

from .history import Row


@dataclass(slots=True)
class Timekeeper:
    """Adds up wall seconds row by row.

    Three witnesses, and the longest is believed, since each can only leave something out: the sum of
    step durations (not what runs between steps), the span over which steps were seen to end (only
    what carries a time), and the run's own progress display (not what ran before it was shown).
    """

    before_s: float = 0.0
    """Durations up to and with the first step whose end is known."""
    after_s: float = 0.0
    """Durations of the steps after it."""
    first_ended_at: float | None = None
    last_ended_at: float | None = None
    last_duration_s: float | None = None
    timed: bool = False

    def add_row(self, row: Row) -> None:
        """Count a closed step."""
        duration = row.get("duration_s")
        if duration is not None:
            self.timed = True
            self.last_duration_s = duration
            if self.first_ended_at is None:
                self.before_s += duration
            else:
                self.after_s += duration
        ended_at = row.get("ended_at")
        if ended_at is not None:
            if self.first_ended_at is None:
                self.first_ended_at = ended_at
            self.last_ended_at = max(ended_at, self.last_ended_at or ended_at)

    def elapsed_s(self, shown_s: float, since_last_step_s: float | None) -> float | None:
        """Wall seconds up to now, or None when nothing was timed.

        `shown_s` is what the run's own progress display says, 0 where it says nothing;
        `since_last_step_s` what has passed since the last step ended, for a run that goes on.
        """
        span_s = 0.0
        if self.first_ended_at is not None and self.last_ended_at is not None:
            span_s = self.last_ended_at - self.first_ended_at
        if not self.timed and not span_s and not shown_s:
            return None
        stepped_s = self.before_s + max(self.after_s, span_s)
        return max(stepped_s + (since_last_step_s or 0.0), shown_s)
