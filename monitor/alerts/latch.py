"""Raise once, escalate, clear once, re-arm: the only place where readings turn into alerts. Pure."""

from typing import Literal, NamedTuple

from ...models.alert import Severity
from .rule import RANK, Debounce, Level, Reading

Change = Literal["raised", "escalated", "cleared"]

_MOST_DOUBLINGS = 5
_SEVERITIES: tuple[Severity, ...] = ("critical", "warning", "info")


class Latch(NamedTuple):
    """Where one rule stands. A severity only rises until the alert is cleared as a whole."""

    severity: Severity | None = None
    """Of the alert that is up; None while there is none."""
    recent: tuple[Level, ...] = ()
    """The newest levels read, as many as the debounce looks at."""
    good: int = 0
    """Good readings in a row."""
    cleared: int = 0
    """How often it has been cleared."""

    @property
    def quiet(self) -> bool:
        """Whether nothing is up and nothing bad was read of late."""
        return self.severity is None and not self.recent

    def read(self, reading: Reading, debounce: Debounce) -> tuple["Latch", Change | None]:
        """The latch after one more reading, and what that changed."""
        if reading.level == "ok" and self.quiet:
            return self, None
        width = max(debounce.warning[1], debounce.critical[1])
        recent = (*self.recent, reading.level)[-width:]
        reached = _reached(recent, debounce)
        if reading.certain and reading.level != "ok":
            reached = reading.level
        if self.severity is None:
            if reached is not None:
                return Latch(reached, recent, 0, self.cleared), "raised"
            quiet = all(level == "ok" for level in recent)
            return Latch(None, () if quiet else recent, 0, self.cleared), None
        if reached is not None and RANK[reached] > RANK[self.severity]:
            return Latch(reached, recent, 0, self.cleared), "escalated"
        good = self.good + 1 if reading.good else 0
        if good >= debounce.clear * (2 ** min(self.cleared, _MOST_DOUBLINGS) if debounce.wary else 1):
            # Nothing of the old alert counts towards the next one.
            return Latch(cleared=self.cleared + 1), "cleared"
        return Latch(self.severity, recent, good, self.cleared), None


def _reached(recent: tuple[Level, ...], debounce: Debounce) -> Severity | None:
    """The highest severity that enough of the newest levels come up to."""
    for severity in _SEVERITIES:
        m, n = debounce.critical if severity == "critical" else debounce.warning
        if sum(RANK[level] >= RANK[severity] for level in recent[-n:]) >= m:
            return severity
    return None
