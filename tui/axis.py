"""The y axis of a chart: which bounds and ticks suit its rows. Pure."""

import math
from typing import NamedTuple

from ..models.axis import dollars, label, nice_step, nice_top, share, ticks, token_count

__all__ = ["Scale", "dollars", "label", "nice_step", "nice_top", "scale", "share", "ticks", "token_count"]

_SPACINGS = (6, 5, 4, 3, 2)
"""Rows from one y tick to the next; of equally tight axes the one with fewer ticks is calmer."""


class Scale(NamedTuple):
    """A y axis: its bounds, and the distance of its ticks, which is a whole number of rows."""

    low: float
    high: float
    step: float


def scale(low: float, high: float, rows: int) -> Scale:
    """The tightest axis over low … high on `rows` rows of four dots with a round tick every few rows.

    `low` is on the lowest dot when it is round. Ticks a whole number of rows apart look even, which rounding
    each to its row does not.
    """
    if not high > low:
        pad = abs(high) * 0.1 or 1.0
        low, high = (0.0, high + pad) if low == 0 else (low - pad, high + pad)
    spacings = [apart for apart in _SPACINGS if rows * 4 - 1 >= 1.5 * apart * 4] or [max(1, rows // 2)]
    return min(
        (_spaced(low, high, rows, apart) for apart in spacings), key=lambda found: _cost(found, high - low)
    )


def _cost(found: Scale, span: float) -> float:
    """How bad an axis is: room that it wastes, and labels that it lacks."""
    height = found.high - found.low
    labels = math.floor(height / found.step + 1e-9) + 1
    return height / span + 0.3 * max(0, 3 - labels)


def _spaced(low: float, high: float, rows: int, apart: int) -> Scale:
    """The tightest axis with a tick every `apart` rows."""
    intervals = (rows * 4 - 1) / (apart * 4)
    step = nice_step((high - low) / intervals, 1)
    while True:
        bottom = math.floor(low / step + 1e-9) * step
        top = bottom + step * intervals
        if top >= high * (1 - 1e-12) - 1e-300:
            return Scale(bottom, top, step)
        # The rounding down of the lower end has used up the room above.
        step = nice_step(step * 1.01, 1)
