"""Steps that run again after a restart: which those are, and what the lost ones had cost."""

from ..history import Row


class Repeats:
    """Follows the rows in order. Each row is kept and thrown out at most once, so a row costs O(1)."""

    def __init__(self) -> None:
        self.lost_usd = 0.0
        """Dollars of steps that a restart has made void: paid for, but gone from the run's own counters."""
        self._attempt = 0
        self._kept: list[tuple[int, float]] = []
        self._void_before = -1
        """Steps up to this one had been done before the latest restart."""

    def add(self, row: Row, usd: float) -> bool:
        """Take a row that cost `usd`; whether its step had been done before a restart."""
        if row.attempt > self._attempt:
            self._attempt = row.attempt
            while self._kept and self._kept[-1][0] >= row.step:
                step, lost = self._kept.pop()
                self.lost_usd += lost
                self._void_before = max(self._void_before, step)
        self._kept.append((row.step, usd))
        return row.attempt > 0 and row.step <= self._void_before
