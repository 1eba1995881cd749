"""Holds the steps' own times against the progress bar's clock, which leaves nothing out.

Its one rule: the bar counts whole seconds, so single steps are believed and only what they lack or
exceed together, beyond rounding, is put right.
"""

from dataclasses import dataclass

from .bars import Bar

ROUNDING_S = 1.5


@dataclass(slots=True)
class BarClock:
    """Compares what steps took, as logged, with what the bar says has passed."""

    _bar: Bar | None = None
    _told_s: float = 0.0
    """Seconds of the steps told since the bar was last believed."""
    _told: int = 0
    _apart_s: float = 0.0
    """What was added to the last step for validation and saving."""

    def step(self, duration_s: float, apart_s: float) -> None:
        """A step was told."""
        self._told += 1
        self._told_s += duration_s
        self._apart_s = apart_s

    def correct(self, bar: Bar) -> float:
        """Seconds to add to the last step (negative: to take away), now that the bar has moved on."""
        before, self._bar = self._bar, bar
        if before is None or bar.elapsed_s < before.elapsed_s or bar.step - before.step != self._told:
            self._start()
            return 0.0
        if not self._told:
            self._bar = before
            return 0.0
        missing = bar.elapsed_s - before.elapsed_s - self._told_s
        if missing > ROUNDING_S:
            self._start()
            return missing
        if missing < -ROUNDING_S:
            counted_twice = abs(missing + self._apart_s) <= ROUNDING_S + 0.05 * self._apart_s
            apart_s = self._apart_s
            self._start()
            return -apart_s if counted_twice else 0.0
        self._bar = (
            before  # not enough to tell from rounding yet: the next bar is held against the same start
        )
        return 0.0

    def _start(self) -> None:
        self._told = 0
        self._told_s = self._apart_s = 0.0
