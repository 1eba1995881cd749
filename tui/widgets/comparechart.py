"""A quantity of several runs in one chart, along steps, time, tokens or dollars."""

from collections.abc import Callable, Sequence

from ...models import text
from ...models.comparison import Measure
from ...monitor.along import Along
from ...monitor.frame import Frame
from .. import axis
from ..lines import Line, Span
from ..plot import Curve, Labeller, Plot, Rule
from ..readings import Series
from .chart import HEADROOM, Chart
from .metricchart import SCALES, Scale, over

LETTERS = "ABCDEF"
DASHES: tuple[tuple[int, int] | None, ...] = (None, (3, 1), (1, 1), (2, 2), (4, 2), (1, 3))
"""Tell the lines apart where there is no colour."""

ALIGNED: dict[Measure, Scale] = {
    **SCALES,
    "step": Scale(axis.label, lambda x: f"{x:.0f} done", tick=lambda x: f"{x:.0f}"),
}
"""Steps are aligned by how many are done: some runs count from 0, others from 1."""


def ink_of(index: int) -> str:
    """The ink of a run, by its place."""
    return f"run{index + 1}"


class CompareChart(Chart):
    """A line a run, in the order in which they were named; the first lies on top."""

    label_width = 6
    nothing = "no run tells of it along this measure"

    def __init__(
        self,
        name: str,
        column: Callable[[Frame], Sequence[float]],
        alongs: Sequence[Along],
        *,
        written: Callable[[float], str] = axis.exact,
        label: Labeller = axis.label,
        from_zero: bool = False,
        id: str | None = None,
    ) -> None:
        super().__init__(id=id)
        self._name = name
        self._column = column
        self._alongs = alongs
        self._series = [Series() for _ in alongs]
        self._written = written
        self._label = label
        self._from_zero = from_zero
        self.frames: Sequence[Frame] = ()
        self.measure: Measure = "step"

    def compare(self, frames: Sequence[Frame], measure: Measure) -> None:
        """Draw these runs, aligned by this measure."""
        self.frames, self.measure, self.frame = frames, measure, frames[0]
        self.redraw()

    def ways(self) -> tuple[object, ...]:
        return (self.measure, *map(id, self.frames))

    def title(self, frame: Frame, width: int) -> Line | None:
        return (Span(self._name, "title"),)

    def plot(self, frame: Frame) -> Plot | None:
        plain = self.ascii_only or self.has_pseudo_class("nocolor")
        curves: list[Curve] = []
        reach = 0.0
        for index, (one, series, along) in enumerate(
            zip(self.frames, self._series, self._alongs, strict=False)
        ):
            xs, ys = series.read(one, self._column(one), along.read(one, self.measure))
            # All charts reach as far, also those of what the furthest run does not tell: so they line up.
            reach = max(reach, along.reach(one, self.measure) or 0.0)
            if xs:
                curves.append(Curve(xs, ys, ink_of(index), DASHES[index] if plain else None, LETTERS[index]))
        if not curves:
            return None
        low = 0.0 if self._from_zero else min(min(curve.ys) for curve in curves)
        high = max(max(curve.ys) for curve in curves)
        budget = frame.settings.budget_usd if self._name.startswith("COST") else None
        rules = (
            () if budget is None or budget > high else (Rule(budget, f"budget {text.usd(budget)}", "budget"),)
        )
        scale = (low, high * HEADROOM if self._from_zero else high)
        return over(
            tuple(reversed(curves)),
            scale,
            ALIGNED[self.measure],
            rules,
            y_label=self._label,
            written=self._written,
            reach=reach,
        )
