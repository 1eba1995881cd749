"""What panels read off a frame: series for the charts and the few figures that no layer below names. Pure.

Long series are read once: a chart keeps a `Series` and each frame adds what is new.
"""

import math
import statistics
from array import array
from collections.abc import Sequence

from ..models.alert import Alert
from ..monitor.frame import Frame
from ..monitor.history import History
from ..monitor.status import recent_durations

_OPEN_TAIL = 8
"""Newest rows read anew each time: their cells may still be filled in."""


class Series:
    """One column of a run's progress as parallel lists of steps and known values."""

    def __init__(self) -> None:
        self._history: History | None = None
        self._amended = -1
        self._settled = 0
        """Rows of progress that are final and have been read."""
        self._kept = 0
        """Values that those rows gave: the lists are cut back to them before more is read."""
        self._xs: list[float] = []
        self._ys: list[float] = []
        self._ascending = True
        self._along: Sequence[float] | None = None

    def read(
        self, frame: Frame, column: Sequence[float], along: Sequence[float] | None = None
    ) -> tuple[list[float], list[float]]:
        """Steps (ascending) and values of `column`, which has a cell for each row of the history.

        `along` has another x for each row instead of its step. The lists are this series' own and hold until
        the next read.
        """
        state = frame.state
        progress = state.history.progress
        forgotten = len(progress) < self._settled or state.amended != self._amended
        if forgotten or state.history is not self._history or along is not self._along:
            self._along = along
            self._history, self._amended = state.history, state.amended
            self._settled = self._kept = 0
            self._ascending = True
        del self._xs[self._kept :], self._ys[self._kept :]
        settled = max(self._settled, len(progress) - _OPEN_TAIL)
        places = state.history.steps if along is None else along
        self._extend(progress[self._settled : settled], places, column)
        self._settled, self._kept = settled, len(self._xs)
        self._extend(progress[settled:], places, column)
        if self._ascending:
            return self._xs, self._ys
        pairs = sorted(zip(self._xs, self._ys, strict=True))
        return [x for x, _ in pairs], [y for _, y in pairs]

    def _extend(self, rows: "array[int]", steps: Sequence[float], column: Sequence[float]) -> None:
        if not rows:
            return
        xs, ys = self._xs, self._ys
        first, known = rows[0], min(len(column), len(steps))
        cells = column[first : rows[-1] + 1]  # in one go, which is many times as fast as one by one
        newest = xs[-1] if xs else -math.inf
        for row in rows:
            if row < known and math.isfinite(value := cells[row - first]):
                step = steps[row]
                if step != step:
                    continue
                if step < newest:  # asynchronous trainers may finish steps out of order
                    self._ascending = False
                newest = step
                xs.append(step)
                ys.append(value)


def seen(values: Sequence[float]) -> tuple[float, float]:
    """The range of all values but the most extreme twentieth at either end."""
    every = max(1, len(values) // 500)
    ordered = sorted(values[::every])
    aside = len(ordered) // 20
    return ordered[aside], ordered[-1 - aside]


def first_step(frame: Frame) -> int:
    """Number of the run's first step: as it says, else 0 if the log has a step 0, else 1."""
    if frame.info.first_step is not None:
        return frame.info.first_step
    steps = frame.state.history.steps
    return 0 if len(steps) and steps[0] == 0 else 1


def last_step(frame: Frame) -> int | None:
    """Number of the run's last step to come, where the total is known."""
    total = frame.info.total_steps
    return None if total is None else first_step(frame) + total - 1


def steps_done(frame: Frame) -> int:
    """Steps of the whole run that are behind it."""
    last = frame.state.last_row
    return 0 if last is None else last.step - first_step(frame) + 1


def seconds_per_step(frame: Frame) -> float | None:
    """Median wall seconds of the last five steps."""
    durations = recent_durations(frame.state)[-5:]
    return statistics.median(durations) if durations else None


def active(frame: Frame) -> list[Alert]:
    """Alerts that hold now: the gravest first, and of those the newest."""
    order = {"critical": 0, "warning": 1, "info": 2}
    held = [alert for alert in frame.alerts if alert.cleared_step is None]
    return sorted(held, key=lambda alert: (order[alert.severity], -alert.step))


def cleared(frame: Frame) -> list[Alert]:
    """Alerts that are over, the last to clear first."""
    gone = [alert for alert in frame.alerts if alert.cleared_step is not None]
    return sorted(gone, key=lambda alert: -(alert.cleared_step or 0))


def tail(frame: Frame, name: str, count: int) -> list[float]:
    """The known values of a canonical column over the last `count` steps."""
    history = frame.state.history
    column = history.columns[name]
    return [value for index in history.progress[-count:] if (value := column[index]) == value]
