"""The charts of the overview: cost so far, response length, and any one column over the steps."""

from collections.abc import Callable, Sequence

from ...models import text
from ...models.projection import FanPoint
from ...models.value import Quantiles
from ...monitor.frame import Frame
from .. import axis
from ..lines import Line, Span
from ..marks import Marks
from ..plot import Curve, Fan, Labeller, Mark, Plot, Rule, Tick
from ..readings import Series, first_step, last_step, tail
from .chart import HEADROOM, Chart

DASH = (2, 1)
"""The projected line: two dot columns on, one off."""
EARLY = 8
"""A run that has done less than this part of its steps is drawn on as much of the axis as halving leaves it:
what is measured would else be a line upwards at its left end."""
RECENT = 5
"""Steps after which a value that is no longer told counts as unknown."""
REACH = 2.0
"""A level further than this above all data is named at the top instead of squeezing the data."""


class CostChart(Chart):
    """Dollars so far, and the interval of what they may become."""

    nothing = "no dollars to draw"

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._spent = Series()
        self._marks = Marks()

    def title(self, frame: Frame, width: int) -> Line | None:
        if width >= 76 and not self.has_class(
            "-maximized"
        ):  # alone on the screen, the figures above it are its title
            return None
        so_far = (Span("DOLLARS  ", "title"), Span("━ ", "ours"), Span("so far   ", "dim"))
        if not frame.projection.fan:
            return so_far
        likely = (Span("╌ ", "projected"), Span("likely   ", "dim"))
        return (*so_far, *likely, Span("░", "band"), Span(" 80 % range", "dim"))

    def plot(self, frame: Frame) -> Plot | None:
        xs, ys = self._spent.read(frame, frame.spent_usd)
        if not xs:
            return None
        fan = quantiles(frame.projection.fan, lambda point: point.cost)
        budget = frame.settings.budget_usd
        high = max([*ys[-1:], *(q.p90 for _, q in fan)])
        rules = () if budget is None else (Rule(budget, f"budget {text.usd(budget)}", "budget"),)
        if budget is not None and budget <= high * REACH:
            high = max(high, budget)
        return over_steps(
            frame,
            (Curve(xs, ys),),
            (0.0, high * HEADROOM),
            axis.dollars,
            fan=fan,
            rules=rules,
            marks=self._marks.read(frame),
            written=text.usd,
        )


class LengthChart(Chart):
    """Mean response length, where it is heading, and the cap."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._length = Series()
        self._marks = Marks()

    def plot(self, frame: Frame) -> Plot | None:
        xs, ys = self._length.read(frame, frame.state.history.columns["response_length_mean"])
        if not xs:
            return None
        fan = quantiles(frame.projection.fan, lambda point: point.length)
        cap = frame.info.max_tokens
        high = max([max(ys), *(q.p90 for _, q in fan)])
        rules = () if cap is None else (Rule(cap, f"cap {text.tokens(cap)}", "cap"),)
        if cap is not None and cap <= high * REACH:
            high = max(high, cap)
        return over_steps(
            frame,
            (Curve(xs, ys),),
            (0.0, high * HEADROOM),
            axis.token_count,
            fan=fan,
            rules=rules,
            marks=self._marks.read(frame),
            written=text.tokens_unit,
        )


class ColumnChart(Chart):
    """One canonical column over the steps, scaled to its own range."""

    label_width = 6

    def __init__(
        self,
        name: str,
        column: str,
        *,
        written: Callable[[float | None], str] = text.number,
        label: Labeller = axis.label,
        id: str | None = None,
    ) -> None:
        super().__init__(id=id)
        self._name = name
        self._column = column
        self._written = written
        self._label = label
        self._series = Series()
        self._marks = Marks()

    def title(self, frame: Frame, width: int) -> Line | None:
        last = next(iter(reversed(tail(frame, self._column, RECENT))), None)
        return (Span(f"{self._name}  ", "title"), Span(self._written(last)))

    def plot(self, frame: Frame) -> Plot | None:
        xs, ys = self._series.read(frame, frame.state.history.columns[self._column])
        if not xs:
            return None
        exact = axis.exact if self._written is text.number else self._written
        return over_steps(
            frame,
            (Curve(xs, ys),),
            (min(ys), max(ys)),
            self._label,
            marks=self._marks.read(frame),
            written=exact,
        )


def quantiles(
    fan: Sequence[FanPoint], of: Callable[[FanPoint], Quantiles | None]
) -> list[tuple[int, Quantiles]]:
    """The points of the fan that have this quantity, with their steps."""
    return [(point.step, value) for point in fan if (value := of(point)) is not None]


def over_steps(
    frame: Frame,
    curves: tuple[Curve, ...],
    scale: tuple[float, float],
    label: Labeller = axis.label,
    *,
    fan: Sequence[tuple[int, Quantiles]] = (),
    band: Fan | None = None,
    rules: tuple[Rule, ...] = (),
    marks: tuple[Mark, ...] = (),
    written: Callable[[float], str] = axis.exact,
) -> Plot:
    """A plot over the steps of the whole run, so that each step moves one column and no other.

    `fan` is what the last curve is projected to become; `band` is an interval of what has been.
    """
    xs, ys = curves[-1].xs, curves[-1].ys
    # All charts of a run start at one step, so that they line up: that of an evaluation before the first.
    tested = frame.state.history.evals[:1]
    start = float(min(first_step(frame), *(one.step for one in tested), *(curve.xs[0] for curve in curves)))
    now = max(curve.xs[-1] for curve in curves)
    end = last_step(frame)
    if end is None or end <= now:
        x_high = axis.nice_top(now - start, 4) + start if end is None else now
    else:
        x_high = float(end)
    if not fan:
        while (now - start) * EARLY < x_high - start > 1:
            x_high = start + (x_high - start) / 2
    ahead = [(step, value) for step, value in fan if step > now]
    if ahead:
        # The fan opens where the measured line ends.
        steps = [xs[-1], *(float(step) for step, _ in ahead)]
        band = Fan(steps, [ys[-1], *(q.p10 for _, q in ahead)], [ys[-1], *(q.p90 for _, q in ahead)])
        curves = (Curve(steps, [ys[-1], *(q.p50 for _, q in ahead)], "projected", DASH), *curves)
    ticks = [Tick(start, f"{start:.0f}"), Tick(x_high, f"{x_high:.0f}")]
    if now < x_high:
        ticks.insert(0, Tick(now, f"{now:.0f}", "strong", line=bool(ahead)))
    breaks = frame.projection.budget_breaks_at_step
    if breaks is not None and any(rule.ink == "budget" for rule in rules) and now < breaks < x_high:
        ticks.insert(1, Tick(breaks, f"{breaks}", "budget"))
    return Plot(
        start,
        max(x_high, start + 1),
        *scale,
        curves,
        band,
        rules,
        tuple(ticks),
        label,
        marks=marks,
        written=written,
        x_written=lambda x: f"step {x:.0f}",
    )
