"""One key of the log as a chart: over steps, time, tokens or dollars; smoothed; on a logarithmic scale."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from ...models import text
from ...models.comparison import Measure
from ...models.text import printable
from ...monitor.along import Along
from ...monitor.frame import Frame
from .. import axis
from ..lines import Line, Span, cut
from ..marks import Marks
from ..plot import Curve, Labeller, Plot, Rule, Tick
from ..readings import Series
from ..smoothing import WEIGHTS, Smoothed
from .chart import Chart
from .charts import over_steps


@dataclass(frozen=True, slots=True)
class Scale:
    """How x reads for one measure."""

    label: Labeller
    written: Callable[[float], str]
    step: Callable[[float, int], float] = axis.nice_step
    tick: Callable[[float], str] | None = None
    """How the last place is written on the axis, where that is not as elsewhere."""


SCALES: dict[Measure, Scale] = {
    "step": Scale(axis.label, lambda x: f"step {x:.0f}", tick=lambda x: f"{x:.0f}"),
    "time": Scale(axis.span, text.duration_compact, axis.span_step),
    "tokens": Scale(axis.token_count, text.tokens_unit),
    "dollars": Scale(axis.dollars, text.usd),
}


@dataclass(frozen=True, slots=True)
class Way:
    """How keys are drawn."""

    measure: Measure = "step"
    weight: float = WEIGHTS[0]
    log: bool = False


class MetricChart(Chart):
    """The crosshair gives values as logged; where smoothed, the raw line stays behind in grey."""

    label_width = 6

    def __init__(self, key: str, along: Along) -> None:
        super().__init__()
        self.key = key
        self.pinned = False
        self._along = along
        self._way = Way()
        self._series, self._smoothed, self._marks = Series(), Smoothed(), Marks()

    def draw_so(self, way: Way, pinned: bool) -> None:
        """Draw in this way from now on."""
        if (way, pinned) != (self._way, self.pinned):
            self._way, self.pinned = way, pinned
            self.redraw()

    def ways(self) -> tuple[object, ...]:
        return (self._way,)

    def title(self, frame: Frame, width: int) -> Line | None:
        column = frame.state.history.raw.get(self.key, ())
        last = next((value for value in reversed(column) if value == value), None)
        told = text.UNKNOWN if last is None else axis.exact(last)
        hints = [
            word
            for word, on in (("log", self._way.log), (f"smooth {self._way.weight:g}", self._way.weight))
            if on
        ]
        pin = (Span("◆ ", "key"),) if self.pinned else ()
        name = Span(f"{cut(printable(self.key), max(width - 14, 8))}  ", "title")
        return (*pin, name, Span(told), Span("".join(f"  {hint}" for hint in hints), "dim"))

    def plot(self, frame: Frame) -> Plot | None:
        column = frame.state.history.raw.get(self.key)
        if column is None:
            return None
        measure = self._way.measure
        along = None if measure == "step" else self._along.read(frame, measure)
        xs, ys = self._series.read(frame, column, along)
        if not xs:
            return None
        curves = [Curve(xs, ys)]
        if self._way.weight:
            smooth = self._smoothed.read(
                ys, self._way.weight, (frame.state.amended, frame.state.history, measure)
            )
            curves = [Curve(xs, ys, "axis", name="logged"), Curve(xs, smooth, name="smoothed")]
        scale = (min(ys), max(ys))
        if measure == "step":
            plot = over_steps(frame, tuple(curves), scale, marks=self._marks.read(frame))
        else:
            plot = over(tuple(curves), scale, SCALES[measure])
        return replace(plot, log=self._way.log and max(ys) > 0)


def over(
    curves: Sequence[Curve],
    scale: tuple[float, float],
    x: Scale,
    rules: tuple[Rule, ...] = (),
    *,
    y_label: Labeller = axis.label,
    written: Callable[[float], str] = axis.exact,
    reach: float = 0.0,
) -> Plot:
    """A plot from nothing to a round end at or after `reach`, so that it seldom moves."""
    last = max(reach, *(curve.xs[-1] for curve in curves))
    half = x.step(last, 4) / 2
    high = math.ceil(last / half - 1e-9) * half if last > 0 else 1.0
    return Plot(
        0.0,
        high,
        *scale,
        tuple(curves),
        rules=rules,
        ticks=(Tick(0.0, x.label(0.0, 1.0)), Tick(last, (x.tick or x.written)(last), "strong")),
        y_label=y_label,
        x_label=x.label,
        x_step=x.step,
        x_written=x.written,
        written=written,
    )
