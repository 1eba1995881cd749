"""The lines of the log worth showing: errors, pauses, checkpoints, the newest first."""

from datetime import datetime

from ...monitor.frame import Frame
from ..lines import Line, Span, wrapped
from .panel import Panel

INK = {"error": "bad", "warning": "warn", "info": "plain", "debug": "dim"}
SIGN = {"error": "✖", "warning": "▲", "info": "·", "debug": "·"}
TIME = 9


class LogList(Panel):
    """Wraps what is long; a line that the log gave no time has none here."""

    def lay_out(self, frame: Frame, width: int, height: int) -> list[Line]:
        logs = frame.state.logs
        lines: list[Line] = [(Span("LOG  ", "title"), Span(str(len(logs)), "dim"))]
        if not logs:
            lines.append((Span("  · ", "dim"), Span("nothing in it but numbers so far", "dim")))
        for log in reversed(logs):
            at = "" if log.at is None else f"{datetime.fromtimestamp(log.at):%H:%M:%S}"
            first, *rest = wrapped(log.text, width - TIME - 4, INK[log.level]) or [()]
            lines.append((Span(f"{at:{TIME}}", "dim"), Span(f"{SIGN[log.level]} ", INK[log.level]), *first))
            lines.extend((Span(" " * (TIME + 2)), *line) for line in rest)
        return lines
