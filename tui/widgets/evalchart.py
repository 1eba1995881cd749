"""The scores of the evaluations over the steps."""

from ...models import text
from ...monitor.frame import Frame
from ..lines import Line, Span
from ..plot import Plot
from .chart import Chart
from .charts import over_steps
from .lengthcharts import eval_curves


class EvalChart(Chart):
    """Up to four scores together; the crosshair names them."""

    nothing = "no evaluation so far"
    label_width = 6

    def title(self, frame: Frame, width: int) -> Line | None:
        spans = [Span("EVAL  ", "title")]
        for curve in reversed(eval_curves(frame)):
            name = f"{curve.name} " if curve.name else ""
            spans += [Span("━ ", curve.ink), Span(name, "dim"), Span(f"{text.number(curve.ys[-1])}  ")]
        return tuple(spans)

    def plot(self, frame: Frame) -> Plot | None:
        curves = eval_curves(frame)
        if not curves:
            return None
        values = [value for curve in curves for value in curve.ys]
        return over_steps(frame, curves, (min(values), max(values)))
