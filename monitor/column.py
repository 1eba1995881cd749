"""One quantity over the rows of a history, NaN where unknown. Its one rule: only known cells cost memory.

Rows come in blocks. The newest are kept as rows (`newest`), those before as an array a column, and what lies
some 16,000 rows back is packed (`packing`). A block in which nothing was known is not kept at all.

The screen reads in one thread while the fold writes in another: whatever is let go of has been put in its new
place before.
"""

from array import array
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import NamedTuple, overload

from .newest import NAN, ROWS, Newest
from .packing import Packed, Packer, unpacked

UNPACKED = 3
"""Blocks of a column that stand as they came: most runs end before packing pays."""


class Block(NamedTuple):
    """Cells from row `first` on, all of one block of rows."""

    first: int
    cells: "array[float]"

    def at(self, row: int) -> float:
        """The cell of a row."""
        offset = row - self.first
        return self.cells[offset] if 0 <= offset < len(self.cells) else NAN

    def part(self, start: int, stop: int) -> "array[float]":
        """The cells of the rows from `start` to before `stop`, be they there or not."""
        since, until = max(start, self.first), min(stop, self.first + len(self.cells))
        if since >= until:
            return _unknown(stop - start)
        known = self.cells[since - self.first : until - self.first]
        return (
            known if len(known) == stop - start else _unknown(since - start) + known + _unknown(stop - until)
        )

    def joined(self, first: int, cells: "array[float]") -> "Block":
        """With other cells, which win over those that are there."""
        if first < self.first:
            both = self.part(first, max(first + len(cells), self.first + len(self.cells)))
            both[: len(cells)] = cells
            return Block(first, both)
        offset = first - self.first
        self.cells.extend(_unknown(offset - len(self.cells)))
        self.cells[offset : offset + len(cells)] = cells
        return self


class Column(Sequence[float]):
    """Cells by row. It is as long as `rows`, or, without these, as its last cell that was told.

    `exact`: cells of packed blocks are kept to the last digit, not to seven. `newest`: where the table has
    the rows that are not in blocks yet; there the column is called `name`.
    """

    __slots__ = ("_blocks", "_end", "_exact", "_name", "_newest", "_old", "_packer", "_read", "_rows")

    def __init__(
        self,
        rows: "array[int] | None" = None,
        exact: bool = False,
        newest: Newest | None = None,
        name: str = "",
        packer: Packer | None = None,
    ) -> None:
        self._rows = rows
        self._exact = exact
        self._newest = newest
        self._name = name
        self._packer = packer or Packer()
        self._blocks: dict[int, Block] = {}
        self._old: dict[int, Packed] = {}
        """What is in `_blocks` as well is out of date here."""
        self._read: tuple[Packed, Block] | None = None
        """The packed block that was read last, and what it holds."""
        self._end = 0
        """The row behind the last cell of a block."""

    def __len__(self) -> int:
        if self._rows is not None:
            return len(self._rows)
        return max(self._end, self._newest.rows.end(self._name) if self._newest else 0)

    @overload
    def __getitem__(self, index: int) -> float: ...
    @overload
    def __getitem__(self, index: slice) -> "array[float]": ...
    def __getitem__(self, index: int | slice) -> "float | array[float]":
        if not isinstance(index, slice) and index >= 0 and (value := self.at(index)) == value:
            return value  # a known cell needs no look at the length
        length = len(self)
        if isinstance(index, slice):
            start, stop, step = index.indices(length)
            if step == 1:
                return sum(self._parts(start, stop), array("d"))
            return array("d", map(self.at, range(start, stop, step)))
        if index < 0:
            index += length
        if not 0 <= index < length:
            raise IndexError(index)
        return self.at(index)

    def __iter__(self) -> Iterator[float]:
        return chain.from_iterable(self._parts(0, len(self)))

    def at(self, row: int) -> float:
        """The cell of a row; NaN where it was never written."""
        if self._newest is not None and row >= (newest := self._newest.rows).first:
            place, cells = newest.places.get(self._name), newest.cells
            if place is None:
                return NAN
            place += (row - newest.first) * newest.width
            return cells[place] if place < len(cells) else NAN
        block = self._block(row // ROWS)
        return NAN if block is None else block.at(row)

    def put(self, row: int, value: float) -> None:
        """Write the cell of a row that is not among the newest."""
        self._end = max(self._end, row + 1)
        block = self._block(row // ROWS)
        if block is None or block.at(row) != value:
            self._keep(row // ROWS, block, row, array("d", [value]))

    def add(self, first: int, cells: "array[float]", end: int) -> None:
        """Take over newest rows, all of one block; `end` is the row behind the last cell that was told."""
        self._end = max(self._end, end)
        if cells[0] != cells[0] or cells[-1] != cells[-1]:  # such as a score that comes every fifty steps
            known = [place for place, cell in enumerate(cells) if cell == cell]
            if not known:
                return
            first, cells = first + known[0], cells[known[0] : known[-1] + 1]
        self._keep(first // ROWS, self._block(first // ROWS), first, cells)

    def _keep(self, number: int, block: Block | None, first: int, cells: "array[float]") -> None:
        self._blocks[number] = block.joined(first, cells) if block is not None else Block(first, cells)
        if len(self._blocks) > UNPACKED:
            oldest = next(iter(self._blocks))
            self._old[oldest] = self._packer.packed(*self._blocks[oldest], self._exact)
            del self._blocks[oldest]

    def _block(self, number: int) -> Block | None:
        block = self._blocks.get(number)
        if block is not None or number not in self._old:
            return block
        old, read = self._old[number], self._read
        if read is None or read[0] is not old:
            read = self._read = old, Block(old.first, unpacked(old))
        return read[1]

    def _parts(self, start: int, stop: int) -> "Iterator[array[float]]":
        """The cells of the rows from `start` to before `stop`, a part a block."""
        while start < stop:
            newest = self._newest.rows if self._newest is not None else None
            if newest is not None and start >= newest.first:
                yield Block(newest.first, newest.column(self._name)).part(start, stop)
                return
            until = min(stop, (start // ROWS + 1) * ROWS, newest.first if newest is not None else stop)
            block = self._block(start // ROWS)
            yield block.part(start, until) if block is not None else _unknown(until - start)
            start = until


def _unknown(cells: int) -> "array[float]":
    return array("d", [NAN]) * cells
