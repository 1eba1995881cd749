"""What is wrong, since when, and what to do about it."""

from rich.cells import cell_len, set_cell_size

from ...models.alert import Alert
from ...models.text import printable
from ...monitor.frame import Frame
from ..glyphs import SEVERITY
from ..lines import Line, Span, cut, wrapped
from ..readings import active, cleared
from .panel import Panel

INK = {"critical": "bad", "warning": "warn", "info": "plain"}
SINCE = 9
"""Cells of the column that says since which step."""
SIGN, GAP = 2, 3


class Alerts(Panel):
    """The gravest first, a line each; advice beside or below them as far as there is room."""

    def lay_out(self, frame: Frame, width: int, height: int) -> list[Line]:
        alerts = [*active(frame), *cleared(frame)]
        if not alerts:
            return [(Span("✓ ", "good"), Span("no alerts", "dim"))] if len(frame.state.history) else []
        shown = alerts if len(alerts) <= height else alerts[: max(height - 1, 1)]
        message = min(max(cell_len(printable(alert.message)) for alert in shown), width - SIGN - GAP - SINCE)
        advice = max(cell_len(printable(alert.advice)) for alert in shown)
        beside = SIGN + message + GAP + SINCE + GAP + advice <= width
        entries = [entry(alert, width, message, beside) for alert in shown]
        spare = height - len(alerts)
        lines: list[Line] = []
        for head, *advice in entries:
            lines.append(head)
            if len(advice) <= spare:
                lines.extend(advice)
                spare -= len(advice)
        if len(shown) < len(alerts) and height > 1:
            lines.append((Span(f"  +{len(alerts) - len(shown)} more: key 7", "dim"),))
        return lines


def entry(alert: Alert, width: int, room: int, beside: bool) -> list[Line]:
    """One alert: its line, with `room` cells for the message, and its advice `beside` that or below."""
    over = alert.cleared_step is not None
    ink = "dim" if over else INK[alert.severity]
    since = f"{alert.step}–{alert.cleared_step}" if over else f"since {alert.step}"
    sign = "✓" if over else SEVERITY[alert.severity]
    head: Line = (
        Span(f"{sign} ", ink),
        Span(set_cell_size(cut(printable(alert.message), room), room), ink),
        Span(f"{' ' * GAP}{since:<{SINCE}}", "dim"),
    )
    if over or not alert.advice:
        return [head]
    if beside:
        return [(*head, Span(" " * GAP), Span(printable(alert.advice)))]
    return [head, *((Span(" " * SIGN), *line) for line in wrapped(alert.advice, width - SIGN, "dim")[:1])]
