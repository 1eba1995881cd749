"""What panels read off a frame: series for the charts and the few figures that no layer below names. Pure.

Long series are read once: a chart keeps a `Series` and each frame adds what is new.
"""

import statistics
from array import array
from collections.abc import Sequence
from itertools import pairwise

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
        """Rows of progress whose values are final and have been read."""
        self._xs: list[float] = []
        self._ys: list[float] = []
        self._kept: list[int] = [0]

    def read(self, frame: Frame, column: Sequence[float]) -> tuple[list[float], list[float]]:
        """Steps (ascending) and values of `column`, which has a cell for each row of the history."""
        state = frame.state
        progress = state.history.progress
        if (
            state.history is not self._history
            or state.amended != self._amended
            or len(progress) < self._settled
        ):
            self._history, self._amended, self._settled = state.history, state.amended, 0
            self._xs, self._ys = [], []
        steps = state.history.steps
        xs, ys = self._xs, self._ys
        settled = max(self._settled, len(progress) - _OPEN_TAIL)
        _extend(xs, ys, progress[self._settled : settled], steps, column)
        self._settled = settled
        xs, ys = xs.copy(), ys.copy()
        _extend(xs, ys, progress[settled:], steps, column)
        if any(a > b for a, b in pairwise(xs)):  # asynchronous trainers may finish steps out of order
            pairs = sorted(zip(xs, ys, strict=True))
            xs, ys = [x for x, _ in pairs], [y for _, y in pairs]
        return xs, ys


def _extend(
    xs: list[float], ys: list[float], rows: "array[int]", steps: "array[int]", column: Sequence[float]
) -> None:
    known = len(column)
    for row in rows:
        if row < known and (value := column[row]) == value and abs(value) != float("inf"):
            xs.append(steps[row])
            ys.append(value)


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
