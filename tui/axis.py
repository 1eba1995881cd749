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


def decades(low: float, high: float, rows: int) -> tuple[float, float, dict[float, float]]:
    """A logarithmic y axis over the powers of ten low … high: its bounds, and its ticks as powers, each with
    the distance that tells how many digits its label needs.

    Ticks are whole powers where at least two are in view, else 1, 2 and 5 of each, else round numbers.
    """
    if not high - low > 1e-9:
        low, high = low - 0.3, high + 0.3
    pad = (high - low) * 0.03
    low, high = low - pad, high + pad
    most = max(2, rows // 3)
    apart = max(1, math.ceil((high - low) / most))
    whole = ticks(low, high, float(apart))
    if len(whole) < 2 and high - low > 0.7:
        powers = range(math.floor(low), math.ceil(high) + 1)
        whole = [power + math.log10(of) for power in powers for of in (1, 2, 5)]
        whole = [power for power in whole if low <= power <= high]
    if len(whole) >= 2:
        return low, high, {power: 10 ** math.floor(power + 1e-9) for power in whole}
    step = nice_step(10**high - 10**low, most)
    return low, high, {math.log10(value): step for value in ticks(10**low, 10**high, step) if value > 0}


_SPANS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200)
_DAY_S = 86_400.0


def span_step(span: float, count: int) -> float:
    """The smallest distance, round in seconds, minutes, hours or days, that makes at most `count` parts."""
    rough = span / max(count, 1)
    if not rough <= _SPANS[-1]:
        return nice_step(span / _DAY_S, count) * _DAY_S if span < math.inf else 1.0
    return float(next(step for step in _SPANS if step >= rough))


def exact(value: float) -> str:
    """A value as the crosshair gives it: six digits, as few as it needs."""
    return f"{value:.6g}".replace("e-0", "e-").replace("e+0", "e")


def span(seconds: float, step: float) -> str:
    """Wall time on an axis: `0`, `45s`, `20m`, `6h`, `1h30`, `2d`."""
    if seconds == 0:
        return "0"
    if step < 60:
        return f"{seconds:.0f}s"
    minutes = round(seconds / 60)
    hours, rest = divmod(minutes, 60)
    if step >= 86_400:
        return f"{hours // 24}d"
    if hours == 0:
        return f"{rest}m"
    return f"{hours}h{rest:02d}" if rest else f"{hours}h"
