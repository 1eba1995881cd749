"""Which step a row of a TRL console belongs to: the rows do not say, but the progress bar beside them does.

The rows go to standard output and the bar to standard error. On a terminal they alternate; in a file a
buffer may let ten rows come at once; a pasted log shows few bars. So rows wait for the next bar, and
the rule is: rows are evenly spaced, and none is ahead of the bar.
"""

import statistics
from collections import deque
from typing import NamedTuple

ROUND = (500, 250, 200, 100, 50, 25, 20, 10, 5, 4, 2, 1)
"""What people set logging_steps to, largest first."""
MOST_HELD = 256
SURE_ROWS = 3
"""Rows over which an even spacing is no coincidence."""
JUMP = 5.0
"""A row with so many times the usual tokens follows a gap: rows between were left out of the log."""


class Numbered(NamedTuple):
    """A row with its step."""

    step: int
    window: int
    """Steps that it stands for; 1 where that is not sure."""
    values: dict[str, float]
    at: float | None


class _Held(NamedTuple):
    values: dict[str, float]
    at: float | None
    jumps: bool


class StepNumbers:
    """Numbers the rows of one attempt."""

    def __init__(self, spacing: int | None = None) -> None:
        self.last = 0
        """The step of the newest row told."""
        self._spacing = spacing
        """Steps from row to row, once known."""
        self._sure = spacing is not None
        self._held: list[_Held] = []
        self._barred = False
        """Whether there is a bar to wait for."""
        self._tokens: float | None = None
        self._usual: deque[float] = deque(maxlen=20)

    def row(self, values: dict[str, float], at: float | None) -> list[Numbered]:
        """Rows that can be told now that this one has come."""
        self._held.append(_Held(values, at, self._jumps(values.get("num_tokens"))))
        return self.flush() if not self._barred or len(self._held) > MOST_HELD else []

    def bar(self, step: int) -> list[Numbered]:
        """Rows that can be told now that the bar stands at `step`."""
        self._barred = True
        if not self._held or step <= self.last:
            return []
        rows, self._held = self._held, []
        numbered: list[Numbered] = []
        gap = next((i for i, row in enumerate(rows) if row.jumps), None)
        spacing = self._spacing_to(step, len(rows)) if gap is None else self._spacing or 1
        if gap is not None and step - self.last > spacing * len(rows):
            numbered += self._count(rows[:gap], spacing)
            self.last = step - step % spacing - spacing * (len(rows) - gap)
            first, *others = self._count(rows[gap:], spacing)
            return [*numbered, first._replace(window=1), *others]
        return self._count(rows, spacing)

    def flush(self) -> list[Numbered]:
        """All rows that wait, counted on from the last."""
        rows, self._held = self._held, []
        return self._count(rows, self._spacing or 1)

    def _count(self, rows: list[_Held], spacing: int) -> list[Numbered]:
        numbered: list[Numbered] = []
        for row in rows:
            self.last += spacing
            numbered.append(Numbered(self.last, spacing if self._sure else 1, row.values, row.at))
        return numbered

    def _spacing_to(self, step: int, rows: int) -> int:
        """Steps from row to row, by how far the bar got while so many rows came."""
        if self._sure and self._spacing is not None:
            return self._spacing
        distance = step - self.last
        if distance % rows == 0:
            found = distance // rows
            self._sure = found == self._spacing or rows >= SURE_ROWS
        else:
            # The row that filled the buffer is still in it, hence one more than came.
            found = next((s for s in ROUND if distance // s in (rows, rows + 1)), max(1, distance // rows))
            self._sure = found == self._spacing
        self._spacing = found
        return found

    def _jumps(self, tokens: float | None) -> bool:
        """Whether the cumulative tokens grew far more than they use to."""
        before, self._tokens = self._tokens, tokens
        if tokens is None or before is None or tokens <= before:
            return False
        grown = tokens - before
        jumps = len(self._usual) >= 3 and grown > JUMP * statistics.median(self._usual)
        self._usual.append(grown)
        return jumps
