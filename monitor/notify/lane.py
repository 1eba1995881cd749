"""What one receiver has still to be told, and when to try. Pure: `now` (unix s) is handed in.

Its one rule: an urgent notice is never dropped; when too many others wait, the oldest of them go, and are
counted in a later message. What is under way does not wait: it is neither dropped nor counted as dropped.
"""

from collections.abc import Sequence
from random import Random

from .news import Notice

GATHER_S = 2.0
"""What comes within this time goes into one message."""
MOST_WAITING = 200
"""Notices kept for a receiver that cannot be reached, the urgent ones apart."""
FIRST_RETRY_S = 2.0
LAST_RETRY_S = 120.0


class Lane:
    """The notices for one receiver. `every_s` is the shortest time between two messages without an urgent
    notice."""

    def __init__(self, every_s: float, random: Random, gather_s: float = GATHER_S) -> None:
        self.left_out = 0
        """Notices that were dropped and that no message that arrived has counted."""
        self.failures = 0
        """Attempts in a row that failed."""
        self._every_s = every_s
        self._gather_s = gather_s
        self._random = random
        self._waiting: list[Notice] = []
        """The oldest first: those under way, then what came meanwhile."""
        self._under_way = 0
        self._told_left_out = 0
        """What the message under way counts as left out."""
        self._first_at = 0.0
        self._retry_at = 0.0
        self._sent_at: float | None = None

    @property
    def waiting(self) -> int:
        """Notices that have not arrived and still may."""
        return len(self._waiting)

    def add(self, notices: Sequence[Notice], now: float) -> None:
        """More to be told."""
        if notices and not self._waiting:
            self._first_at = now
        self._waiting += notices
        self._shorten()

    def due_at(self) -> float | None:
        """When to try next, or None while there is nothing to tell."""
        if not self._waiting:
            return None
        if self.failures:
            return self._retry_at
        gathered_at = self._first_at + self._gather_s
        if self._sent_at is None or any(notice.urgent for notice in self._waiting):
            return gathered_at
        return max(gathered_at, self._sent_at + self._every_s)

    def batch(self) -> tuple[Notice, ...]:
        """What to tell now, with `left_out`. It stays until `sent` says that it has arrived."""
        self._under_way, self._told_left_out = len(self._waiting), self.left_out
        return tuple(self._waiting)

    def sent(self, now: float) -> None:
        """The last batch has arrived. What came meanwhile stays, and the count of what was dropped."""
        del self._waiting[: self._under_way]
        self.left_out -= self._told_left_out
        self._under_way = self._told_left_out = 0
        self._first_at = self._sent_at = now
        self.failures = 0

    def failed(self, now: float) -> None:
        """It has not arrived: wait twice as long as the last time, less up to a half by chance, so that many
        watchers of one receiver do not all come back at once."""
        longest_s = min(LAST_RETRY_S, FIRST_RETRY_S * 2 ** min(self.failures, 20))
        self.failures += 1
        self._retry_at = now + longest_s * self._random.uniform(0.5, 1.0)
        self._under_way = self._told_left_out = 0
        self._shorten()

    def _shorten(self) -> None:
        waiting = self._waiting[self._under_way :]
        extra = sum(not notice.urgent for notice in waiting) - MOST_WAITING
        if extra <= 0:
            return
        self.left_out += extra
        kept = self._waiting[: self._under_way]
        for notice in waiting:
            if not notice.urgent and extra > 0:
                extra -= 1
                continue
            kept.append(notice)
        self._waiting = kept
