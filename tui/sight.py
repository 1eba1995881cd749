"""Where the user looks: the crosshair, and the stretch of x on show. One for all charts of a screen. Pure."""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

from .plot import Plot

CLOSER = 0.5
"""What a zoom leaves of the stretch on show."""
NARROWEST = 1e-4
"""Share of the whole beyond which there is no zooming in."""
AIR = 0.04
"""Share of the data's height left free above and below, when zoomed."""


@dataclass(frozen=True, slots=True)
class Sight:
    """`at` is the x of the crosshair, if there is one; `low` … `high` what is on show, None where all is."""

    at: float | None = None
    low: float | None = None
    high: float | None = None

    def stretch(self, plot: Plot) -> tuple[float, float]:
        """What of the plot is on show."""
        return (plot.x_low if self.low is None else self.low, plot.x_high if self.high is None else self.high)

    def zoomed(self, plot: Plot, factor: float, around: float | None = None) -> "Sight":
        """`factor` times as much of the plot on show, `around` staying where it is."""
        low, high = self.stretch(plot)
        whole = plot.x_high - plot.x_low
        pivot = self.at if around is None else around
        if pivot is None or not low <= pivot <= high:
            pivot = high
        size = max((high - low) * factor, whole * NARROWEST)
        if size >= whole * (1 - 1e-9):
            return replace(self, low=None, high=None)
        start = pivot - (pivot - low) / (high - low) * size
        return self._within(plot, start, size)

    def panned(self, plot: Plot, by: float) -> "Sight":
        """The stretch on show moved by `by`; all of it stays where it is."""
        if self.low is None or self.high is None:
            return self
        return self._within(plot, self.low + by, self.high - self.low)

    def moved(self, plot: Plot, xs: Sequence[float], count: int) -> "Sight":
        """The crosshair `count` values on, or back when negative; the stretch on show goes with it."""
        if not xs:
            return self
        if self.at is None:
            index = max(bisect_right(xs, self.stretch(plot)[1]) - 1, 0)
        elif count > 0:
            index = min(bisect_right(xs, self.at) - 1 + count, len(xs) - 1)
        else:
            index = max(bisect_left(xs, self.at) + count, 0)
        return self.to(plot, xs[max(index, 0)])

    def to(self, plot: Plot, at: float) -> "Sight":
        """The crosshair at `at`, and that on show."""
        low, high = self.stretch(plot)
        there = replace(self, at=at)
        if low <= at <= high:
            return there
        return there._within(plot, at - (high - low) / 2, high - low)

    def _within(self, plot: Plot, start: float, size: float) -> "Sight":
        start = min(max(start, plot.x_low), plot.x_high - size)
        return replace(self, low=start, high=start + size)


def seen_through(plot: Plot, sight: Sight) -> Plot:
    """The part of a plot that is on show, its y axis fitted to what can be seen."""
    if sight.low is None or sight.high is None:
        return plot
    low, high = max(sight.low, plot.x_low), min(sight.high, plot.x_high)
    if high <= low:
        return plot
    ys: list[float] = []
    beside: list[float] = []
    for curve in plot.curves:
        start, stop = bisect_left(curve.xs, low), bisect_right(curve.xs, high)
        stretch = curve.ys[max(start - 1, 0) : stop + 1]
        (beside if curve.right else ys).extend((min(stretch), max(stretch)) if stretch else ())
    if plot.fan is not None:
        start, stop = bisect_left(plot.fan.xs, low), bisect_right(plot.fan.xs, high)
        ys += (*plot.fan.lows[start:stop], *plot.fan.highs[start:stop])
    if plot.right is not None and beside:
        plot = replace(plot, right=(min(beside), max(beside)))
    if not ys:
        return replace(plot, x_low=low, x_high=high)
    least, most = min(ys), max(ys)
    air = (most - least) * AIR
    floor = least - air if least < 0 or plot.log else max(least - air, 0.0)
    return replace(plot, x_low=low, x_high=high, y_low=least if plot.log else floor, y_high=most + air)
