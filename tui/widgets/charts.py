"""The charts of the overview: cost so far, response length, and any one column over the steps."""

from collections.abc import Callable, Sequence

from ...models import text
from ...models.projection import FanPoint
from ...models.value import Quantiles
from ...monitor.frame import Frame
from .. import axis
from ..lines import Line, Span, fit
from ..plot import Curve, Fan, Labeller, Plot, Rule, Tick, draw
from ..readings import Series, first_step, last_step, tail
from .panel import Panel

HEADROOM = 1.02
DASH = (2, 1)
"""The projected line: two dot columns on, one off."""
RECENT = 5
"""Steps after which a value that is no longer told counts as unknown."""
REACH = 2.0
"""A level further than this above all data is named at the top instead of squeezing the data."""


class Chart(Panel):
    """A title line, where there is one, above a plot that fills the rest."""

    label_width = 0
    """Least cells of the y labels: charts above each other line up."""

    nothing = "not in the log so far"
    """Said in place of a plot without values."""

    def title(self, frame: Frame, width: int) -> Line | None:
        """The line above the plot."""
        return None

    def plot(self, frame: Frame) -> Plot | None:
        """What to draw; None when there is nothing yet."""
        raise NotImplementedError

    def lay_out(self, frame: Frame, width: int, height: int) -> list[Line]:
        lines: list[Line] = []
        if (title := self.title(frame, width)) is not None:
            lines.append(fit(title, width))
        plot = self.plot(frame)
        if plot is None:
            return [
                *lines,
                *[()] * max(0, (height - len(lines)) // 2),
                (Span(f"{self.nothing:^{width}}", "dim"),),
            ]
        plain = self.ascii_only or self.has_pseudo_class("nocolor")
        return [*lines, *draw(plot, width, height - len(lines), plain=plain, gutter=self.label_width)]


class CostChart(Chart):
    """Dollars so far, and the interval of what they may become."""

    nothing = "no dollars to draw"

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._spent = Series()

    def title(self, frame: Frame, width: int) -> Line | None:
        if width >= 76:  # alone on the screen, the figures above it are its title
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
        fan = _quantiles(frame.projection.fan, lambda point: point.cost)
        budget = frame.settings.budget_usd
        high = max([*ys[-1:], *(q.p90 for _, q in fan)])
        rules = () if budget is None else (Rule(budget, f"budget {text.usd(budget)}", "budget"),)
        if budget is not None and budget <= high * REACH:
            high = max(high, budget)
        return _over_steps(frame, xs, ys, fan, (0.0, high * HEADROOM), rules, axis.dollars)


class LengthChart(Chart):
    """Mean response length, where it is heading, and the cap."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._length = Series()

    def plot(self, frame: Frame) -> Plot | None:
        xs, ys = self._length.read(frame, frame.state.history.columns["response_length_mean"])
        if not xs:
            return None
        fan = _quantiles(frame.projection.fan, lambda point: point.length)
        cap = frame.info.max_tokens
        high = max([max(ys), *(q.p90 for _, q in fan)])
        rules = () if cap is None else (Rule(cap, f"cap {text.tokens(cap)}", "cap"),)
        if cap is not None and cap <= high * REACH:
            high = max(high, cap)
        return _over_steps(frame, xs, ys, fan, (0.0, high * HEADROOM), rules, axis.token_count)


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

    def title(self, frame: Frame, width: int) -> Line | None:
        last = next(iter(reversed(tail(frame, self._column, RECENT))), None)
        return (Span(f"{self._name}  ", "title"), Span(self._written(last)))

    def plot(self, frame: Frame) -> Plot | None:
        xs, ys = self._series.read(frame, frame.state.history.columns[self._column])
        if not xs:
            return None
        return _over_steps(frame, xs, ys, [], (min(ys), max(ys)), (), self._label)


def _quantiles(
    fan: Sequence[FanPoint], of: Callable[[FanPoint], Quantiles | None]
) -> list[tuple[int, Quantiles]]:
    return [(point.step, value) for point in fan if (value := of(point)) is not None]


def _over_steps(
    frame: Frame,
    xs: list[float],
    ys: list[float],
    fan: list[tuple[int, Quantiles]],
    scale: tuple[float, float],
    rules: tuple[Rule, ...],
    label: Labeller,
) -> Plot:
    """A plot over the steps of the whole run, so that each step moves one column and no other."""
    start, end = float(min(first_step(frame), xs[0])), last_step(frame)
    if end is None or end <= xs[-1]:
        x_high = axis.nice_top(xs[-1] - start, 4) + start if end is None else xs[-1]
    else:
        x_high = float(end)
    curves = [Curve(xs, ys)]
    band = None
    now = xs[-1]
    ahead = [(step, value) for step, value in fan if step > now]
    if ahead:
        # The fan opens where the measured line ends.
        steps = [now, *(float(step) for step, _ in ahead)]
        band = Fan(steps, [ys[-1], *(q.p10 for _, q in ahead)], [ys[-1], *(q.p90 for _, q in ahead)])
        curves.insert(0, Curve(steps, [ys[-1], *(q.p50 for _, q in ahead)], "projected", DASH))
    ticks = [Tick(start, f"{start:.0f}"), Tick(x_high, f"{x_high:.0f}")]
    if now < x_high:
        ticks.insert(0, Tick(now, f"{now:.0f}", "strong", line=bool(ahead)))
    breaks = frame.projection.budget_breaks_at_step
    if breaks is not None and any(rule.ink == "budget" for rule in rules) and now < breaks < x_high:
        ticks.insert(1, Tick(breaks, f"{breaks}", "budget"))
    return Plot(start, max(x_high, start + 1), *scale, tuple(curves), band, rules, tuple(ticks), label)
