"""A screen of ASCII: whatever has drawn a line, Textual's toasts and borders too, its signs are replaced."""

from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

from .glyphs import TO_ASCII


class AsciiOnly(LineFilter):
    """Puts the stand-ins in place of the signs of each line. Letters of a run's own words stay."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """The segments, their signs replaced."""
        return [
            segment
            if segment.text.isascii()
            else Segment(segment.text.translate(TO_ASCII), segment.style, segment.control)
            for segment in segments
        ]


ASCII_ONLY = AsciiOnly()
