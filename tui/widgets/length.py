"""Response length: now, since the start, at the end, and how near the cap it is."""

from ...models import text
from ...monitor.frame import Frame
from ..lines import Line, Part, Span, part, row
from .cost import LABEL
from .panel import Panel

GAP = 2


class Length(Panel):
    """One line; where it is narrow, the chart below it tells the rest."""

    def lay_out(self, frame: Frame, width: int, height: int) -> list[Line]:
        room = width - LABEL
        line = row([*_now(frame), *_ahead(frame, interval=True)], room, GAP)
        if not any(span.ink == "cap" for span in line):
            line = row([*_now(frame), *_ahead(frame, interval=False)], room, GAP)
        return [(Span(f"{'LENGTH':{LABEL}}", "title"), *line)]


def _now(frame: Frame) -> list[Part]:
    length = frame.health.response_length
    return [
        part(0, Span(text.tokens(length.last), "ours-big"), Span(" tok", "dim")),
        part(2, Span(text.ratio(length.growth)), Span(" since start", "dim")),
    ]


def _ahead(frame: Frame, interval: bool) -> list[Part]:
    end = frame.projection.response_length_at_end
    cap = part(3, Span("cap ", "dim"), Span(text.tokens(frame.info.max_tokens), "cap"))
    if frame.status == "finished":
        return [cap]
    around = f" ({text.tokens(end.p10)}–{text.tokens(end.p90)})" if end is not None and interval else ""
    expected = text.tokens(None if end is None else end.p50)
    return [part(1, Span("at the end ", "dim"), Span(expected, "projected-big"), Span(around, "dim")), cap]
