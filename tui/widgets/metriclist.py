"""Every number of the log under its own name: last value, least, greatest, and the way it went.

Its one rule: only the rows on screen are worked out, however many keys there are.
"""

import math
from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message

from ...models import text
from ...models.text import printable
from ...monitor.frame import Frame
from ..finding import found
from ..lines import Line, Span, cut, fit
from ..plot import sparkline
from .panel import Panel

TREND = 24
VALUE = 11
NARROWEST = 16
"""Cells that a name has at least: the trend gives way to it."""
WIDE = 90
"""From this width on, there is room for the least and the greatest value too."""
RECENT = TREND * 8
"""Values that the least, the greatest and the trend are of."""


class MetricList(Panel, can_focus=True):
    """One key has the cursor; what a filter leaves is in the order of the alphabet, or of nearness."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "move(1)", "key below", id="metrics.down"),
        Binding("up,k", "move(-1)", "key above", id="metrics.up"),
        Binding("pagedown", "page(1)", "page down", id="metrics.page_down"),
        Binding("pageup", "page(-1)", "page up", id="metrics.page_up"),
        Binding("enter", "open", "show its chart", id="metrics.open"),
    ]

    class Opened(Message):
        """The user wants to see this key as a chart."""

        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._wanted = ""
        self._at = 0
        self._top = 0
        self._pinned: frozenset[str] = frozenset()
        self._keys: list[str] = []
        self._found_for: tuple[str, int] | None = None

    @property
    def key(self) -> str | None:
        """The key that has the cursor."""
        return self._keys[min(self._at, len(self._keys) - 1)] if self._keys else None

    def filter(self, wanted: str) -> None:
        """Show only the keys that `wanted` means."""
        self._wanted, self._at, self._top = wanted, 0, 0
        self._again()

    def pin(self, keys: Sequence[str]) -> None:
        """Mark these keys as pinned."""
        self._pinned = frozenset(keys)
        self._again()

    def action_move(self, count: int) -> None:
        """Move the cursor."""
        self._at = min(max(self._at + count, 0), max(len(self._keys) - 1, 0))
        self._again()

    def action_page(self, direction: int) -> None:
        """Move the cursor by a screenful."""
        self.action_move(direction * max(self.size.height - 2, 1))

    def action_open(self) -> None:
        """Show the key with the cursor as a chart."""
        if (key := self.key) is not None:
            self.post_message(self.Opened(key))

    def on_click(self, event: events.Click) -> None:
        row = self._top + event.y - 1
        if event.y > 0 and row < len(self._keys):
            self._at = row
            self._again()
            self.action_open()

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        self.action_move(3)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        self.action_move(-3)

    def on_focus(self) -> None:
        self._again()

    def on_blur(self) -> None:
        self._again()

    def _again(self) -> None:
        self._laid_out = None
        if self.is_attached:
            self.renew()

    def lay_out(self, frame: Frame, width: int, height: int) -> list[Line]:
        raw = frame.state.history.raw
        if self._found_for != (self._wanted, len(raw)):
            self._keys = found(self._wanted, list(raw))  # a copy: the fold may be adding keys meanwhile
            self._found_for = (self._wanted, len(raw))
        keys = self._keys
        rows = max(height - 1, 1)
        self._at = min(self._at, max(len(keys) - 1, 0))
        self._top = min(max(self._top, self._at - rows + 1, 0), self._at, max(len(keys) - rows, 0))
        figures = ("last", "least", "most") if width >= WIDE else ("last",)
        trend = max(min(TREND, width - len(figures) * VALUE - NARROWEST - 2), 0)
        name = max(width - len(figures) * VALUE - trend - 2, NARROWEST)
        counted = f"{len(keys)} of {len(raw)}" if self._wanted.strip() else str(len(raw))
        titles = "".join(f"{title:>{VALUE}}" for title in figures)
        lines: list[Line] = [(Span("METRICS  ", "title"), Span(f"{counted:<{name - 9}}{titles}", "dim"))]
        for index, key in enumerate(keys[self._top : self._top + rows], start=self._top):
            lines.append(self._row(key, raw[key], (name, len(figures), trend), index == self._at, width))
        if not keys:
            nothing = "no key is meant by this filter" if raw else "the log has told no numbers yet"
            lines.append((Span(f"  {nothing}", "dim"),))
        return lines

    def _row(
        self, key: str, column: Sequence[float], room: tuple[int, int, int], here: bool, width: int
    ) -> Line:
        """`room`: cells of the name, how many figures, cells of the trend."""
        name, count, trend = room
        known = [value for value in column[-RECENT:] if math.isfinite(value)]
        figures = (column[-1] if len(column) else None, min(known, default=None), max(known, default=None))
        sign = "◆" if key in self._pinned else " "
        cursor = "▸" if here and self.has_focus else " "
        return fit(
            (
                Span(f"{cursor}{sign}", "key"),
                Span(f"{cut(printable(key), name - 4):<{name - 2}}", "strong" if here else "plain"),
                Span("".join(f"{text.number(value):>{VALUE}}" for value in figures[:count])),
                Span(f"  {sparkline(known, trend)}", "ours"),
            ),
            width,
        )
