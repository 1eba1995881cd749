"""The facts of a run and its configuration, as two lists; one filter for both."""

from collections.abc import Sequence

from rich.cells import cell_len, set_cell_size

from ...models.text import UNKNOWN, printable
from ...monitor.compare import differences
from ...monitor.frame import Frame
from ..facts import YOURS, Fact, configured, facts
from ..lines import Line, Span, cut, wrapped
from .panel import Panel

NAME, ORIGIN = 26, 8
WIDEST_NAME = 60
VALUE = 24
"""Cells of our value where that of another run stands beside it."""


class FactList(Panel):
    """`filter` leaves only lines that have each of its words, in their name or their value."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._words: list[str] = []

    def filter(self, wanted: str) -> None:
        """Show only what has every word of `wanted` in it."""
        self._words = wanted.casefold().split()
        self._laid_out = None
        self.refresh(layout=True)

    def lay_out(self, frame: Frame, width: int, height: int) -> list[Line]:
        known, given = list(facts(frame)), list(configured(frame.info))
        lines: list[Line] = [*_table("FACTS", "by", self._kept(known), width)]
        lines += [(), *self._against(frame, width)]
        if given:
            lines += [(), *_table("CONFIGURATION", "", self._kept(given), width)]
        else:
            lines += [(), (Span("the log has no configuration of the run", "dim"),)]
        return lines

    def _against(self, frame: Frame, width: int) -> list[Line]:
        """What differs from the other run, if there is one."""
        if frame.other is None:
            return [(Span("--against TARGET lists here what differs from another run", "dim"),)]
        found = differences([frame.info, frame.other.info])
        told = [Fact(printable(one.name), _both(one.values), "") for one in found]
        return _table(f"AGAINST {printable(frame.other.name)}", "", self._kept(told), width)

    def _kept(self, found: list[Fact]) -> list[Fact]:
        return [
            fact
            for fact in found
            if all(word in f"{fact.name} {fact.value}".casefold() for word in self._words)
        ]


def _table(title: str, origin: str, found: list[Fact], width: int) -> list[Line]:
    longest = max((cell_len(fact.name) for fact in found), default=0) + 2
    name = min(max(NAME, longest), WIDEST_NAME, max(width // 2, 10))
    said = ORIGIN if origin else 0
    lines: list[Line] = [(Span(f"{title:<{name}}", "title"), Span(f"{origin:<{said}}{len(found)}", "dim"))]
    for fact in found:
        first, *more = wrapped(fact.value, width - name - said, "plain") or [()]
        head = Span(set_cell_size(cut(fact.name, name - 2), name), "dim")
        lines.append(
            (head, Span(f"{fact.origin:<{said}}"[:said], "ours" if fact.origin == YOURS else "dim"), *first)
        )
        lines += [(Span(" " * (name + said)), *line) for line in more]
    if not found:
        lines.append((Span("nothing with these words", "dim"),))
    return lines


def _both(values: Sequence[str | None]) -> str:
    """Ours and theirs, side by side."""
    ours, theirs = (printable(value or UNKNOWN) for value in values)
    return f"{ours:<{VALUE}} {theirs}"
