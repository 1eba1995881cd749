"""Columns by name, written a row at a time. Its one rule: a row with the names of the row before is appended
in one go, since a log has the same names in nearly every row.
"""

from array import array
from collections.abc import Callable, Mapping

from .column import ROWS, Column


class Table:
    """The columns of some quantities; a new name begins a new column.

    `names`: columns that are there from the start, and are all as long as the history's `rows`.
    `exact`: as in Column.
    """

    def __init__(
        self, names: tuple[str, ...] = (), rows: "array[int] | None" = None, exact: bool = False
    ) -> None:
        self.columns = {name: Column(rows, exact) for name in names}
        self._exact = exact
        self._appends: dict[str, Callable[[float], None]] = {}
        """How the columns of the row before are gone on with."""
        self._next = -1
        """The only row for which that holds."""

    def put(self, name: str, index: int, value: float) -> None:
        """Write one cell of a column that is there."""
        self.columns[name].put(index, value)
        if name in self._appends:
            self._next = -1

    def write(self, index: int, values: Mapping[str, float]) -> None:
        """Put the values of a row in their columns: a new row, or more of an old one."""
        appends = self._appends
        if index != self._next:
            appends.clear()
        if appends.keys() == values.keys():
            for name, value in values.items():
                appends[name](value)
        else:
            for name in appends.keys() - values.keys():
                del appends[name]
            for name, value in values.items():
                append = appends.get(name)
                if append is not None:
                    append(value)
                else:
                    self._put(name, index, value)
        self._next = index + 1 if (index + 1) % ROWS else -1

    def _put(self, name: str, index: int, value: float) -> None:
        """Write a cell that the row before does not lead up to; the next row may go on from it."""
        column = self.columns.get(name)
        if column is None:
            column = self.columns[name] = Column(exact=self._exact)
        column.put(index, value)
        cells = column.open_at(index + 1)
        if cells is not None:
            self._appends[name] = cells.append
