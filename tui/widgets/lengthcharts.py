"""Charts of the length screen: responses from the shortest to the longest, and those of the evaluations."""

import math

from ...models import text
from ...monitor.frame import Frame
from .. import axis
from ..lines import Line, Span
from ..marks import Marks
from ..plot import Curve, Plot, Rule
from ..readings import Series
from .chart import HEADROOM, Chart
from .charts import REACH, over_steps, quantiles


class LengthsChart(Chart):
    """The mean, where it is heading, and the shortest and longest response of each step where told."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._mean, self._least, self._most = Series(), Series(), Series()
        self._marks = Marks()

    def title(self, frame: Frame, width: int) -> Line | None:
        return (
            Span("RESPONSES  ", "title"), Span("━ ", "ours"), Span("mean   ", "dim"), Span("━ ", "mark"),
            Span("longest and shortest   ", "dim"), Span("╌ ", "projected"), Span("likely", "dim"),
        )  # fmt: skip

    def plot(self, frame: Frame) -> Plot | None:
        columns = frame.state.history.columns
        mean, least, most = (
            Curve(*series.read(frame, columns[f"response_length_{which}"]), ink, None, which)
            for series, which, ink in (
                (self._mean, "mean", "ours"),
                (self._least, "min", "mark"),
                (self._most, "max", "mark"),
            )
        )
        curves = tuple(curve for curve in (least, most, mean) if curve.xs)
        if not mean.xs:
            return None
        fan = quantiles(frame.projection.fan, lambda point: point.length)
        high = max([*(max(curve.ys) for curve in curves), *(q.p90 for _, q in fan)])
        cap = frame.info.max_tokens
        rules = () if cap is None else (Rule(cap, f"cap {text.tokens(cap)}", "cap"),)
        if cap is not None and cap <= high * REACH:
            high = max(high, cap)
        return over_steps(
            frame,
            curves,
            (0.0, high * HEADROOM),
            axis.token_count,
            fan=fan,
            rules=rules,
            marks=self._marks.read(frame),
            written=text.tokens,
        )


class EvalLengthChart(Chart):
    """Mean length of the responses of each evaluation."""

    label_width = 6

    def present(self, frame: Frame) -> bool:
        return any(one.response_length_mean is not None for one in frame.state.history.evals)

    def title(self, frame: Frame, width: int) -> Line | None:
        curves = eval_curves(frame, length=True)
        last = max((curve.ys[-1] for curve in curves), default=None)
        return (Span("IN EVALUATIONS  ", "title"), Span(text.tokens_unit(last)))

    def plot(self, frame: Frame) -> Plot | None:
        curves = eval_curves(frame, length=True)
        if not curves:
            return None
        high = max(max(curve.ys) for curve in curves)
        return over_steps(frame, curves, (0.0, high * HEADROOM), axis.token_count, written=text.tokens)


EVAL_INKS = ("ours", "projected", "mark", "plain")


def eval_curves(frame: Frame, length: bool = False) -> tuple[Curve, ...]:
    """A curve for each score of each kind of evaluation, or for its mean response length; the first four."""
    points: dict[str, dict[int, float]] = {}
    for one in frame.state.history.evals:
        if length:
            told = {one.name: one.response_length_mean}
        else:
            told = {
                name if name == one.name else f"{one.name} {name}": value
                for name, value in one.scores.items()
            }
        for name, value in told.items():
            if value is not None and math.isfinite(value):
                points.setdefault(name, {})[one.step] = value  # of a repeated step, the last
    found: list[Curve] = []
    for (name, values), ink in zip(points.items(), EVAL_INKS, strict=False):
        steps = sorted(values)
        label = name if len(points) > 1 else ""
        found.append(Curve([float(s) for s in steps], [values[s] for s in steps], ink, None, label))
    return tuple(reversed(found))
