"""Charts of the cost screen: the projection as it was known at each step, and what each step cost."""

from ...models import text
from ...monitor.frame import Frame
from .. import axis
from ..lines import Line, Span
from ..marks import Marks
from ..plot import Curve, Fan, Plot, Rule
from ..readings import Series, seen
from .chart import HEADROOM, Chart
from .charts import REACH, over_steps


class ForecastChart(Chart):
    """What the run was expected to cost in all, after each step: it should narrow, and not drift."""

    nothing = "no projection so far"

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._likely, self._low, self._high = Series(), Series(), Series()
        self._marks = Marks()

    def title(self, frame: Frame, width: int) -> Line | None:
        likely = (
            Span("AT THE END, AS KNOWN THEN  ", "title"),
            Span("━ ", "projected"),
            Span("likely   ", "dim"),
        )
        return (*likely, Span("░", "band"), Span(" 80 % range", "dim"))

    def plot(self, frame: Frame) -> Plot | None:
        xs, ys = self._likely.read(frame, frame.at_end)
        if not xs:
            return None
        _, lows = self._low.read(frame, frame.at_end_low)
        _, highs = self._high.read(frame, frame.at_end_high)
        band = Fan(xs, lows, highs) if len(lows) == len(highs) == len(xs) else None
        budget = frame.settings.budget_usd
        low, high = min(ys), max(ys)
        if band is not None:
            # The first guesses may be wild: the scale is that of the greater part of them.
            low, high = min(low, *seen(lows)), max(high, *seen(highs))
        rules = () if budget is None else (Rule(budget, f"budget {text.usd(budget)}", "budget"),)
        if budget is not None and budget <= high * REACH:
            low, high = min(low, budget), max(high, budget)
        scale = (max(0.0, low - (high - low) * 0.05), high * HEADROOM)
        return over_steps(
            frame,
            (Curve(xs, ys, "projected"),),
            scale,
            axis.dollars,
            band=band,
            rules=rules,
            marks=self._marks.read(frame),
            written=text.usd,
        )


class StepCostChart(Chart):
    """Dollars of each step, with the evaluations and checkpoints that fell to it."""

    nothing = "no step has a price"

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._usd = Series()
        self._marks = Marks()

    def title(self, frame: Frame, width: int) -> Line | None:
        return (
            Span("EACH STEP  ", "title"),
            Span(text.usd(frame.bill.last_step_usd)),
            Span(" the last", "dim"),
        )

    def plot(self, frame: Frame) -> Plot | None:
        xs, ys = self._usd.read(frame, frame.step_usd)
        if not xs:
            return None
        scale = (0.0, max(ys) * HEADROOM)
        marks = self._marks.read(frame)
        return over_steps(frame, (Curve(xs, ys),), scale, axis.dollars, marks=marks, written=text.usd)
