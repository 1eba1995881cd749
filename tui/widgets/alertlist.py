"""Every alert of the run in full, every note on what the figures stand on, and what is watched at all."""

from ...models import text
from ...models.alert import Alert
from ...models.text import printable
from ...monitor.frame import Frame
from ..glyphs import SEVERITY
from ..lines import Line, Span, wrapped
from ..readings import active, cleared
from .alerts import INK
from .notes import about_input, unsaid
from .panel import Panel

INDENT = 4


class AlertList(Panel):
    """Active ones first, then those that are over, then the notes, then the rules."""

    def lay_out(self, frame: Frame, width: int, height: int) -> list[Line]:
        held, gone = active(frame), cleared(frame)
        lines: list[Line] = [(Span("ACTIVE  ", "title"), Span(str(len(held)), "dim"))]
        for alert in held:
            lines += [(), *_full(alert, width)]
        if not held:
            lines.append((Span("  ✓ ", "good"), Span("nothing to do", "dim")))
        if gone:
            lines += [(), (Span("OVER  ", "title"), Span(str(len(gone)), "dim"))]
            for alert in gone:
                lines += [(), *_full(alert, width)]
        ended = frame.state.ended
        last_words = [ended.message] if ended is not None and ended.message else []
        notes = [*last_words, *about_input(frame), *unsaid(frame)]
        if notes:
            lines += [(), (Span("NOTES", "title"),)]
            for note in dict.fromkeys(notes):
                first, *rest = wrapped(note, width - INDENT, "plain")
                lines += [(Span("  · ", "dim"), *first), *((Span(" " * INDENT), *line) for line in rest)]
        return [*lines, *_coverage(frame, width)]


def _coverage(frame: Frame, width: int) -> list[Line]:
    """Which rules are watched, and what the others lack: silence is worth as much as what is watched."""
    watched = [watch for watch in frame.watched if watch.watched]
    unwatched = [watch for watch in frame.watched if not watch.watched]
    if not watched:
        return []
    indent = Span(" " * INDENT)
    names = ", ".join(watch.rule for watch in watched)
    lines: list[Line] = [(), (Span("WATCHED  ", "title"), Span(str(len(watched)), "dim"))]
    lines += [(indent, *line) for line in wrapped(names, width - INDENT, "dim")]
    if unwatched:
        lines += [(), (Span("NOT WATCHED  ", "title"), Span(str(len(unwatched)), "dim"))]
        column = max(len(watch.rule) for watch in unwatched) + 2
        for watch in unwatched:
            name = f"{watch.rule:<{column}}"
            first, *rest = wrapped(watch.why, width - INDENT - column, "dim") or [()]
            lines.append((indent, Span(name), *first))
            lines += [(Span(" " * (INDENT + column)), *line) for line in rest]
    return lines


def _full(alert: Alert, width: int) -> list[Line]:
    over = alert.cleared_step is not None
    ink = "dim" if over else INK[alert.severity]
    sign = "✓" if over else SEVERITY[alert.severity]
    when = f"step {alert.step}" + (f", over at {alert.cleared_step}" if over else "")
    indent = Span(" " * INDENT)
    first, *rest = wrapped(alert.message, width - INDENT, ink)
    figures = f"{text.number(alert.value)} against {text.number(alert.threshold)}"
    fact = f"{printable(alert.rule)} · {when} · {figures}"
    return [
        (Span(f"  {sign} ", ink), *first),
        *((indent, *line) for line in rest),
        *((indent, *line) for line in wrapped(alert.advice, width - INDENT, "dim" if over else "plain")),
        (indent, Span(fact, "dim")),
    ]
