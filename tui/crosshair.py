"""The crosshair: the value of each curve under it, and its line over a chart that is drawn already. Pure.

Its one rule: it tells values that are there, never ones between two.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from .lines import Line, Span, overlaid
from .plot import Curve, Fan, Placed, Plot

BESIDE = 2
"""Cells between two values of the readout."""


def snapped(plot: Plot, x: float) -> float | None:
    """The x of the value that is nearest to x, among all curves; None where there is none."""
    near = [found for curve in plot.curves if (found := _nearest(curve.xs, x)) is not None]
    return min(near, key=lambda found: abs(found - x), default=None)


def _nearest(xs: Sequence[float], x: float) -> float | None:
    if not xs:
        return None
    right = min(bisect_left(xs, x), len(xs) - 1)
    left = max(right - 1, 0)
    return xs[left] if abs(xs[left] - x) <= abs(xs[right] - x) else xs[right]


def value_at(curve: Curve, x: float) -> float | None:
    """The curve's newest value at or before x; None before its first and after its last."""
    if not curve.xs or x < curve.xs[0] or x > curve.xs[-1]:
        return None
    return curve.ys[bisect_right(curve.xs, x) - 1]


def _range_at(fan: Fan, x: float) -> tuple[float, float] | None:
    if not fan.xs or x < fan.xs[0] or x > fan.xs[-1]:
        return None
    index = bisect_right(fan.xs, x) - 1
    return fan.lows[index], fan.highs[index]


def readout(plot: Plot, at: float, terse: int = 0) -> Line:
    """Where the crosshair stands, the value of each curve there, the interval, and what happened there.

    `terse` 1 leaves out names, interval and events, 2 all values but that of the last curve.
    """
    spans: list[Span] = [Span(plot.x_written(at), "strong")]
    told = [(curve, value) for curve in reversed(plot.curves) if (value := value_at(curve, at)) is not None]
    named = [(curve, value) for index, (curve, value) in enumerate(told) if not index or curve.name]
    for curve, value in named[: 1 if terse > 1 else None]:
        name = f"{curve.name} " if curve.name and not terse else ""
        spans += [
            Span(" " * BESIDE + name, "dim"),
            Span(plot.written(value), "dim" if curve.ink == "axis" else curve.ink),
        ]
    if not told:
        spans.append(Span(" " * BESIDE + "–", "dim"))
    if terse:
        return tuple(spans)
    if plot.fan is not None and (found := _range_at(plot.fan, at)) is not None:
        spans.append(Span(f"{' ' * BESIDE}{plot.written(found[0])} – {plot.written(found[1])}", "dim"))
    for mark in plot.marks:
        if mark.x == at and mark.word:
            spans.append(Span(f"{' ' * BESIDE}{mark.sign} {mark.word}", mark.ink))
    return tuple(spans)


def crossed(lines: Sequence[Line], plot: Plot, placed: Placed, at: float) -> list[Line]:
    """The drawn plot with a line at `at`, and the value of each curve marked on it.

    `plot` is as it was painted: in decades where it is `log`.
    """
    view = placed.view
    column = view.column(at)
    if not 0 <= column < view.width:
        return list(lines)
    points = {
        placed.view_of(curve).row(value): curve.ink
        for curve in plot.curves
        if (value := value_at(curve, at)) is not None
    }
    crossed: list[Line] = []
    for row, line in enumerate(lines):
        if row >= view.height:
            crossed.append(line)
        elif row in points:
            crossed.append(overlaid(line, placed.left + column, Span("◆", points[row])))
        else:
            crossed.append(overlaid(line, placed.left + column, Span("│", "mark"), over=" ─░┊┄▁▂▃▄▅▆▇█┴"))
    return crossed
