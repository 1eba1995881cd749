"""A screen of charts that look at one place together: one crosshair, one stretch of x."""

from dataclasses import replace
from typing import ClassVar

from textual import events
from textual.actions import SkipAction
from textual.binding import Binding, BindingType

from ...monitor.frame import Frame
from ..crosshair import readout, snapped
from ..plot import Plot
from ..sight import CLOSER, Sight
from ..widgets.chart import Chart
from .framed import FramedScreen


def _key(key: str, action: str, description: str, id: str, shown: str) -> Binding:
    return Binding(key, action, description, id=f"chart.{id}", key_display=shown, tooltip=description)


CHART_KEYS = (
    _key("right_square_bracket", "cross(1)", "crosshair: next value", "next", "]"),
    _key("left_square_bracket", "cross(-1)", "crosshair: value before", "before", "["),
    _key("right_curly_bracket", "pan(1)", "charts: further right", "right", "}"),
    _key("left_curly_bracket", "pan(-1)", "charts: further left", "left", "{"),
    _key("z", "zoom(-1)", "charts: zoom in at the crosshair", "closer", "z"),
    _key("Z", "zoom(1)", "charts: zoom out", "wider", "Z"),
    _key("0", "whole", "charts: all of the run", "whole", "0"),
    _key("g", "choose", "choose a chart by its letter", "choose", "g"),
    _key("f", "full_chart", "one chart alone; tab chooses which", "alone", "f"),
)


LETTERS = "abcdefghijkl"


class ChartedScreen(FramedScreen):
    """Base of the screens with charts."""

    AUTO_FOCUS = ""
    ALLOW_IN_MAXIMIZED_VIEW = "Status, Keys, ReplayBar"
    KEYS: ClassVar[tuple[Binding, ...]] = CHART_KEYS
    BINDINGS: ClassVar[list[BindingType]] = [
        *CHART_KEYS,
        Binding("escape", "as_it_was", "charts as they were", show=False, id="chart.as_it_was"),
    ]

    sight = Sight()
    """Where all the charts look."""
    _hovered = False
    """Whether the crosshair follows the mouse, and goes with it."""

    def look(self, sight: Sight) -> None:
        """Let all charts look there."""
        if sight != self.sight:
            self.sight = sight
            for chart in self.query(Chart):
                chart.look(sight)

    def leading(self) -> Chart | None:
        """The chart that keys act on: the one in focus, else the first on screen that shows something."""
        if isinstance(self.focused, Chart) and self.focused.drawn is not None:
            return self.focused
        return next((chart for chart in self.query(Chart) if chart.drawn is not None and chart.size), None)

    def on_chart_looked(self, event: Chart.Looked) -> None:
        if event.hovering and event.sight.at is None and not self._hovered:
            return  # the mouse has left, and the crosshair was put there by a key
        self._hovered = event.hovering
        self.look(event.sight)

    def on_chart_opened(self, event: Chart.Opened) -> None:
        self._show_alone(event.chart)

    def action_cross(self, count: int) -> None:
        """Move the crosshair by values of the leading chart."""
        if (found := self._plotted()) is not None:
            self._hovered = False
            newest = found.curves[-1].xs
            if self.sight.at is None and found.x_low <= newest[-1] <= self.sight.stretch(found)[1]:
                self.look(self.sight.to(found, newest[-1]))  # the first press shows where we are
            else:
                xs = sorted({x for curve in found.curves for x in curve.xs})
                self.look(self.sight.moved(found, xs, count))

    def action_zoom(self, direction: int) -> None:
        """See half as much (-1) or twice as much (1)."""
        if (found := self._plotted()) is not None:
            self.look(self.sight.zoomed(found, CLOSER ** (-direction)))

    def action_pan(self, direction: int) -> None:
        """Move by a quarter of the stretch on show; where all is on show, move the crosshair by a tenth."""
        if (found := self._plotted()) is None:
            return
        low, high = self.sight.stretch(found)
        if self.sight.low is not None:
            self.look(self.sight.panned(found, direction * (high - low) / 4))
            return
        start = found.curves[-1].xs[-1] if self.sight.at is None else self.sight.at
        at = snapped(found, start + direction * (high - low) / 10)
        self._hovered = False
        self.look(self.sight if at is None else self.sight.to(found, at))

    def action_whole(self) -> None:
        """See all of the run."""
        self.look(replace(self.sight, low=None, high=None))

    def action_full_chart(self) -> None:
        """One chart alone, or all of them again."""
        if self.maximized is not None:
            self.minimize()
        elif (chart := self.leading()) is not None:
            self._show_alone(chart)

    def action_choose(self) -> None:
        """Give each chart on screen a letter; the next key chooses."""
        there = [chart for chart in self.query(Chart) if chart.size and chart.drawn is not None]
        for chart, letter in zip(there, LETTERS, strict=False):
            chart.call(letter)

    def on_key(self, event: events.Key) -> None:
        """While charts have letters, a key is a choice; any other key ends the choosing."""
        called = [chart for chart in self.query(Chart) if chart.letter]
        if not called:
            return
        event.stop()
        event.prevent_default()
        for chart in called:
            if chart.letter == event.key:
                chart.focus()
            chart.call("")

    def action_as_it_was(self) -> None:
        """Take back, one by one, what was done to the charts."""
        if self.maximized is not None:
            self.minimize()
        elif self.sight != Sight():
            self.look(Sight())
        elif isinstance(self.focused, Chart):
            self.set_focus(None)
        else:
            raise SkipAction

    def go_to(self, x: float) -> bool:
        """Put the crosshair at the value nearest to x; False where there is no chart to put it on."""
        found = self._plotted()
        at = None if found is None else snapped(found, x)
        if found is None or at is None:
            return False
        self._hovered = False
        self.look(self.sight.to(found, at))
        return True

    def copied(self, frame: Frame) -> str:
        """The values under the crosshair; without one, what every screen has."""
        found, at = self._plotted(), self.sight.at
        if found is None or at is None:
            return super().copied(frame)
        return "".join(span.text for span in readout(found, at))

    def _show_alone(self, chart: Chart) -> None:
        if self.maximized is chart:
            self.minimize()
        else:
            self.maximize(chart, container=False)

    def _plotted(self) -> Plot | None:
        chart = self.leading()
        return None if chart is None else chart.drawn
