"""Every number of the log under its own name, with a filter, and any of them as charts side by side."""

from dataclasses import replace
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Grid
from textual.widgets import Input

from ...monitor.along import MEASURES, Along
from ...monitor.frame import Frame
from ..sight import Sight
from ..smoothing import WEIGHTS
from ..widgets.keys import Keys
from ..widgets.metricchart import MetricChart, Way
from ..widgets.metriclist import MetricList
from ..widgets.replay import ReplayBar
from ..widgets.status import Status
from .charted import CHART_KEYS, ChartedScreen

MOST = 6
"""Charts side by side."""


class MetricsScreen(ChartedScreen):
    """Pinned keys keep their charts; enter shows the chart of one more in the last place."""

    HERE: ClassVar[tuple[Binding, ...]] = (
        Binding("slash", "filter", "filter: words, letters or a regex", id="metrics.filter", key_display="/"),
        Binding("p", "pin", "pin the key, or let it go", id="metrics.pin"),
        Binding("l", "log", "logarithmic scale, or linear", id="metrics.log"),
        Binding("e", "smooth", "smooth more, or not at all", id="metrics.smooth"),
        Binding("x", "measure", "over steps, time, tokens or dollars", id="metrics.x"),
    )
    KEYS: ClassVar[tuple[Binding, ...]] = (*HERE, *CHART_KEYS)
    BINDINGS: ClassVar[list[BindingType]] = [*HERE]

    pinned: ClassVar[list[str]] = []
    """Keys with a lasting chart, in the order of pinning; they outlive the screen."""

    def __init__(self) -> None:
        super().__init__()
        self._along = Along()
        self._frame: Frame | None = None
        self._opened: str | None = None
        self._way = Way()

    def compose(self) -> ComposeResult:
        yield Status(id="status")
        yield Input(placeholder="filter: words, letters in order, or a regex", id="filter", compact=True)
        yield Grid(id="shown")
        yield MetricList(id="metric-list")
        yield ReplayBar(id="replay")
        keys = (
            ("/", "filter", "filter"),
            ("p", "pin", "pin"),
            ("l", "log", "log"),
            ("e", "smooth", "smooth"),
        )
        yield Keys((*keys, ("x", "by step", "measure")), "view('metrics')", id="keys")

    def on_mount(self) -> None:
        listed = self.query_one(MetricList)
        listed.focus()
        listed.pin(self.pinned)

    async def on_screen_resume(self) -> None:
        await self._arrange()

    def draw(self, frame: Frame) -> None:
        self._frame = frame
        super().draw(frame)

    def action_filter(self) -> None:
        """Type into the filter."""
        self.query_one(Input).focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        self.query_one(MetricList).filter(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.query_one(MetricList).focus()

    async def on_metric_list_opened(self, event: MetricList.Opened) -> None:
        self._opened = None if event.key == self._opened else event.key
        await self._arrange()

    async def action_pin(self) -> None:
        """Pin the key of the chart in focus or else the one with the cursor; the last of many gives way."""
        key = self.focused.key if isinstance(self.focused, MetricChart | MetricList) else None
        if key is None:
            return
        if key in self.pinned:
            self.pinned.remove(key)
        else:
            del self.pinned[MOST - 1 :]
            self.pinned.append(key)
        self._opened = None if self._opened == key else self._opened
        await self._arrange()

    def action_log(self) -> None:
        """Between a logarithmic scale and a linear one."""
        self._draw_so(replace(self._way, log=not self._way.log))

    def action_smooth(self) -> None:
        """The next weight of the average."""
        place = WEIGHTS.index(self._way.weight) + 1
        self._draw_so(replace(self._way, weight=WEIGHTS[place % len(WEIGHTS)]))

    def action_measure(self) -> None:
        """The next measure along x; where the user looked means nothing on it."""
        place = MEASURES.index(self._way.measure) + 1
        self.look(Sight())
        self._draw_so(replace(self._way, measure=MEASURES[place % len(MEASURES)]))

    def _draw_so(self, way: Way) -> None:
        self._way = way
        self.query_one(Keys).say("measure", f"by {way.measure}")
        for chart in self.query(MetricChart):
            chart.draw_so(way, chart.key in self.pinned)

    async def _arrange(self) -> None:
        """A chart for each pinned key and the opened one, in that order."""
        keys = list(self.pinned)
        if self._opened is not None and self._opened not in keys:
            keys = [*keys[: MOST - 1], self._opened]
        grid = self.query_one("#shown", Grid)
        there = {chart.key: chart for chart in grid.query(MetricChart)}
        for key, chart in there.items():
            if key not in keys:
                await chart.remove()
        for place, key in enumerate(keys):
            if key not in there:
                chart = MetricChart(key, self._along)
                chart.sight = self.sight
                await grid.mount(chart, before=place if place < len(grid.children) else None)
                if self._frame is not None:
                    chart.show(self._frame)
        for number, name in enumerate(("-none", "-one", "-two", "-more")):
            grid.set_class(min(len(keys), 3) == number, name)
        grid.set_class(len(keys) > 3, "-many")
        self.query_one(MetricList).pin(self.pinned)
        self._draw_so(self._way)
