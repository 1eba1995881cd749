"""Which step a row of a TRL console belongs to: the rows do not say, but the progress bar beside them does.

The rows go to standard output and the bar to standard error. On a terminal they alternate; in a file a
buffer may let ten rows come at once; a pasted log shows few bars. So rows wait for the next bar, and
the rule is: rows are evenly spaced, and none is ahead of the bar. Where several spacings would do, the
epochs in the rows decide: with the right one the whole training comes to a whole number of epochs.
"""

import math
import statistics
from collections import deque
from typing import NamedTuple

from .trl_rows import SPACINGS

MOST_HELD = 256
SURE_ROWS = 3
"""Rows over which an even spacing is no coincidence."""
JUMP = 5.0
"""A row with so many times the usual tokens follows a gap: rows between were left out of the log."""
EPOCH_DIGITS = 0.005
"""How far off a printed epoch may be: old versions print two digits."""
TOO_COARSE = 0.2
"""An uncertainty of so many epochs at the end proves nothing."""


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
        self.counted = 0
        """Rows told without a bar having been seen."""
        self._spacing = spacing
        """Steps from row to row, once known."""
        self._sure = spacing is not None
        self._held: list[_Held] = []
        self._barred = False
        """Whether there is a bar to wait for."""
        self._tokens: float | None = None
        self._usual: deque[float] = deque(maxlen=20)
        self._drawn = 0
        """How often the bar was drawn since the newest row told."""

    @property
    def waiting(self) -> bool:
        """Whether rows wait for a bar."""
        return bool(self._held)

    def take(self, other: "StepNumbers") -> None:
        """Take over the rows that wait for a bar there: they turned out to be of this attempt."""
        self._held, other._held = other._held, []
        self._barred = True

    def row(self, values: dict[str, float], at: float | None) -> list[Numbered]:
        """Rows that can be told now that this one has come."""
        self._held.append(_Held(values, at, self._jumps(values.get("num_tokens"))))
        return self.flush() if not self._barred or len(self._held) > MOST_HELD else []

    def bar(self, step: int, total: int = 0, drawn: int = 1) -> list[Numbered]:
        """Rows that can be told now that the bar stands at `step`; `drawn` pictures of it led there."""
        self._barred = True
        if step <= self.last:
            return []
        self._drawn += drawn
        if not self._held:
            return []
        rows, self._held = self._held, []
        numbered: list[Numbered] = []
        gap = next((i for i, row in enumerate(rows) if row.jumps), None)
        spacing = self._spacing_to(step, total, rows) if gap is None else self._spacing or 1
        if gap is not None and step - self.last > spacing * len(rows):
            numbered += self._count(rows[:gap], spacing)
            self.last = step - step % spacing - spacing * (len(rows) - gap)
            first, *others = self._count(rows[gap:], spacing)
            return [*numbered, first._replace(window=1), *others]
        distance = step - self.last
        if len(rows) == 1 and spacing == distance and self._drawn > distance // 4:
            # Nothing was left out of the log, or the bar would have been left out with it.
            (row,) = self._count(rows, spacing)
            return [row._replace(window=distance)]
        return self._count(rows, min(spacing, max(1, distance // len(rows))))

    def flush(self) -> list[Numbered]:
        """All rows that wait, counted on from the last."""
        rows, self._held = self._held, []
        self.counted = 0 if self._barred else self.counted + len(rows)
        return self._count(rows, self._spacing or 1)

    def _count(self, rows: list[_Held], spacing: int) -> list[Numbered]:
        numbered: list[Numbered] = []
        self._drawn = 0
        for row in rows:
            self.last += spacing
            numbered.append(Numbered(self.last, spacing if self._sure else 1, row.values, row.at))
        return numbered

    def _spacing_to(self, step: int, total: int, rows: list[_Held]) -> int:
        """Steps from row to row, by how far the bar got while so many rows came."""
        if self._sure and self._spacing is not None:
            return self._spacing
        distance, count = step - self.last, len(rows)
        even = distance % count == 0
        # The row that filled the buffer is still in it, hence one more than came.
        likely = [s for s in SPACINGS if distance // s in (count, count + 1)]
        if even:
            likely.insert(0, distance // count)
        proven = next((s for s in likely if self._fits(self.last + s * count, s, total, rows)), None)
        if proven is None and not self.last:
            # The log may begin in the middle of a training, which goes on from a checkpoint.
            for s in SPACINGS:
                if s * count < distance and self._fits(step - step % s, s, total, rows):
                    proven, self.last = s, step - step % s - s * count
                    break
        found = proven or (likely[0] if likely else max(1, distance // count))
        self._sure = found == self._spacing or proven is not None or (even and count >= SURE_ROWS)
        self._spacing = found
        return found

    def _fits(self, step: int, spacing: int, total: int, rows: list[_Held]) -> bool:
        """Whether the epochs of rows so far apart, the last of them at `step`, are those of their steps.

        And then the whole training comes to a whole number of epochs.
        """
        first, last = (row.values.get("epoch", 0.0) for row in (rows[0], rows[-1]))
        count = len(rows) - 1
        if not count or not 0 < first < last < math.inf:
            return False
        epochs, off_by = total * last / step, total * EPOCH_DIGITS / step
        whole = round(epochs)
        if whole < 1 or off_by >= TOO_COARSE or abs(epochs - whole) > off_by:
            return False
        a_step = whole / total
        return abs((last - first) / count - spacing * a_step) <= 2 * EPOCH_DIGITS / count

    def _jumps(self, tokens: float | None) -> bool:
        """Whether the cumulative tokens grew far more than they use to."""
        before, self._tokens = self._tokens, tokens
        if tokens is None or before is None or tokens <= before:
            return False
        grown = tokens - before
        jumps = len(self._usual) >= 3 and grown > JUMP * statistics.median(self._usual)
        self._usual.append(grown)
        return jumps
