"""The runs by name and colour, and the table of what they have in common and what sets them apart."""

from collections.abc import Sequence
from itertools import zip_longest

from rich.cells import cell_len, set_cell_size

from ...models import text
from ...models.comparison import Comparison
from ...models.text import printable
from ...monitor import compare_table
from ...monitor.frame import Frame
from ..glyphs import STATUS
from ..lines import Line, Span, cells, cut, fit, part, row
from .comparechart import LETTERS, ink_of
from .panel import Panel
from .status import FRAMEWORKS, STATUS_INK

NAME = 32
TITLE, CELL, WIDEST, GAP = 20, 12, 30, 4
BESIDE = 116
"""From this width on, the blocks of the table stand side by side, where they fit whole."""


class ComparePanel(Panel):
    """Base of the panels that show a comparison."""

    comparison: Comparison | None = None

    def compare(self, comparison: Comparison, frame: Frame) -> None:
        """Show this comparison."""
        self.comparison, self.frame = comparison, frame
        self._laid_out = None
        self.renew()


class Legend(ComparePanel):
    """A line a run: its colour and letter, its name, how it stands, and its dollars."""

    def lay_out(self, frame: Frame, width: int, height: int) -> list[Line]:
        if self.comparison is None:
            return []
        lines: list[Line] = []
        names = [cut(printable(run.name), NAME) for run in self.comparison.runs]
        longest = max(map(cell_len, names))
        for index, run in enumerate(self.comparison.runs):
            model = (run.model or "").rsplit("/", 1)[-1]
            final = text.usd(run.final_usd.p50) if run.final_usd else text.UNKNOWN
            steps = f"step {run.steps_done}" + (f"/{run.total_steps}" if run.total_steps else "")
            parts = [
                part(
                    0,
                    Span(f"{LETTERS[index]} ━━ ", ink_of(index)),
                    Span(set_cell_size(names[index], longest), "strong"),
                ),
                part(
                    4,
                    Span(f"{printable(FRAMEWORKS.get(run.framework or '', run.framework or '')):<8}", "dim"),
                ),
                part(5, Span(printable(model), "dim")),
                part(2, Span(f"{STATUS[run.state]} {run.state:<8}", STATUS_INK[run.state])),
                part(3, Span(f"{steps:<14}")),
                part(1, Span(text.usd(run.spent_usd), "ours"), Span(" → ", "dim"), Span(final, "projected")),
            ]
            lines.append(row(parts, width))
        return lines


class CompareTable(ComparePanel):
    """Blocks of lines: now, at the furthest place that all have reached, and the facts that differ."""

    def lay_out(self, frame: Frame, width: int, height: int) -> list[Line]:
        found = self.comparison
        if found is None:
            return []
        blocks = (
            ("NOW", compare_table.now(found)),
            (compare_table.shared_title(found), compare_table.shared(found)),
            ("DIFFERENT FACTS", compare_table.facts(found)),
        )
        if width >= BESIDE:
            now, right = _laid(blocks, len(found.runs), (width - GAP) // 2)
            left = _widest(now) + GAP
            if left + _widest(right) <= width:  # a figure cut in two would be another figure
                return [(*fit(one, left), *other) for one, other in zip_longest(now, right, fillvalue=())]
        now, right = _laid(blocks, len(found.runs), width)
        return [*now, (), *right]


def _laid(
    blocks: Sequence[tuple[str, list[compare_table.Line]]], count: int, width: int
) -> tuple[list[Line], list[Line]]:
    """The first block, and those after it with a line between them."""
    now, *others = [_block(name, block, count, width) for name, block in blocks if block]
    return now, [line for block in others for line in ((), *block)][1:]


def _widest(lines: Sequence[Line]) -> int:
    return max(map(cells, lines), default=0)


def _block(name: str, block: list[compare_table.Line], count: int, width: int) -> list[Line]:
    """A title with the letters of the runs, and the lines below it."""
    title = min(
        max([TITLE, *(cell_len(line.title) + 2 for line in block)]), max(width - count * CELL - 8, TITLE)
    )
    room = max((width - title - 8) // count, CELL)
    cell = min(max([CELL, *(cell_len(one) + 2 for line in block for one in line.cells)]), WIDEST, room)
    letters = [Span(f"{LETTERS[index]:>{cell}}", ink_of(index)) for index in range(count)]
    head = (Span(f"{cut(name, title - 1):<{title}}", "title"), *letters)
    return [head, *(_row(line, title, cell) for line in block)]


def _row(line: compare_table.Line, title: int, cell: int) -> Line:
    cells = "".join(_right(cut(one, cell - 1), cell) for one in line.cells)
    name = cut(line.title, title - 1)
    return (Span(name + " " * (title - cell_len(name)), "dim"), Span(cells), Span(f"  {line.change}", "dim"))


def _right(words: str, width: int) -> str:
    return " " * (width - cell_len(words)) + words
