"""The step history as append-only float columns. Unknown is NaN inside and None outside.

A cell that was unknown may become known (a step told in several lines); nothing else changes.
"""

import math
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import itemgetter
from typing import cast

from ..models.step import COLUMNS, Eval, Step
from .column import Column
from .newest import NAN
from .packing import Packer
from .table import Table

_canonical: Callable[[Mapping[str, object]], tuple[float | None, ...]] = itemgetter(*COLUMNS)


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
        value = self._history.columns[name].at(self.index)
        return value if value == value else None

    def raw(self, key: str) -> float | None:
        """A value as the log named it; NaN and infinities as logged, None when the key is not there."""
        column = self._history.raw.get(key)
        return column.at(self.index) if column is not None and self.index < len(column) else None

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
        packer = Packer()
        self._canonical = Table(COLUMNS, self.steps, exact=True, packer=packer)
        self._raw = Table(packer=packer)
        self._phases = Table(exact=True, packer=packer)
        self.columns: Mapping[str, Column] = self._canonical.columns
        """By canonical name, a cell for every row."""
        self.raw: Mapping[str, Column] = self._raw.columns
        """By the log's own key, each as long as its last known cell. Old cells have seven digits."""
        self.phases: Mapping[str, Column] = self._phases.columns
        self.nonfinite: dict[int, dict[str, float]] = {}
        """Per row, what was logged as NaN or infinite: in a column it looks like a value never logged."""
        self.evals: list[Eval] = []
        self.progress = array("I")
        """Rows that count as progress: without those that a restart made void. In order of arrival."""
        self.trained_upper_bound = False
        self._broken: dict[str, float] = {}
        """What `nonfinite` has of the last such row. Where a key is NaN in every row, all share it."""
        self._numbers = RowNumbers(self.steps)
        self._ascending = True
        """Whether the steps of `progress` are in order, as they nearly always are."""

    def __len__(self) -> int:
        return len(self.steps)

    def row(self, index: int) -> Row:
        return Row(self, index)

    def get(self, name: str, index: int) -> float | None:
        return known(self.columns[name], index)

    def series(self, name: str) -> Iterator[tuple[int, float]]:
        """(step, value) over the rows that count as progress, unknown ones left out."""
        at = self.columns[name].at
        for index in self.progress:
            value = at(index)
            if value == value:  # not NaN
                yield self.steps[index], value

    def write(self, step: Step) -> int:
        """Add a step, or fill in what was still unknown of one; the row's index.

        A later part of the same step wins over an earlier one.
        """
        index = self._numbers.find(step.step, step.attempt)
        cells = _canonical(step.__dict__)
        if index is None:
            index = self._append(step.step, step.attempt)
            self._canonical.append([NAN if value is None else value for value in cells])
        else:
            told = zip(COLUMNS, cells, strict=True)
            self._canonical.write(index, {name: value for name, value in told if value is not None})
        if not math.isfinite(sum(filter(None, cells))):
            self._note_nonfinite(index, zip(COLUMNS, cells, strict=True))
        if step.phases:
            self._phases.write(index, cast("dict[str, float]", step.phases))
        if step.raw:
            self._raw.write(index, step.raw)
            if not math.isfinite(sum(step.raw.values())):
                self._note_nonfinite(index, step.raw.items())
        self.trained_upper_bound |= step.trained_upper_bound
        return index

    def set(self, name: str, index: int, value: float | None) -> None:
        """Fill in a derived canonical quantity."""
        if value is not None:
            self._canonical.write(index, {name: value})

    def restart(self, from_step: int) -> None:
        """Steps from `from_step` on no longer count as progress."""
        if self._ascending:
            del self.progress[bisect_left(self.progress, from_step, key=self.steps.__getitem__) :]
        else:
            kept = [index for index in self.progress if self.steps[index] < from_step]
            self.progress = array("I", kept)

    def _append(self, step: int, attempt: int) -> int:
        index = len(self.steps)
        self.steps.append(step)
        self.attempts.append(attempt)
        if self.progress and step < self.steps[self.progress[-1]]:
            self._ascending = False
        self.progress.append(index)
        self._numbers.add(step, attempt, index)
        return index

    def _note_nonfinite(self, index: int, values: Iterable[tuple[str, float | None]]) -> None:
        broken = {name: value for name, value in values if value is not None and not math.isfinite(value)}
        if not broken:
            return  # the sum alone was too large
        broken = {**self.nonfinite.get(index, {}), **broken}
        if repr(broken) == repr(self._broken):  # as NaN is no NaN's equal
            broken = self._broken
        self.nonfinite[index] = self._broken = broken


class RowNumbers:
    """The row of a step by its number and attempt. Steps of an attempt come in order, but for a few."""

    def __init__(self, steps: "array[int]") -> None:
        self._steps = steps
        self._ordered: dict[int, array[int]] = {}
        """By attempt, the rows whose steps were above all before them."""
        self._late: dict[tuple[int, int], int] = {}

    def find(self, step: int, attempt: int) -> int | None:
        """The row, or None where the step is new."""
        ordered = self._ordered.get(attempt)
        if ordered is None or step > self._steps[ordered[-1]]:
            return None
        index = ordered[bisect_left(ordered, step, key=self._steps.__getitem__)]
        return index if self._steps[index] == step else self._late.get((step, attempt))

    def add(self, step: int, attempt: int, index: int) -> None:
        """Note the row of a new step, which the list of steps holds already."""
        ordered = self._ordered.get(attempt)
        if ordered is None:
            self._ordered[attempt] = array("I", [index])
        elif step > self._steps[ordered[-1]]:
            ordered.append(index)
        else:
            self._late[step, attempt] = index


def known(column: Column | None, index: int) -> float | None:
    """A cell, with NaN and a cell that was never written as None."""
    if column is None:
        return None
    value = column.at(index)
    return value if value == value else None
