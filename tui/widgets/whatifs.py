"""What the run would cost if one thing were otherwise, and the assumption behind each figure."""

from ...models import text
from ...models.money import WhatIf
from ...monitor.frame import Frame
from ..lines import Line, Span, cut, wrapped
from .panel import Panel

LABEL, USD, CHANGE = 40, 9, 9
BESIDE = 100
"""From this width on the assumptions stand beside the figures, below it under them where there is room."""


class WhatIfs(Panel):
    """Asked anew only when a step is new: the answers rest on sums over the whole run."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._asked: tuple[object, ...] = ()
        self._answers: tuple[WhatIf, ...] = ()

    def lay_out(self, frame: Frame, width: int, height: int) -> list[Line]:
        asked = (
            frame.state.history,
            frame.state.closed,
            frame.state.amended,
            frame.status,
            frame.replay is None,
        )
        if asked != self._asked:
            self._asked, self._answers = asked, frame.whatifs()
        label = min(LABEL, width - USD - CHANGE)
        titles = f"{'dollars':>{USD}}{'change':>{CHANGE}}"
        lines: list[Line] = [(Span(f"{'WHAT IF':<{label}}", "title"), Span(titles, "dim"))]
        for one in self._answers:
            ink = "good" if one.difference_usd < 0 else "plain"
            head: Line = (
                Span(f"{cut(one.label, label - 1):<{label}}"),
                Span(f"{text.usd(one.usd):>{USD}}"),
                Span(f"{text.usd_change(one.difference_usd):>{CHANGE}}", ink),
            )
            if width >= BESIDE:
                room = width - label - USD - CHANGE - 3
                head = (*head, Span(f"   {cut(one.how, room)}", "dim"))
            lines.append(head)
        if not self._answers:
            nothing = (
                "needs dollars: see the bill"
                if frame.bill.spent_usd is None
                else "the log has too few counts"
            )
            lines.append((Span(nothing, "dim"),))
        if width < BESIDE and height >= 3 * len(lines):
            lines = [
                *lines[:1],
                *(
                    line
                    for one, head in zip(self._answers, lines[1:], strict=False)
                    for line in (head, *((Span("  "), *rest) for rest in wrapped(one.how, width - 2, "dim")))
                ),
            ]
        return lines
