"""A chart as SVG to stand inside a page, whose style sheet gives the colours: light and dark both work.

Its one rule: a spike is never lost. Where there are more points than pixels, each pixel keeps its lowest and
highest.
"""

import math
from collections.abc import Iterator, Sequence
from html import escape

from ...models import axis
from ...models.alert import Alert
from .content import Chart, Point, Series

WIDTH, HEIGHT = 520.0, 200.0
LEFT, RIGHT, TOP, BOTTOM = 46.0, 82.0, 8.0, 22.0
NAME_HEIGHT = 13.0
TICKS = 5


class _Plane:
    """From steps and values to pixels."""

    def __init__(self, chart: Chart) -> None:
        points = [point for one in chart.series for point in one.points]
        steps = [step for step, _ in points]
        values = [value for _, value in points if math.isfinite(value)]
        values += [value for _, value in chart.levels if value < 3 * max(values, default=0.0)]
        if chart.interval is not None:
            steps.append(chart.interval[0])
            values += chart.interval[1:]
        self.first, self.last = min(steps), max(max(steps), min(steps) + 1)
        low, high = min(values, default=0.0), max(values, default=1.0)
        low = min(low, 0.0) if chart.from_zero else low
        if high <= low:
            low, high = low - (abs(low) * 0.1 or 0.5), high + (abs(high) * 0.1 or 0.5)
        self.step = axis.nice_step(high - low, TICKS)
        self.low = math.floor(low / self.step + 1e-9) * self.step
        self.high = math.ceil(high / self.step - 1e-9) * self.step

    def x(self, step: float) -> float:
        return LEFT + (step - self.first) / (self.last - self.first) * (WIDTH - LEFT - RIGHT)

    def y(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return TOP + (1 - min(max(share, -0.02), 1.02)) * (HEIGHT - TOP - BOTTOM)


def chart_svg(chart: Chart, alerts: Sequence[Alert] = ()) -> str:
    """The chart, with the alerts as marks on the step axis."""
    plane = _Plane(chart)
    return "".join(
        (
            f'<svg viewBox="0 0 {WIDTH:.0f} {HEIGHT:.0f}" role="img" aria-label="{escape(chart.title)}">',
            *_grid(chart, plane),
            *_interval(chart, plane),
            *_levels(chart, plane),
            *(_line(one, plane) for one in chart.series),
            *_marks(alerts, plane),
            *_names(chart, plane),
            "</svg>",
        )
    )


def _grid(chart: Chart, plane: _Plane) -> Iterator[str]:
    right = WIDTH - RIGHT
    for value in axis.ticks(plane.low, plane.high, plane.step):
        y = plane.y(value)
        yield f'<path class="grid" d="M{LEFT} {y:.1f}H{right}"/>'
        words = escape(chart.tick(value, plane.step))
        yield f'<text x="{LEFT - 6}" y="{y + 4:.1f}" class="end">{words}</text>'
    distance = max(1.0, axis.nice_step(plane.last - plane.first, 8))
    for step in axis.ticks(plane.first, plane.last, distance):
        yield f'<text x="{plane.x(step):.1f}" y="{HEIGHT - 6}" class="mid">{step:.0f}</text>'


def _interval(chart: Chart, plane: _Plane) -> Iterator[str]:
    if chart.interval is None or not chart.series[0].points:
        return
    step, low, high = chart.interval
    at, value = chart.series[0].points[-1]
    start = f"M{plane.x(at):.1f} {plane.y(value):.1f}"
    yield f'<path class="band" d="{start}L{plane.x(step):.1f} {plane.y(high):.1f}V{plane.y(low):.1f}Z"/>'


def _levels(chart: Chart, plane: _Plane) -> Iterator[str]:
    for _, value in chart.levels:
        if plane.low <= value <= plane.high:
            yield f'<path class="level" d="M{LEFT} {plane.y(value):.1f}H{WIDTH - RIGHT}"/>'


def _line(one: Series, plane: _Plane) -> str:
    places = [f"{plane.x(step):.1f} {plane.y(value):.1f}" for step, value in _thinned(one.points, plane)]
    return f'<path class="{one.kind}" d="M{"L".join(places)}"/>' if places else ""


def _thinned(points: Sequence[Point], plane: _Plane) -> Iterator[Point]:
    """At most four points a pixel: first, lowest, highest, last, in the order in which they came."""
    column: list[Point] = []
    place = None
    for point in (point for point in points if math.isfinite(point[1])):
        here = int(plane.x(point[0]))
        if here != place:
            yield from _extremes(column)
            column, place = [], here
        column.append(point)
    yield from _extremes(column)


def _extremes(column: list[Point]) -> list[Point]:
    if len(column) <= 4:
        return column
    values = [value for _, value in column]
    kept = sorted({0, values.index(min(values)), values.index(max(values)), len(column) - 1})
    return [column[index] for index in kept]


def _marks(alerts: Sequence[Alert], plane: _Plane) -> Iterator[str]:
    for alert in alerts:
        if alert.severity != "info" and plane.first <= alert.step <= plane.last:
            words = escape(f"{alert.severity}: {alert.message}, step {alert.step}")
            yield (
                f'<path class="mark {alert.severity}" d="M{plane.x(alert.step):.1f} {TOP}V{HEIGHT - BOTTOM}">'
                f"<title>{words}</title></path>"
            )


def _names(chart: Chart, plane: _Plane) -> Iterator[str]:
    """Each line's name beside its end; names that would lie on each other are moved apart."""
    ends = [
        (plane.y(one.points[-1][1]), one.label.split(",")[0], one.kind) for one in chart.series if one.points
    ]
    ends += [
        (plane.y(value), name, "level") for name, value in chart.levels if plane.low <= value <= plane.high
    ]
    above = -NAME_HEIGHT
    for end, name, kind in sorted(ends):
        y = above = max(end, above + NAME_HEIGHT)
        yield f'<text class="{kind}" x="{WIDTH - RIGHT + 6}" y="{y + 4:.1f}">{escape(name)}</text>'
