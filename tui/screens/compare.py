"""Runs side by side: charts with one crosshair, aligned by a measure, and the table of differences."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Grid, VerticalScroll

from ...models import text
from ...models.comparison import Measure
from ...monitor.along import MEASURES, Along
from ...monitor.compare import compare
from ...monitor.frame import Frame
from .. import axis
from ..sight import Sight
from ..widgets.comparechart import CompareChart
from ..widgets.comparetable import ComparePanel, CompareTable, Legend
from ..widgets.keys import Keys
from ..widgets.phases import span_of
from .charted import CHART_KEYS, ChartedScreen


class CompareScreen(ChartedScreen):
    """Takes frames of all runs at once."""

    HERE: ClassVar[tuple[Binding, ...]] = (
        Binding("x", "measure", "aligned by step, time, tokens or dollars", id="compare.x"),
    )
    KEYS: ClassVar[tuple[Binding, ...]] = (*HERE, *CHART_KEYS)
    BINDINGS: ClassVar[list[BindingType]] = [*HERE]
    ALLOW_IN_MAXIMIZED_VIEW = "Legend, Keys"

    def __init__(self, names: Sequence[str], measure: Measure) -> None:
        super().__init__()
        self._names = names
        self._measure: Measure = measure
        self._alongs = [Along() for _ in names]
        self._frames: Sequence[Frame] = ()

    def compose(self) -> ComposeResult:
        yield Legend(id="legend")
        with Grid(id="compare-grid"):
            yield from self._charts()
        with VerticalScroll(id="scroll"):
            yield CompareTable(id="compare-table")
        yield Keys((("x", f"by {self._measure}", "measure"),), screens=False, id="keys")

    def _charts(self) -> Iterator[CompareChart]:
        """The last three give way first."""
        length, seconds = _column("response_length_mean"), _column("duration_s")
        usd = partial(CompareChart, alongs=self._alongs, written=text.usd, label=axis.dollars, from_zero=True)
        yield usd("COST", lambda frame: frame.spent_usd)
        yield CompareChart(
            "LENGTH", length, self._alongs, written=text.tokens, label=axis.token_count, from_zero=True
        )
        yield CompareChart("REWARD", _column("reward_mean"), self._alongs, id="compare-reward")
        rest = (
            usd("COST OF A STEP", lambda frame: frame.step_usd),
            CompareChart(
                "TIME OF A STEP", seconds, self._alongs, written=span_of, label=axis.span, from_zero=True
            ),
            CompareChart(
                "CUT AT THE CAP",
                _column("clip_ratio"),
                self._alongs,
                written=text.percent,
                label=axis.share,
                from_zero=True,
            ),
        )
        for chart in rest:
            chart.add_class("rest")
            yield chart

    def compare(self, frames: Sequence[Frame]) -> None:
        """Show these runs."""
        self._frames = frames
        comparison = compare(frames, self._measure, self._names)
        for panel in self.query(ComparePanel):
            panel.compare(comparison, frames[0])
        for chart in self.query(CompareChart):
            chart.compare(frames, self._measure)

    def action_measure(self) -> None:
        """Align by the next measure; where the user looked means nothing on it."""
        place = MEASURES.index(self._measure) + 1
        self._measure = MEASURES[place % len(MEASURES)]
        self.query_one(Keys).say("measure", f"by {self._measure}")
        self.look(Sight())
        if self._frames:
            self.compare(self._frames)


def _column(name: str) -> Callable[[Frame], Sequence[float]]:
    return lambda frame: frame.state.history.columns[name]
