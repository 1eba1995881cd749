"""Columns by name, written a row at a time. Its one rule: rows are gathered, and handed to the columns a
block at a time, since sixty writes a row are most of what a long log costs.
"""

from array import array
from collections.abc import Iterable, Mapping, Sequence

from .column import Column
from .newest import ROWS, Newest, Rows
from .packing import Packer

SPARE = 64
"""So many cells of a row may be empty before names that do not come any more are let go of."""


class Table:
    """The columns of some quantities; a new name begins a new column.

    `names`: columns that are there from the start, and are all as long as the history's `rows`.
    `exact`: as in Column.
    """

    def __init__(
        self,
        names: Sequence[str] = (),
        rows: "array[int] | None" = None,
        exact: bool = False,
        packer: Packer | None = None,
    ) -> None:
        self._newest = Newest(names)
        self._exact = exact
        self._packer = packer or Packer()
        self.columns = {name: Column(rows, exact, self._newest, name, self._packer) for name in names}

    def append(self, cells: Iterable[float]) -> None:
        """Add the next row, with a cell for each name in their order, NaN where unknown."""
        self._newest.rows.append(cells)
        self._settle_if_full()

    def write(self, row: int, values: Mapping[str, float]) -> None:
        """Put the values of a row in their columns: a new row, or more of an old one."""
        rows = self._newest.rows
        if row != rows.next or not rows.took(values):
            self._write_some(row, values)
        self._settle_if_full()

    def _write_some(self, row: int, values: Mapping[str, float]) -> None:
        """Write a row that is not the next one, or has not the names of those before it."""
        rows = self._newest.rows
        new = [name for name in values if name not in rows.places]
        for name in new:
            if name not in self.columns:
                self.columns[name] = Column(None, self._exact, self._newest, name, self._packer)
        if row >= rows.first:
            crowded = new and rows.width + len(new) > 2 * len(values) + SPARE
            if crowded or row // ROWS != rows.first // ROWS:
                self._settle(rows)
        rows = self._newest.rows
        if row < rows.first:
            for name, value in values.items():
                self.columns[name].put(row, value)
            return
        if not rows.cells:
            rows = self._newest.rows = Rows(row, tuple(values))
        elif rows.unusual:
            others = [name for name in rows.names if name not in values]
            rows = self._newest.rows = rows.relaid((*values, *others), len(values))
        elif new:
            rows = self._newest.rows = rows.relaid((*rows.names, *new), rows.usual)
        rows.fill(row, values)

    def _settle_if_full(self) -> None:
        rows = self._newest.rows
        if rows.next % ROWS == 0 and rows.cells:
            self._settle(rows)

    def _settle(self, rows: Rows) -> None:
        """Hand the newest rows to the columns. Rows to come are likely to have the names of the last one."""
        for name in rows.names:
            self.columns[name].add(rows.first, rows.column(name), rows.end(name))
        self._newest.rows = Rows(rows.next, rows.names[: rows.usual] if rows.fits else ())
