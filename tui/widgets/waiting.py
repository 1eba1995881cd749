"""What is shown while there is no step yet: what is looked for, where, and what to check."""

from ...monitor.frame import Frame
from ..lines import Line, Span, cells, wrapped
from .panel import Panel

SAYS = {
    "waiting": "waiting for it to appear",
    "reading": "read, no step in it",
    "denied": "may not be read",
    "lost": "is gone",
    "ended": "ended without a step",
}


class Waiting(Panel):
    """Fills the screen until the first step."""

    def idle(self, width: int, height: int) -> list[Line]:
        return _middle([(Span("opening the run …", "dim"),)], width, height)

    def lay_out(self, frame: Frame, width: int, height: int) -> list[Line]:
        sources = list(frame.state.sources.values())
        ended = frame.state.ended
        waiting = next((status for status in sources if status.state == "waiting"), None)
        denied = next((status for status in sources if status.state in ("denied", "lost")), None)
        if denied is not None:
            head = Span(f"✖ {_name(denied.path)} {SAYS[denied.state]}", "bad")
        elif ended is not None:
            bad = ended.status == "crashed"
            head = Span(
                f"{'✖ ' if bad else ''}{ended.status} before its first step", "bad" if bad else "strong"
            )
        elif waiting is not None:
            head = Span(f"waiting for {_name(waiting.path)} …", "strong")
        else:
            head = Span("waiting for the first step …", "strong")
        lines: list[Line] = [(head,), ()]
        if ended is not None and ended.message:
            lines += [*wrapped(ended.message, width - 4, "plain"), ()]
        for status in sources:
            lines.extend(wrapped(f"{status.path}", width - 4, "plain"))
            lines.extend(wrapped(status.reason or SAYS[status.state], width - 4, "dim"))
        if not sources:
            lines.append((Span("no source has been opened yet", "dim"),))
        what = "The screen fills by itself with the first step." if ended is None else "8 shows the log."
        lines += [(), (Span(f"{what}  q leaves.", "dim"),)]
        return _middle(lines, width, height)


def _name(path: str) -> str:
    return path.rstrip("/").rsplit("/", 1)[-1] or path


def _middle(lines: list[Line], width: int, height: int) -> list[Line]:
    """The block in the middle of the room, its left edge straight."""
    left = max((width - max(cells(line) for line in lines)) // 2, 1)
    above = max((min(height, 100) - len(lines)) // 2, 0)
    return [*[()] * above, *((Span(" " * left), *line) for line in lines)]
