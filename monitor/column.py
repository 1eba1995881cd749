"""One quantity over the rows of a history, NaN where unknown. Its one rule: only known cells cost memory.

Rows are kept in blocks, a block in which nothing was known not at all. The newest rows stand as they came;
what lies some 30,000 rows back is packed: one number where it was always the same, and single precision
where that is enough.
"""

import math
from array import array
from collections.abc import Iterator, Sequence
from typing import NamedTuple, overload

NAN = math.nan
ROWS = 1024
"""In a block."""
UNPACKED = 32
"""Full blocks behind the open one that stand as they came: most runs end before packing pays."""
SINGLE = 2.0**24
"""Below it, single precision holds seven digits, and whole numbers exactly."""


class Block(NamedTuple):
    """A block that is full: `length` cells from row `first` on, as one number where all are the same."""

    first: int
    length: int
    cells: "array[float]"

    def at(self, index: int) -> float:
        """The cell of a row."""
        offset = index - self.first
        if not 0 <= offset < self.length:
            return NAN
        return self.cells[offset if len(self.cells) > 1 else 0]

    def unpacked(self) -> "array[float]":
        """All cells."""
        same = len(self.cells) < self.length
        return array("d", [self.cells[0]]) * self.length if same else array("d", self.cells)


class Column(Sequence[float]):
    """Cells by row. It is as long as `rows`, or, without these, as its last known cell.

    `exact`: cells of packed blocks are kept to the last digit, not to seven.
    """

    __slots__ = ("_blocks", "_exact", "_open", "_rows")

    def __init__(self, rows: "array[int] | None" = None, exact: bool = False) -> None:
        self._rows = rows
        self._exact = exact
        self._blocks: dict[int, Block] = {}
        self._open: tuple[int, array[float]] = 0, array("d")
        """The row of its first cell, and the cells: one value, as the screen reads while the fold writes."""

    def __len__(self) -> int:
        if self._rows is not None:
            return len(self._rows)
        first, cells = self._open
        return first + len(cells)

    @overload
    def __getitem__(self, index: int) -> float: ...
    @overload
    def __getitem__(self, index: slice) -> "array[float]": ...
    def __getitem__(self, index: int | slice) -> "float | array[float]":
        if isinstance(index, slice):
            return array("d", map(self.at, range(*index.indices(len(self)))))
        if index < 0:
            index += len(self)
        if not 0 <= index < len(self):
            raise IndexError(index)
        return self.at(index)

    def __iter__(self) -> Iterator[float]:
        return map(self.at, range(len(self)))

    def at(self, index: int) -> float:
        """The cell of a row; NaN where it was never written."""
        first, cells = self._open
        offset = index - first
        if offset >= 0:
            return cells[offset] if offset < len(cells) else NAN
        block = self._blocks.get(index // ROWS)
        return NAN if block is None else block.at(index)

    def put(self, index: int, value: float) -> None:
        """Write the cell of a row, a new one or an old one."""
        first, cells = self._open
        number, newest = index // ROWS, first // ROWS
        if number < newest:
            self._put_back(number, index, value)
        elif number > newest or not cells:
            if cells:
                self._blocks[newest] = Block(first, len(cells), cells)
                self._pack(number - 1 - UNPACKED)
            self._open = index, array("d", [value])
        else:
            self._open = min(first, index), _written(first, cells, index, value)

    def open_at(self, index: int) -> "array[float] | None":
        """The open block, if row `index` is the next one and belongs into it."""
        first, cells = self._open
        return cells if cells and first + len(cells) == index and index % ROWS else None

    def _put_back(self, number: int, index: int, value: float) -> None:
        """Into a block that has been packed, or left out."""
        block = self._blocks.get(number)
        if block is None:
            self._blocks[number] = Block(index, 1, array("d", [value]))
        else:
            cells = _written(block.first, block.unpacked(), index, value)
            self._blocks[number] = Block(min(block.first, index), len(cells), cells)
            if number <= self._open[0] // ROWS - UNPACKED:
                self._pack(number)

    def _pack(self, number: int) -> None:
        block = self._blocks.get(number)
        if block is not None:
            self._blocks[number] = _packed(block.first, block.unpacked(), self._exact)


def _written(first: int, cells: "array[float]", index: int, value: float) -> "array[float]":
    """The cells from row `first` on with one more written before, among or behind them."""
    if index < first:
        return array("d", [value, *[NAN] * (first - index - 1)]) + cells
    gap = index - first - len(cells)
    if gap < 0:
        cells[gap] = value
    else:
        cells.extend([*[NAN] * gap, value])
    return cells


def _packed(first: int, cells: "array[float]", exact: bool) -> Block:
    if cells.count(cells[0]) == len(cells):
        return Block(first, len(cells), cells[:1])
    narrow = array("f", cells)
    if exact:
        fits = array("d", narrow).tobytes() == cells.tobytes()
    else:
        finite = cells if math.isfinite(sum(cells)) else [cell for cell in cells if math.isfinite(cell)]
        fits = min(finite, default=0.0) > -SINGLE and max(finite, default=0.0) < SINGLE
    return Block(first, len(cells), narrow if fits else array("d", cells))
