"""A line of the screen as spans of text in named inks, and how spans share the room there is. Pure.

An ink is a name that `inks` gives a colour of the theme; nothing here knows colours.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rich.cells import cell_len, set_cell_size

from ..models.text import printable

CLOSEST = 2
"""Cells that stay between two parts of a line."""


class Span(NamedTuple):
    """Text in one ink."""

    text: str
    ink: str = "plain"


Line = tuple[Span, ...]
EMPTY: Line = ()


class Part(NamedTuple):
    """Something to say on a line; where room is short, the highest rank goes first."""

    rank: int
    spans: Line


def part(rank: int, *spans: Span) -> Part:
    """A part of a line."""
    return Part(rank, spans)


def cells(line: Iterable[Span]) -> int:
    """Width of a line on screen."""
    return sum(cell_len(span.text) for span in line)


def cut(text: str, width: int) -> str:
    """Text of at most `width` cells; an ellipsis tells that some is missing."""
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, max(width - 1, 0)) + "…" if width > 0 else ""


def fit(line: Line, width: int) -> Line:
    """The line at exactly `width` cells: padded, or cut with an ellipsis."""
    missing = width - cells(line)
    if missing == 0:
        return line
    if missing > 0:
        return (*line, Span(" " * missing))
    kept: list[Span] = []
    room = width
    for span in line:
        size = cell_len(span.text)
        # One cell stays free for the ellipsis, as the line is known to be too long.
        if size < room:
            kept.append(span)
            room -= size
        else:
            kept.append(Span(set_cell_size(span.text, max(room - 1, 0)) + "…" * (room > 0), span.ink))
            break
    return tuple(kept)


def overlaid(line: Line, at: int, piece: Span, over: str | None = None) -> Line:
    """The line with a piece laid over it from cell `at` on, on the ground that is there.

    `over` are the signs that may be covered; None covers all. The line's text is one cell a character there.
    """
    spans: list[Span] = []
    start, stop = at, at + len(piece.text)
    here = 0
    for span in line:
        size = cell_len(span.text)
        if here + size <= start or here >= stop:
            spans.append(span)
        else:
            left, right = max(start - here, 0), min(stop - here, size)
            middle = span.text[left:right]
            if over is not None and any(sign not in over for sign in middle):
                spans.append(span)
            else:
                ground = "-band" if span.ink.endswith("band") else ""
                words = piece.text[max(here - start, 0) :][: right - left]
                parts = (
                    Span(span.text[:left], span.ink),
                    Span(words, f"{piece.ink}{ground}"),
                    Span(span.text[right:], span.ink),
                )
                spans += [part for part in parts if part.text]
        here += size
    return tuple(spans)


def tidied(line: Line) -> Line:
    """The same picture with no text that starts with a space: some viewers of saved pictures drop those."""
    spans: list[Span] = []
    for span in line:
        inner = span.text.lstrip(" ")
        moved = len(span.text) - len(inner)
        if moved and inner:
            if spans and spans[-1].ink.endswith("band") == span.ink.endswith("band"):
                spans[-1] = Span(spans[-1].text + " " * moved, spans[-1].ink)
            else:
                spans.append(Span(" " * moved, span.ink))
            span = Span(inner, span.ink)
        spans.append(span)
    return tuple(spans)


def row(parts: Sequence[Part], width: int, gap: int = 3) -> Line:
    """As many parts as fit side by side, in the order given; they move closer before one is dropped."""
    kept, gap = _that_fit(parts, width, gap)
    return _joined(kept, gap)


def spread(left: Sequence[Part], right: Sequence[Part], width: int, gap: int = 3) -> Line:
    """Parts from the left edge and parts at the right edge; ranks count over both."""
    kept, gap = _that_fit([*left, *right], width, gap)
    start = _joined([part for part in left if part in kept], gap)
    end = _joined([part for part in right if part in kept], gap)
    return (*start, Span(" " * (width - cells(start) - cells(end))), *end)


def _that_fit(parts: Sequence[Part], width: int, gap: int) -> tuple[list[Part], int]:
    """The parts to keep, and the cells between them."""
    kept = [part for part in parts if part.spans]
    closest = min(gap, CLOSEST)
    while len(kept) > 1 and _length(kept, closest) > width:
        kept.remove(max(reversed(kept), key=lambda part: part.rank))
    return kept, gap if _length(kept, gap) <= width else closest


def _joined(parts: Sequence[Part], gap: int) -> Line:
    joined: list[Span] = []
    for index, one in enumerate(parts):
        if index:
            joined.append(Span(" " * gap))
        joined.extend(one.spans)
    return tuple(joined)


def wrapped(text: str, width: int, ink: str = "plain") -> list[Line]:
    """Text over as many lines as it needs, broken between words."""
    lines: list[Line] = []
    current = ""
    for word in printable(text).split():
        longer = f"{current} {word}" if current else word
        if current and cell_len(longer) > width:
            lines.append((Span(current, ink),))
            current = word
        else:
            current = longer
    if current:
        lines.append((Span(cut(current, width), ink),))
    return lines


def _length(parts: Sequence[Part], gap: int) -> int:
    return sum(cells(part.spans) for part in parts) + gap * (len(parts) - 1)
