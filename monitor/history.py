"""The step history as append-only float columns. Unknown is NaN inside and None outside.

A cell that was unknown may become known (a step told in several lines); nothing else changes.
"""

import math
from array import array
from collections.abc import Iterator, Mapping

from ..models.step import COLUMNS, Eval, Step

NAN = math.nan


class Row:
    """One step of a History, read by canonical name."""

    __slots__ = ("_history", "index")

    def __init__(self, history: "History", index: int) -> None:
        self._history = history
        self.index = index

    @property
    def step(self) -> int:
        return self._history.steps[self.index]

    @property
    def attempt(self) -> int:
        return self._history.attempts[self.index]

    @property
    def trained_upper_bound(self) -> bool:
        return self._history.trained_upper_bound

    def get(self, name: str) -> float | None:
        """A canonical quantity of this step, or None."""
        return self._history.get(name, self.index)

    def raw(self, key: str) -> float | None:
        """A value as the log named it; NaN and infinities as logged, None when the key is not there."""
        column = self._history.raw.get(key)
        return column[self.index] if column is not None and self.index < len(column) else None

    @property
    def nonfinite(self) -> Mapping[str, float]:
        """What the log gave as NaN or infinite for this step, by canonical name and by the log's own."""
        return self._history.nonfinite.get(self.index, {})

    def phase(self, name: str) -> float | None:
        """Wall seconds of a phase."""
        return known(self._history.phases.get(name), self.index)

    def phases(self) -> dict[str, float]:
        """All known phases of this step, wall seconds."""
        return {
            name: value
            for name, column in list(self._history.phases.items())  # the fold may be adding some
            if (value := known(column, self.index)) is not None
        }


class History:
    """All steps told so far, a row each, and all evaluations."""

    def __init__(self) -> None:
        self.steps = array("q")
        self.attempts = array("q")
        self.columns: dict[str, array[float]] = {name: array("d") for name in COLUMNS}
        self.raw: dict[str, array[float]] = {}
        self.phases: dict[str, array[float]] = {}
        self.nonfinite: dict[int, dict[str, float]] = {}
        """Per row, what was logged as NaN or infinite: in a column it looks like a value never logged."""
        self.evals: list[Eval] = []
        self.progress = array("q")
        """Rows that count as progress: without those that a restart made void. In order of arrival."""
        self.trained_upper_bound = False
        self._rows: dict[tuple[int, int], int] = {}

    def __len__(self) -> int:
        return len(self.steps)

    def row(self, index: int) -> Row:
        return Row(self, index)

    def get(self, name: str, index: int) -> float | None:
        return known(self.columns[name], index)

    def series(self, name: str) -> Iterator[tuple[int, float]]:
        """(step, value) over the rows that count as progress, unknown ones left out."""
        column = self.columns[name]
        for index in self.progress:
            value = column[index]
            if value == value:  # not NaN
                yield self.steps[index], value

    def write(self, step: Step) -> int:
        """Add a step, or fill in what was still unknown of one; the row's index.

        A later part of the same step wins over an earlier one.
        """
        index = self._rows.get((step.step, step.attempt))
        if index is None:
            index = self._append(step.step, step.attempt)
        for name in step.model_fields_set:
            column = self.columns.get(name)
            if column is not None and (value := getattr(step, name)) is not None:
                column[index] = value
                if not math.isfinite(value):
                    self.nonfinite.setdefault(index, {})[name] = value
        for name, seconds in step.phases.items():
            self._cell(self.phases, name, index, seconds)
        for key, value in step.raw.items():
            self._cell(self.raw, key, index, value)
            if not math.isfinite(value):
                self.nonfinite.setdefault(index, {})[key] = value
        self.trained_upper_bound |= step.trained_upper_bound
        return index

    def set(self, name: str, index: int, value: float | None) -> None:
        """Fill in a derived canonical quantity."""
        if value is not None:
            self.columns[name][index] = value

    def restart(self, from_step: int) -> None:
        """Steps from `from_step` on no longer count as progress."""
        kept = [index for index in self.progress if self.steps[index] < from_step]
        self.progress = array("q", kept)

    def _append(self, step: int, attempt: int) -> int:
        index = len(self.steps)
        self.steps.append(step)
        self.attempts.append(attempt)
        for column in self.columns.values():
            column.append(NAN)
        self.progress.append(index)
        self._rows[step, attempt] = index
        return index

    def _cell(self, columns: "dict[str, array[float]]", name: str, index: int, value: float) -> None:
        """Raw columns are as long as their last known cell, so that a rare key costs little."""
        column = columns.get(name)
        if column is None:
            column = columns[name] = array("d")
        gap = index - len(column)
        if gap >= 0:
            if gap:
                column.extend([NAN] * gap)
            column.append(value)
        else:
            column[index] = value


def known(column: "array[float] | None", index: int) -> float | None:
    """A cell, with NaN and a cell that was never written as None."""
    if column is None or index >= len(column):
        return None
    value = column[index]
    return value if value == value else None
