"""The newest rows of a table, as rows. Its one rule: a row with the usual names is appended in one go, since
a log has the same names in nearly every row, though not always in the same order.
"""

import math
from array import array
from collections.abc import Iterable, Mapping, Sequence
from operator import itemgetter
from struct import Struct

NAN = math.nan
ROWS = 4096
"""In a block. The newest rows are all of one block."""
MISFITS = 8
"""Other names are the usual ones once one row in so many has not those that were."""


class Rows:
    """Rows from `first` on with a cell for each of `names`, one row behind the other, NaN where unknown.

    The first `usual` names are those that most rows have; the others, such as scores that come every fifty
    rows, are behind them.
    """

    def __init__(self, first: int, names: Sequence[str], usual: int | None = None) -> None:
        self.first = first
        self.next = first
        """The row behind the last."""
        self.names = tuple(names)
        self.width = len(self.names)
        self.usual = len(self.names) if usual is None else usual
        self.places = {name: place for place, name in enumerate(self.names)}
        self.cells = array("d")
        self._bytes_of = Struct(f"{self.usual}d").pack  # several times as fast as to extend an array
        self._pick = itemgetter(*self.names[: self.usual]) if self.usual else None
        self._rest = array("d", [NAN]) * (self.width - self.usual)
        self._fit = 0
        """The row behind the last one that had the usual names."""
        self._misfits = 0
        self._told = [0] * self.width
        """By place, the row behind the last value of all other rows."""

    def end(self, name: str) -> int:
        """The row behind the last value of a name; 0 where there is none."""
        place = self.places.get(name)
        if place is None:
            return 0
        return max(self._fit, self._told[place]) if place < self.usual else self._told[place]

    def column(self, name: str) -> "array[float]":
        """All cells of a name."""
        place = self.places.get(name)
        return array("d") if place is None else self.cells[place :: self.width]

    def append(self, cells: Iterable[float]) -> None:
        """Add a row that has a cell for each usual name, in their order."""
        self.cells.frombytes(self._bytes_of(*cells))
        if self._rest:
            self.cells.extend(self._rest)
        self.next += 1
        self._fit = self.next

    def took(self, values: Mapping[str, float]) -> bool:
        """Add a row, if it has just the usual names."""
        if self._pick is None or len(values) != self.usual:
            return False
        try:
            cells = self._pick(values)
        except KeyError:
            return False
        self.append(cells if self.usual > 1 else (cells,))  # of one name it picks the value alone
        return True

    def fill(self, row: int, values: Mapping[str, float]) -> None:
        """Write some cells of a row, one that is there or a new one. All names are known."""
        end, told = row + 1, self._told
        if end > self.next:
            self.cells.extend(array("d", [NAN]) * ((end - self.next) * self.width))
            self._misfits += 1
            self.next = end
        start = (row - self.first) * self.width
        for name, value in values.items():
            place = self.places[name]
            self.cells[start + place] = value
            if told[place] < end:
                told[place] = end

    @property
    def unusual(self) -> bool:
        """Whether other names have become the usual ones."""
        return self._misfits * MISFITS > self.next - self.first

    @property
    def fits(self) -> bool:
        """Whether the last row had the usual names."""
        return self._fit == self.next

    def relaid(self, names: Sequence[str], usual: int) -> "Rows":
        """The same rows, with all of these names in this order."""
        wide = Rows(self.first, names, usual)
        wide.next = self.next
        wide.cells = array("d", [NAN]) * ((self.next - self.first) * wide.width)
        for name in self.names:
            place = wide.places[name]
            wide.cells[place :: wide.width] = self.column(name)
            wide._told[place] = self.end(name)
        return wide


class Newest:
    """Where the columns of a table find its newest rows: another value when these have gone into blocks."""

    __slots__ = ("rows",)

    def __init__(self, names: Sequence[str] = ()) -> None:
        self.rows = Rows(0, names)
