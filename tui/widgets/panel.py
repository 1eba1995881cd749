"""The base of every panel: a frame in, lines of inked spans out, and only what changed drawn again."""

from collections.abc import Mapping

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.geometry import Region, Size
from textual.strip import Strip
from textual.widget import Widget

from ...models.text import printable
from ...monitor.frame import Frame
from ..inks import ink_style
from ..lines import Line, Span, cells, fit, tidied

_UNBOUNDED = 1000
"""Rows offered to a panel that is asked how many it would like."""


class Panel(Widget):
    """Draws the lines that `lay_out` makes of the latest frame.

    A subclass makes text and nothing else: it reads no clock and no file, and computes no figure that
    a layer below could have given it.
    """

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.frame: Frame | None = None
        self._lines: list[Line] = []
        self._strips: dict[int, Strip] = {}
        self._styles: dict[str, Style] = {}
        self._ground_style: Style | None = None
        self._laid_out: tuple[Frame | None, int, int] | None = None

    @property
    def ascii_only(self) -> bool:
        """Whether signs, blocks and braille are to be written in ASCII."""
        return self.screen.has_class("-ascii")

    @property
    def keymap(self) -> Mapping[str, str]:
        """Keys that the user has chosen, by the id of what they do."""
        return self.app._keymap  # pyright: ignore[reportPrivateUsage, reportUnknownMemberType] - said nowhere else

    def lay_out(self, frame: Frame, width: int, height: int) -> list[Line]:
        """The panel's text at a size, in cells. Fewer lines than `height` are welcome."""
        raise NotImplementedError

    def idle(self, width: int, height: int) -> list[Line]:
        """What to show before there is a frame."""
        return []

    def present(self, frame: Frame) -> bool:
        """Whether the panel has anything to say; it takes no room otherwise."""
        return True

    def show(self, frame: Frame) -> None:
        """Take a newer frame; what looks as before is not drawn again."""
        if frame is self.frame:
            return
        self.frame = frame
        present = self.present(frame)
        self.set_class(not present, "-absent")
        if present:
            self.renew()

    def renew(self) -> None:
        """Lay out anew, and draw the cells that differ."""
        if not self.is_attached or self.size.width == 0:
            self.refresh(layout=True)
            return
        if self.styles.is_auto_height and self._outgrown():
            self.refresh(layout=True)  # a panel that grows or shrinks moves the ones below it
        before = self._lines
        self._bring_up_to_date()
        self._refresh_changes(before)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        return len(self._texts(width, _UNBOUNDED))

    def render_line(self, y: int) -> Strip:
        self._bring_up_to_date()
        strip = self._strips.get(y)
        if strip is None:
            width = self.size.width
            line = self._lines[y] if y < len(self._lines) else ()
            strip = self._strips[y] = self._strip(fit(line, width), width)
        return strip

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._strips.clear()
        self._styles.clear()
        self._ground_style = None

    def _outgrown(self) -> bool:
        """Whether the panel wants another height than it has."""
        wanted = len(self._texts(self.size.width, _UNBOUNDED))
        limit = self.styles.max_height
        if limit is not None and limit.cells is not None:
            wanted = min(wanted, limit.cells)
        return wanted != self.size.height

    def _texts(self, width: int, height: int) -> list[Line]:
        return self.idle(width, height) if self.frame is None else self.lay_out(self.frame, width, height)

    def _bring_up_to_date(self) -> None:
        key = (self.frame, self.size.width, self.size.height)
        if key == self._laid_out:
            return
        lines = self._texts(self.size.width, self.size.height)
        if self._laid_out is None or self._laid_out[1] != self.size.width:
            self._strips.clear()
        for y in range(max(len(lines), len(self._lines))):
            if y >= len(lines) or y >= len(self._lines) or lines[y] != self._lines[y]:
                self._strips.pop(y, None)
        self._lines = lines
        self._laid_out = key

    def _refresh_changes(self, before: list[Line]) -> None:
        """Ask for the changed stretch of each changed line to be drawn."""
        regions: list[Region] = []
        for y in range(max(len(before), len(self._lines))):
            old = before[y] if y < len(before) else ()
            new = self._lines[y] if y < len(self._lines) else ()
            if old != new and y < self.size.height:
                start, end = changed(fit(old, self.size.width), fit(new, self.size.width))
                regions.append(Region(start, y, max(end - start, 1), 1))
        if sum(region.width for region in regions) * 2 > self.size.area:
            self.refresh()  # cutting it out piece by piece would take longer than drawing it whole
        elif regions:
            self.refresh(*regions)

    def _strip(self, line: Line, width: int) -> Strip:
        segments: list[Segment] = []
        for span in tidied(line):
            segments.append(Segment(printable(span.text), self._style(span.ink)))
        return Strip(segments).adjust_cell_length(width, self._ground())

    def _style(self, ink: str) -> Style:
        style = self._styles.get(ink)
        if style is None:
            colourless = self.has_pseudo_class("nocolor")
            inked = ink_style(ink, self.app.theme_variables, colourless)
            style = self._styles[ink] = self._ground() + inked
        return style

    def _ground(self) -> Style:
        """The panel's own style, which Textual works out anew each time it is asked."""
        if self._ground_style is None:
            self._ground_style = self.rich_style
        return self._ground_style


def changed(old: Line, new: Line) -> tuple[int, int]:
    """From which cell to which two lines of equal width differ."""
    width = cells(new)
    start = _equal_cells(old, new)
    end = width - _equal_cells(_mirrored(old), _mirrored(new))
    return min(start, width), max(end, start)


def _mirrored(line: Line) -> Line:
    return tuple(Span(span.text[::-1], span.ink) for span in reversed(line))


def _equal_cells(a: Line, b: Line) -> int:
    """How many cells from the left are the same in both."""
    equal = 0
    for left, right in zip(a, b, strict=False):
        if left == right:
            equal += cell_len(left.text)
            continue
        if left.ink == right.ink:
            for one, other in zip(left.text, right.text, strict=False):
                if one != other:
                    break
                equal += cell_len(one)
        break
    return equal
