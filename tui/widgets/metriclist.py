"""Every number of the log under its own name: last value, least, greatest, and the way it went."""

import math
from collections.abc import Sequence

from ...models import text
from ...models.text import printable
from ...monitor.frame import Frame
from ..lines import Line, Span, cut
from ..plot import sparkline
from .panel import Panel

TREND = 24
VALUE = 10
WIDE = 90
"""From this width on, there is room for the least and the greatest value too."""


class MetricList(Panel):
    """Keys in the order of their names; `wanted` leaves only those that have each of its words."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._wanted = ""

    def filter(self, wanted: str) -> None:
        """Show only the keys with every word of `wanted` in them."""
        self._wanted = wanted.casefold()
        self._laid_out = None
        self.refresh(layout=True)

    def lay_out(self, frame: Frame, width: int, height: int) -> list[Line]:
        raw = dict(frame.state.history.raw)  # a copy, for the fold may be adding keys meanwhile
        words = self._wanted.split()
        keys = sorted(key for key in raw if all(word in key.casefold() for word in words))
        figures = ("last", "least", "most") if width >= WIDE else ("last",)
        name = width - len(figures) * VALUE - TREND - 2
        counted = f"{len(keys)} of {len(raw)}" if words else str(len(raw))
        titles = "".join(f"{title:>{VALUE}}" for title in figures)
        lines: list[Line] = [(Span("METRICS  ", "title"), Span(f"{counted:<{name - 9}}{titles}", "dim"))]
        lines.extend(_row(key, raw[key], name, len(figures)) for key in keys)
        if not keys:
            nothing = "no key has these words" if raw else "the log has told no numbers yet"
            lines.append((Span(f"  {nothing}", "dim"),))
        return lines


def _row(key: str, column: Sequence[float], name: int, count: int) -> Line:
    values = [value for value in column[-TREND * 8 :] if math.isfinite(value)]
    figures = (column[-1] if len(column) else None, min(values, default=None), max(values, default=None))
    return (
        Span(f"{cut(printable(key), name - 2):<{name}}"),
        Span("".join(f"{text.number(value):>{VALUE}}" for value in figures[:count])),
        Span(f"  {sparkline(values, TREND)}", "ours"),
    )
