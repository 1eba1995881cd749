"""Curves and bands on a grid of character cells: values in, braille masks and covered cells out. Pure.

Decimation keeps the least and the greatest value of each dot column, so a spike of one step is
never lost, however many steps share a column.
"""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from .glyphs import BRAILLE_BITS

DOT_ROWS = 4
DOT_COLUMNS = 2
THINNEST = 6
"""Eighths of a cell: a thinner band is no more than the line in its middle, and looks torn behind it."""


@dataclass(frozen=True, slots=True)
class View:
    """The part of the plane that a grid of `width` × `height` cells shows."""

    x_low: float
    x_high: float
    y_low: float
    y_high: float
    width: int
    height: int

    def column(self, x: float) -> int:
        """The cell column of x, which may lie outside of the grid."""
        return round(self.dot_x(x)) // DOT_COLUMNS

    def row(self, y: float) -> int:
        """The cell row of y, 0 at the top, which may lie outside of the grid."""
        return round(self.dot_y(y)) // DOT_ROWS

    def dot_x(self, x: float) -> float:
        span = self.x_high - self.x_low
        return (x - self.x_low) / span * (self.width * DOT_COLUMNS - 1) if span else 0.0

    def dot_y(self, y: float) -> float:
        span = self.y_high - self.y_low
        return (self.y_high - y) / span * (self.height * DOT_ROWS - 1) if span else 0.0


def curve(
    xs: Sequence[float], ys: Sequence[float], view: View, dash: tuple[int, int] | None = None
) -> bytearray:
    """Braille masks, a byte for each cell row by row, of the line through (xs, ys).

    `xs` ascend; no value is NaN. `dash` is (dot columns drawn, dot columns left out).
    """
    masks = bytearray(view.width * view.height)
    last_row = view.height * DOT_ROWS - 1
    for column, extent in enumerate(extents(xs, ys, view)):
        if extent is None or (dash and column % sum(dash) >= dash[0]):
            continue
        top, bottom = (round(view.dot_y(y)) for y in (extent[1], extent[0]))
        if bottom < 0 or top > last_row:
            continue
        _stroke(masks, view.width, column, max(top, 0), min(bottom, last_row))
    return masks


def extents(xs: Sequence[float], ys: Sequence[float], view: View) -> list[tuple[float, float] | None]:
    """The least and the greatest y of the line in each dot column; None where the line is not.

    Between points that are columns apart the line runs straight.
    """
    columns = view.width * DOT_COLUMNS
    found: list[tuple[float, float] | None] = [None] * columns
    if not xs or view.x_high <= view.x_low:
        return found
    per_column = (view.x_high - view.x_low) / (columns - 1) if columns > 1 else math.inf
    start = bisect_left(xs, view.x_low - per_column / 2)
    before: tuple[int, float] | None = None
    column = 0
    while start < len(xs) and column < columns:
        # The column of the next point: empty columns are passed over at once.
        column = max(column, round((xs[start] - view.x_low) / per_column)) if per_column < math.inf else 0
        if column >= columns:
            break
        stop = max(bisect_left(xs, view.x_low + (column + 0.5) * per_column, start), start + 1)
        chunk = ys[start:stop]
        low, high = min(chunk), max(chunk)
        if before is not None:
            low, high = _join(found, before, (column, chunk[0]), low, high)
        found[column] = (low, high)
        before = (column, chunk[-1])
        start = stop
        column += 1
    return found


def _join(
    found: list[tuple[float, float] | None],
    before: tuple[int, float],
    after: tuple[int, float],
    low: float,
    high: float,
) -> tuple[float, float]:
    """Lead the line from one column's last point to another's first; each column gets its stretch of it."""
    (x0, y0), (x1, y1) = before, after
    slope = (y1 - y0) / (x1 - x0)
    half = slope / 2
    old = found[x0]
    assert old is not None
    found[x0] = (min(old[0], y0 + half), max(old[1], y0 + half)) if x1 - x0 > 1 else old
    for x in range(x0 + 1, x1):
        y = y0 + slope * (x - x0)
        found[x] = (y - abs(half), y + abs(half))
    return min(low, y1 - half), max(high, y1 - half)


_RUNS = tuple(
    tuple(tuple(sum(bits[top : bottom + 1]) for bottom in range(DOT_ROWS)) for top in range(DOT_ROWS))
    for bits in BRAILLE_BITS
)
"""Mask of the dots of one column of a cell from row top to row bottom, by column, top and bottom."""


def _stroke(masks: bytearray, width: int, column: int, top: int, bottom: int) -> None:
    """Set the dots of one dot column from row `top` to `bottom`."""
    runs = _RUNS[column % DOT_COLUMNS]
    cell_column = column // DOT_COLUMNS
    first, last = top // DOT_ROWS, bottom // DOT_ROWS
    for row in range(first, last + 1):
        start = top % DOT_ROWS if row == first else 0
        end = bottom % DOT_ROWS if row == last else DOT_ROWS - 1
        masks[row * width + cell_column] |= runs[start][end]


@dataclass(frozen=True, slots=True)
class Cover:
    """How a band lies over one cell, in eighths of its height from below: rows low … high are covered."""

    low: int
    high: int

    @property
    def eighths(self) -> int:
        return self.high - self.low


def band(
    xs: Sequence[float], lows: Sequence[float], highs: Sequence[float], view: View
) -> list[list[Cover | None]]:
    """What the band between two lines covers, for each row of cells from the top; None where it is not."""
    grid: list[list[Cover | None]] = [[None] * view.width for _ in range(view.height)]
    if len(xs) < 2 or view.y_high <= view.y_low:
        return grid
    scale = view.height * 8 / (view.y_high - view.y_low)
    limit = view.height * 8
    for column in range(view.width):
        x = _x_of(view, column)
        if not xs[0] <= x <= xs[-1]:
            continue
        # In eighths of a cell above the bottom of the grid.
        low = round((_at(xs, lows, x) - view.y_low) * scale)
        high = round((_at(xs, highs, x) - view.y_low) * scale)
        if high - low < THINNEST:
            continue
        for row in range(max(0, limit - high) // 8, min(limit - max(low, 0) + 7, limit) // 8):
            floor = limit - (row + 1) * 8
            covered = Cover(max(low - floor, 0), min(high - floor, 8))
            if covered.eighths > 0:
                grid[row][column] = covered
    return grid


def _x_of(view: View, column: int) -> float:
    """The x in the middle of a cell column."""
    dots = view.width * DOT_COLUMNS - 1
    return view.x_low + (column * DOT_COLUMNS + 0.5) / dots * (view.x_high - view.x_low)


def _at(xs: Sequence[float], ys: Sequence[float], x: float) -> float:
    """The line's y at x, which lies within xs."""
    right = min(max(bisect_left(xs, x), 1), len(xs) - 1)
    x0, x1 = xs[right - 1], xs[right]
    return ys[right] if x1 <= x0 else ys[right - 1] + (ys[right] - ys[right - 1]) * (x - x0) / (x1 - x0)
