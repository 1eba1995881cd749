"""The lines of the log worth showing, the newest at the end: followed, scrolled and searched.

Its one rule: what the user reads stays where it is; only a list that is followed moves by itself.
"""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType

from ...models.event import LogLine
from ...monitor.frame import Frame
from ..lines import Line, Span, wrapped
from .panel import Panel

INK = {"error": "bad", "warning": "warn", "info": "plain", "debug": "dim"}
SIGN = {"error": "✖", "warning": "▲", "info": "·", "debug": "·"}
TIME = 9
"""Cells of the time of day; a line that the log gave no time has none here."""


class LogList(Panel, can_focus=True):
    """Long lines are wrapped; those that a search has found stand out."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "scroll_by(1)", "line below", id="log.down"),
        Binding("up,k", "scroll_by(-1)", "line above", id="log.up"),
        Binding("pagedown", "page(1)", "page down", id="log.page_down"),
        Binding("pageup", "page(-1)", "page up", id="log.page_up"),
    ]

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.following = True
        self._top = 0
        self._wanted: re.Pattern[str] | None = None
        self._found: list[int] = []
        """First rows of the lines that the search has found."""
        self._at: int | None = None
        """Which of them the user has gone to."""
        self._rows: list[Line] = []
        self._made_of: tuple[object, ...] = ()

    @property
    def searching(self) -> bool:
        """Whether there is something to go to."""
        return self._wanted is not None

    def search(self, wanted: str) -> None:
        """Make the lines with these words stand out, and go to the newest of them."""
        wanted = wanted.strip()
        self._wanted = re.compile(re.escape(wanted), re.IGNORECASE) if wanted else None
        self._at, self._made_of = None, ()
        self._again()
        if self._found:
            self._go(len(self._found) - 1)
            self._again()

    def next_found(self, direction: int) -> None:
        """Go to the next line found (1), or the one before (-1)."""
        if self._found:
            at = len(self._found) - 1 if self._at is None else self._at + direction
            self._go(at % len(self._found))
            self._again()

    def follow(self, on: bool) -> None:
        """Stay at the end as lines come, or stay here."""
        self.following = on
        self._again()

    def action_scroll_by(self, count: int) -> None:
        """Scroll; at the end, follow again."""
        end = max(len(self._rows) - self._room, 0)
        self._top = min(max(self._top + count, 0), end)
        self.following = self._top >= end
        self._again()

    def action_page(self, direction: int) -> None:
        """Scroll by a screenful."""
        self.action_scroll_by(direction * max(self._room - 1, 1))

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        self.action_scroll_by(3)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        self.action_scroll_by(-3)

    def lay_out(self, frame: Frame, width: int, height: int) -> list[Line]:
        logs = frame.state.logs
        if self._made_of != (logs, width, self._wanted):
            self._made_of = (logs, width, self._wanted)
            self._rows, self._found = self._written(logs, width)
        end = max(len(self._rows) - (height - 1), 0)
        self._top = end if self.following else min(self._top, end)
        head = [Span("LOG  ", "title"), Span(f"{len(logs)}", "dim")]
        if self._wanted is not None:
            place = "" if self._at is None else f"{self._at + 1} of "
            head.append(Span(f"   {place}{len(self._found)} found", "key" if self._found else "dim"))
        head.append(Span("   following" if self.following else "   scrolled: f follows", "dim"))
        if not logs:
            return [tuple(head[:2]), (Span("  · ", "dim"), Span("nothing in it but numbers so far", "dim"))]
        return [tuple(head), *self._rows[self._top : self._top + height - 1]]

    @property
    def _room(self) -> int:
        return max(self.size.height - 1, 1)

    def _go(self, at: int) -> None:
        """Bring a found line into the middle."""
        self._at, self.following = at, False
        self._top = max(self._found[at] - self._room // 2, 0)

    def _again(self) -> None:
        self._laid_out = None
        if self.is_attached:
            self.renew()

    def _written(self, logs: tuple[LogLine, ...], width: int) -> tuple[list[Line], list[int]]:
        rows: list[Line] = []
        found: list[int] = []
        for log in logs:
            ink = INK[log.level]
            first, *rest = wrapped(log.text, width - TIME - 4, ink) or [()]
            at = "" if log.at is None else f"{datetime.fromtimestamp(log.at):%H:%M:%S}"
            head = (Span(f"{at:{TIME}}", "dim"), Span(f"{SIGN[log.level]} ", ink))
            if self._wanted is not None and self._wanted.search(" ".join(log.text.split())):
                found.append(len(rows))
            rows.append((*head, *self._marked(first)))
            rows += [(Span(" " * (TIME + 2)), *self._marked(line)) for line in rest]
        return rows, found

    def _marked(self, line: Line) -> Iterator[Span]:
        """The line with what was searched for standing out."""
        for span in line:
            at = 0
            for hit in self._wanted.finditer(span.text) if self._wanted is not None else ():
                if hit.start() > at:
                    yield Span(span.text[at : hit.start()], span.ink)
                yield Span(hit.group(), "found-band")
                at = hit.end()
            if at < len(span.text) or not span.text:
                yield Span(span.text[at:], span.ink)
