"""The base of every chart: a plot of the frame, and what users do to it: crosshair, zoom, pan, full screen.

Its one rule: a chart decides nothing of where the user looks. It tells its screen, which tells all charts.
"""

from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message

from ...monitor.frame import Frame
from ..crosshair import crossed, readout, snapped
from ..lines import Line, Span, cells, fit, overlaid
from ..plot import Placed, Plot, in_decades, paint, place
from ..sight import CLOSER, Sight, seen_through
from .panel import Panel

HEADROOM = 1.02
NAMED = 24
"""Cells of a title that the readout of the crosshair leaves, if there are so many."""


@dataclass(frozen=True, slots=True)
class Painted:
    """A chart without its crosshair, and what it was made of."""

    key: tuple[object, ...]
    whole: Plot
    plot: Plot
    """The part on show."""
    decades: Plot
    """The same as it was painted."""
    placed: Placed
    lines: list[Line]


class Chart(Panel, can_focus=True):
    """A title line, where there is one, above a plot that fills the rest."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "screen.full_chart", "this chart alone", id="chart.full")
    ]

    label_width = 0
    """Least cells of the y labels: charts above each other line up."""

    nothing = "not in the log so far"
    """Said in place of a plot without values."""

    class Looked(Message):
        """The user looks elsewhere: by this chart, at this."""

        def __init__(self, chart: "Chart", sight: Sight, hovering: bool = False) -> None:
            super().__init__()
            self.chart = chart
            self.sight = sight
            self.hovering = hovering

    class Opened(Message):
        """The user wants this chart alone on the screen."""

        def __init__(self, chart: "Chart") -> None:
            super().__init__()
            self.chart = chart

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.sight = Sight()
        self._painted: Painted | None = None
        self._dragged_from: int | None = None
        self.letter = ""
        """What to press to get here, while the user is choosing."""

    def call(self, letter: str) -> None:
        """Show a letter to choose this chart by; none, and the choosing is over."""
        if letter != self.letter:
            self.letter = letter
            self.redraw()

    def title(self, frame: Frame, width: int) -> Line | None:
        """The line above the plot."""
        return None

    def plot(self, frame: Frame) -> Plot | None:
        """What to draw; None when there is nothing yet."""
        raise NotImplementedError

    @property
    def drawn(self) -> Plot | None:
        """All of the plot that is on screen, more of which may be hidden by the zoom."""
        return None if self._painted is None else self._painted.whole

    def look(self, sight: Sight) -> None:
        """Show what the screen's sight says."""
        if sight != self.sight:
            self.sight = sight
            self.redraw()

    def redraw(self) -> None:
        """Lay out anew though the frame is the same."""
        self._laid_out = None
        if self.is_attached and self.display:
            self.renew()

    def lay_out(self, frame: Frame, width: int, height: int) -> list[Line]:
        lines = self._lines_of(frame, width, height)
        if self.letter and lines:
            lines = [overlaid(fit(lines[0], width), 0, Span(f" {self.letter} ", "found-band")), *lines[1:]]
        return lines

    def _lines_of(self, frame: Frame, width: int, height: int) -> list[Line]:
        title = self.title(frame, width)
        if title is not None and self.has_focus:
            title = (Span("▸ ", "key"), *title)
        painted = self._paint(frame, width, height - (title is not None))
        if painted is None:
            middle = [()] * max(0, (height - 1 - (title is not None)) // 2)
            nothing = (Span(f"{self.nothing:^{width}}", "dim"),)
            return [*([] if title is None else [fit(title, width)]), *middle, nothing]
        lines, at = painted.lines, self.sight.at
        if at is None:
            return lines if title is None else [fit(title, width), *lines]
        lines = crossed(lines, painted.decades, painted.placed, at)
        if title is None:
            told = readout(painted.plot, at)
            return [_laid_over(lines[0], told, width, painted.placed.left), *lines[1:]]
        return [_beside(title, painted.plot, at, width), *lines]

    def _paint(self, frame: Frame, width: int, height: int) -> Painted | None:
        """The chart without the crosshair; made anew only when something else has changed."""
        plain = self.ascii_only or self.has_pseudo_class("nocolor")
        key = (frame, width, height, self.sight.low, self.sight.high, plain, *self.ways())
        if self._painted is not None and self._painted.key == key:
            return self._painted
        self._painted = None
        whole = self.plot(frame)
        if whole is None:
            return None
        plot = seen_through(whole, self.sight)
        decades = in_decades(plot)
        placed = place(decades, width, height, self.label_width)
        if placed is None:
            return None
        lines = paint(decades, placed, width, plain)
        self._painted = Painted(key, whole, plot, decades, placed, lines)
        return self._painted

    def ways(self) -> tuple[object, ...]:
        """What else a chart's picture depends on."""
        return ()

    # The mouse

    def _x_of(self, column: int) -> float | None:
        """The x under a cell of the widget; None outside of the grid."""
        painted = self._painted
        if painted is None or not 0 <= column - painted.placed.left < painted.placed.view.width:
            return None
        view = painted.placed.view
        share = (column - painted.placed.left + 0.5) / view.width
        return view.x_low + share * (view.x_high - view.x_low)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        painted = self._painted
        if painted is None:
            return
        if self._dragged_from is not None and event.button:
            view = painted.placed.view
            by = (self._dragged_from - event.x) / view.width * (view.x_high - view.x_low)
            self._dragged_from = event.x
            self.post_message(self.Looked(self, self.sight.panned(painted.whole, by)))
            return
        x = self._x_of(event.x)
        at = None if x is None else snapped(painted.plot, x)
        if at is not None:
            self.post_message(self.Looked(self, self.sight.to(painted.whole, at), hovering=True))

    def on_mouse_down(self, event: events.MouseDown) -> None:
        if self.sight.low is not None:
            self._dragged_from = event.x
            self.capture_mouse()

    def on_mouse_up(self, event: events.MouseUp) -> None:
        if self._dragged_from is not None:
            self._dragged_from = None
            self.release_mouse()

    def on_leave(self, event: events.Leave) -> None:
        self.post_message(self.Looked(self, Sight(None, self.sight.low, self.sight.high), hovering=True))

    def on_click(self, event: events.Click) -> None:
        if event.chain == 2:
            self.post_message(self.Opened(self))

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        self._scrolled(event, CLOSER**0.5)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        self._scrolled(event, CLOSER**-0.5)

    def _scrolled(self, event: events.MouseEvent, factor: float) -> None:
        x = self._x_of(event.x)
        if self._painted is not None and x is not None:
            event.stop()
            self.post_message(self.Looked(self, self.sight.zoomed(self._painted.whole, factor, x)))

    def on_focus(self) -> None:
        self.redraw()

    def on_blur(self) -> None:
        self.redraw()


def _beside(title: Line, plot: Plot, at: float, width: int) -> Line:
    """The readout at the right end of the title line: as much of it as leaves the title recognisable."""
    keep = min(cells(title), NAMED, width // 3)
    told: Line = ()
    for terse in range(3):
        told = readout(plot, at, terse)
        if cells(told) + 2 + keep <= width:
            break
    size = min(cells(told), width)
    room = width - size - 2
    head = fit(title, room) if room > 0 else ()
    return (*head, Span(" " * (width - cells(head) - size)), *fit(told, size))


def _laid_over(line: Line, told: Line, width: int, left: int) -> Line:
    """The readout at the right end of a chart's first row."""
    size = min(cells(told), width - left)
    at = width - size
    for span in fit(told, size):
        line = overlaid(line, at, span)
        at += cells((span,))
    return line
