"""What a chart shows, and the drawing of it into lines of inked spans. Pure: no widget, no screen.

Where things meet in a cell, the measured line wins over the projected one, that over rules and marks,
and all of them over the band, which shines through as a ground of its own.
"""

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from types import MappingProxyType
from typing import NamedTuple

from . import axis, raster
from .glyphs import BLOCKS, BRAILLE, SHADE
from .lines import Line, Span
from .raster import Cover, View

ENOUGH = 500
"""Values that tell where the middle of a long series lies."""
APART = 3
"""Cells between two labels of the x axis."""
Labeller = Callable[[float, float], str]
"""(value, distance of ticks) -> label."""


@dataclass(frozen=True, slots=True)
class Curve:
    """A line through points; `xs` ascend, no value is NaN."""

    xs: Sequence[float]
    ys: Sequence[float]
    ink: str = "ours"
    dash: tuple[int, int] | None = None
    name: str = ""
    """What the crosshair calls it, where a chart has several."""
    right: bool = False
    """Whether its values are those of the axis at the right."""


@dataclass(frozen=True, slots=True)
class Fan:
    """An 80 % interval along x."""

    xs: Sequence[float]
    lows: Sequence[float]
    highs: Sequence[float]


@dataclass(frozen=True, slots=True)
class Rule:
    """A level across the chart, such as a budget."""

    y: float
    label: str
    ink: str


@dataclass(frozen=True, slots=True)
class Tick:
    """A place on the x axis with its own label."""

    x: float
    label: str
    ink: str = "label"
    line: bool = False
    """Whether a vertical line stands above it."""


@dataclass(frozen=True, slots=True)
class Mark:
    """Something that happened at x: a sign on the x axis. Of two in one cell the later of a plot's stays."""

    x: float
    sign: str
    ink: str
    word: str = ""
    """What the crosshair says of it."""


def plain_x(x: float) -> str:
    """An x as a whole number."""
    return f"{x:.0f}"


@dataclass(frozen=True, slots=True)
class Plot:
    """All of a chart. `curves` are drawn in order, the later over the earlier."""

    x_low: float
    x_high: float
    y_low: float
    y_high: float
    """What the y axis must cover; its round ends are chosen when the height is known."""
    curves: tuple[Curve, ...] = ()
    fan: Fan | None = None
    rules: tuple[Rule, ...] = ()
    ticks: tuple[Tick, ...] = ()
    """Labelled places of x; they come before round ones."""
    y_label: Labeller = axis.label
    x_axis: bool = True
    marks: tuple[Mark, ...] = ()
    x_label: Labeller = axis.label
    x_step: Callable[[float, int], float] = axis.nice_step
    """(span, parts at most) -> a round distance of x."""
    written: Callable[[float], str] = axis.exact
    """A value under the crosshair."""
    x_written: Callable[[float], str] = plain_x
    """Where the crosshair stands."""
    log: bool = False
    """Whether y is in decades; what is not above 0 is then left out."""
    right: tuple[float, float] | None = None
    """What a second y axis must cover, for the curves that are on it. Not where y is in decades."""


class Placed(NamedTuple):
    """Where a plot lies in its room."""

    view: View
    left: int
    """Cells before the grid: labels of y, and the axis."""
    labels: dict[int, str]
    """By row."""
    right: View | None = None
    """The same grid by the values of the axis at the right."""
    right_labels: Mapping[int, str] = MappingProxyType({})

    def view_of(self, curve: Curve) -> View:
        """The grid by the values of the axis that a curve is on."""
        return self.right if curve.right and self.right is not None else self.view


def place(plot: Plot, width: int, height: int, gutter: int = 0) -> Placed | None:
    """Where a plot that is not `log` lies in `width` × `height` cells; None where there is no room for it.

    `gutter` is the least width of the y labels, so that charts above each other line up.
    """
    rows = height - plot.x_axis
    if rows < 1 or width < 8:
        return None
    if plot.log:
        low, high, values = axis.decades(plot.y_low, plot.y_high, rows)
        labels = {value: plot.y_label(10**value, step) for value, step in values.items()}
    else:
        low, high, step = axis.scale(plot.y_low, plot.y_high, rows)
        labels = {value: plot.y_label(value, step) for value in axis.ticks(low, high, step)}
    gutter = max([gutter, *(len(text) for text in labels.values())])
    other = None if plot.right is None else axis.scale(*plot.right, rows)
    named = {} if other is None else {v: plot.y_label(v, other.step) for v in axis.ticks(*other)}
    beside = 0 if other is None else 1 + max((len(text) for text in named.values()), default=0)
    view = View(plot.x_low, plot.x_high, low, high, width - gutter - 2 - beside, rows)
    if view.width < 4:
        return None
    at = {view.row(value): text for value, text in labels.items()}
    if other is None:
        return Placed(view, gutter + 2, at)
    right = replace(view, y_low=other.low, y_high=other.high)
    return Placed(view, gutter + 2, at, right, {right.row(value): text for value, text in named.items()})


def in_decades(plot: Plot) -> Plot:
    """A `log` plot with its values as powers of ten, as `place` and `paint` want it; any other as it is."""
    if not plot.log:
        return plot
    positive = [y for curve in plot.curves for y in curve.ys if y > 0]
    least, most = min(positive, default=1.0), max(positive, default=1.0)
    low, high = (math.log10(max(y, least)) for y in (plot.y_low, plot.y_high))
    fan = plot.fan
    return replace(
        plot,
        y_low=low if plot.y_low > 0 else math.log10(least),
        y_high=max(high, math.log10(most)) if plot.y_high <= 0 else high,
        curves=tuple(_logged(curve) for curve in plot.curves),
        fan=None
        if fan is None
        else Fan(fan.xs, *([math.log10(max(y, least)) for y in ys] for ys in (fan.lows, fan.highs))),
        rules=tuple(replace(rule, y=math.log10(rule.y)) for rule in plot.rules if rule.y > 0),
    )


def _logged(curve: Curve) -> Curve:
    pairs = [(x, math.log10(y)) for x, y in zip(curve.xs, curve.ys, strict=True) if y > 0]
    return replace(curve, xs=[x for x, _ in pairs], ys=[y for _, y in pairs])


def draw(plot: Plot, width: int, height: int, plain: bool = False, gutter: int = 0) -> list[Line]:
    """The chart as `height` lines of `width` cells.

    `plain` is for screens without colour: the band is then shown by a sign instead of by its ground.
    `gutter` is the least width of the y labels, so that charts above each other line up.
    """
    plot = in_decades(plot)
    placed = place(plot, width, height, gutter)
    if placed is None:
        return [(Span(" " * width),)] * max(height, 0)
    return paint(plot, placed, width, plain)


def paint(plot: Plot, placed: Placed, width: int, plain: bool = False) -> list[Line]:
    """The lines of a plot that has been placed."""
    view, left, labels = placed[:3]
    beside = width - left - view.width
    ink = next((curve.ink for curve in reversed(plot.curves) if curve.right), "label")
    lines: list[Line] = []
    for index, body in enumerate(_cells(plot, placed, plain)):
        text = labels.get(index, "")
        last = index == view.height - 1
        edge = ("┼" if last else "┤") if text else ("└" if last else "│")
        line = (Span(f"{text:>{left - 2}} ", "label"), Span(edge, "axis"), *_spans(body))
        if placed.right is not None:
            text = placed.right_labels.get(index, "")
            edge = ("┴" if last else "├") if text else ("┘" if last else "│")
            line = (*line, Span(edge, "axis"), Span(f"{text:<{beside - 1}}", ink))
        lines.append(line)
    if plot.x_axis:
        lines.append(_x_labels(plot, view, width, left))
    return lines


def _cells(plot: Plot, placed: Placed, plain: bool) -> list[list[Span]]:
    """Every cell of the grid as a one-character span, painted from the ground up."""
    view = placed.view
    cells = _ground(plot, view)
    if plot.fan is not None:
        covers = raster.band(plot.fan.xs, plot.fan.lows, plot.fan.highs, view)
        for line, row in zip(cells, covers, strict=True):
            for column, cover in enumerate(row):
                if cover is not None:
                    line[column] = _on_band(line[column], cover, plain)
    for rule in plot.rules:
        _draw_level(cells, rule, view)
    for curve in plot.curves:
        masks = raster.curve(curve.xs, curve.ys, placed.view_of(curve), curve.dash)
        for index, mask in enumerate(masks):
            if mask:
                row, column = divmod(index, view.width)
                sign = chr(BRAILLE | _dots(cells[row][column].text) | mask)
                _put(cells[row], column, sign, curve.ink)
    for rule in plot.rules:
        _draw_label(cells, rule, view)
    return cells


def _ground(plot: Plot, view: View) -> list[list[Span]]:
    """An empty grid with the x axis along its lowest row, and a line at each place that wants one."""
    cells = [[Span(" ")] * view.width for _ in range(view.height)]
    if plot.x_axis:
        cells[-1] = [Span("─", "axis")] * view.width
    for tick in plot.ticks:
        column = view.column(tick.x)
        if not 0 <= column < view.width:
            continue
        if tick.line:
            for line in cells[: view.height - plot.x_axis]:
                line[column] = Span("┊", "mark")
        if plot.x_axis:
            cells[-1][column] = Span("┴", "axis")
    if plot.x_axis:
        for mark in plot.marks:
            if 0 <= (column := view.column(mark.x)) < view.width:
                cells[-1][column] = Span(mark.sign, mark.ink)
    return cells


def _dots(text: str) -> int:
    code = ord(text)
    return code & 0xFF if BRAILLE <= code <= BRAILLE + 0xFF else 0


def _put(line: list[Span], column: int, text: str, ink: str) -> None:
    """Write over a cell and keep the ground of the band."""
    on_band = line[column].ink.endswith("-band") or line[column].ink == "band"
    line[column] = Span(text, f"{ink}-band" if on_band else ink)


def _on_band(cell: Span, cover: Cover, plain: bool) -> Span:
    """The cell with the band behind or over it."""
    if plain:
        return Span(SHADE, "dim") if cell.text in " ─" and cover.eighths >= 4 else cell
    if cell.text not in " ─":
        return Span(cell.text, f"{cell.ink}-band") if cover.eighths >= 4 else cell
    if cover.eighths == 8 or (cover.low > 0 and cover.high < 8 and cover.eighths >= 4):
        return Span(SHADE, "band")
    if cover.low == 0:
        return Span(BLOCKS[cover.high], "edge")
    if cover.high == 8:
        return Span(BLOCKS[cover.low], "hollow-band")
    return cell


def _draw_level(base: list[list[Span]], rule: Rule, view: View) -> None:
    """A dashed line across, where the level lies within the scale."""
    row = view.row(rule.y)
    if 0 <= row < view.height:
        for column in range(view.width):
            _put(base[row], column, "┄", rule.ink)


def _draw_label(base: list[list[Span]], rule: Rule, view: View) -> None:
    """The name of a level at its left end, where a run has yet to rise; at the top if it is off the scale."""
    row = view.row(rule.y)
    label = f" {rule.label} " if row >= 0 else f" {rule.label} ↑ "
    for column, sign in enumerate(label[: view.width - 1], start=1):
        _put(base[min(max(row, 0), view.height - 1)], column, sign, rule.ink)


def _spans(cells: Sequence[Span]) -> list[Span]:
    """Runs of one ink joined."""
    return [
        Span("".join(cell.text for cell in run), ink)
        for ink, run in groupby(cells, key=lambda cell: cell.ink)
    ]


def _x_labels(plot: Plot, view: View, width: int, left: int) -> Line:
    """Labels below the axis: those asked for first, then round ones where there is room."""
    taken: list[tuple[int, Span]] = []
    step = plot.x_step(plot.x_high - plot.x_low, max(2, view.width // 12))
    rounds = [Tick(value, plot.x_label(value, step)) for value in axis.ticks(plot.x_low, plot.x_high, step)]
    for tick in (*plot.ticks, *rounds):
        column = view.column(tick.x)
        if not tick.label or not 0 <= column < view.width:
            continue
        start = min(max(left + column - len(tick.label) // 2, 0), width - len(tick.label))
        end = start + len(tick.label)
        if all(end + APART <= at or at + len(span.text) + APART <= start for at, span in taken):
            taken.append((start, Span(tick.label, tick.ink)))
    line: list[Span] = []
    at = 0
    for start, span in sorted(taken, key=lambda item: item[0]):
        line += [Span(" " * (start - at)), span]
        at = start + len(span.text)
    return (*line, Span(" " * (width - at)))


def sparkline(values: Sequence[float], width: int) -> str:
    """Values over `width` cells as blocks from their least to their greatest; newest at the right.

    Where several share a cell, the one furthest from the median of all is shown: a spike stays.
    """
    if not values or width < 1:
        return ""
    low, high = min(values), max(values)
    middle = statistics.median(values[:: max(1, len(values) // ENOUGH)])
    count = min(width, len(values))
    picked: list[float] = []
    for index in range(count):
        chunk = values[index * len(values) // count : (index + 1) * len(values) // count]
        least, most = min(chunk), max(chunk)
        picked.append(most if most - middle >= middle - least else least)
    if high <= low:
        return BLOCKS[1] * count
    return "".join(BLOCKS[1 + min(7, int((value - low) / (high - low) * 8))] for value in picked)
