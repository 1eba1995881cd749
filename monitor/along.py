"""How far a run had come at each step: steps done, wall seconds, tokens, dollars. Pure.

Sums are kept: each reading adds the rows that are new.
"""

from array import array
from collections.abc import Sequence
from typing import overload

from ..models.comparison import Measure
from .column import NAN
from .frame import Frame
from .history import History

FIRST_ROWS = 16
"""Rows among which a step 0 is looked for: asynchronous trainers may finish some before it."""
MEASURES: tuple[Measure, ...] = ("step", "time", "tokens", "dollars")


class StepsDone(Sequence[float]):
    """How many steps of the whole run are done after each row, whatever its first step is called."""

    __slots__ = ("first", "steps")

    def __init__(self, steps: "array[int]", first: int) -> None:
        self.steps = steps
        self.first = first

    def __len__(self) -> int:
        return len(self.steps)

    @overload
    def __getitem__(self, index: int) -> float: ...
    @overload
    def __getitem__(self, index: slice) -> list[float]: ...
    def __getitem__(self, index: int | slice) -> float | list[float]:
        if isinstance(index, slice):
            return [float(step + 1 - self.first) for step in self.steps[index]]
        return float(self.steps[index] + 1 - self.first)


def counted_from(frame: Frame) -> int:
    """Whether a run counts its steps from 0 or from 1: as it says, else by whether the log has a step 0."""
    said = frame.info.first_step
    return min(said, 1) if said is not None else int(0 not in frame.state.history.steps[:FIRST_ROWS])


class Along:
    """One run's measures, a cell for each closed row; unknown is NaN."""

    def __init__(self) -> None:
        self._history: History | None = None
        self._amended = -1
        self._done: StepsDone | None = None
        self._clear()

    def _clear(self) -> None:
        self._wall, self._tokens = array("d"), array("d")
        self._told_s = self._sampled = 0.0
        self._started_at: float | None = None

    def read(self, frame: Frame, measure: Measure) -> Sequence[float]:
        """The measure of each closed row: steps done, wall seconds since the start, tokens sampled so far,
        dollars spent so far. What a restart repeated counts twice in all but steps."""
        if measure == "dollars":
            return frame.spent_usd
        if measure == "step":
            return self._steps_done(frame)
        self._catch_up(frame)
        return self._wall if measure == "time" else self._tokens

    def reach(self, frame: Frame, measure: Measure) -> float | None:
        """How far the run has come by a measure; None where it tells nothing of it."""
        along, progress = self.read(frame, measure), frame.state.history.progress
        told = (along[row] for row in reversed(progress) if row < len(along))
        return next((float(place) for place in told if place == place), None)

    def _steps_done(self, frame: Frame) -> "StepsDone":
        """The same value as long as nothing but rows is new."""
        steps, first = frame.state.history.steps, counted_from(frame)
        if self._done is None or self._done.steps is not steps or self._done.first != first:
            self._done = StepsDone(steps, first)
        return self._done

    def _catch_up(self, frame: Frame) -> None:
        state, history = frame.state, frame.state.history
        if history is not self._history or state.amended != self._amended or state.closed < len(self._wall):
            self._history, self._amended = history, state.amended
            self._clear()
        for index in range(len(self._wall), state.closed):
            row = history.row(index)
            seconds, ended_at = row.get("duration_s"), row.get("ended_at")
            self._told_s += seconds or 0.0
            if ended_at is not None and self._started_at is None:
                self._started_at = ended_at - self._told_s
            wall = NAN if seconds is None else self._told_s
            if ended_at is not None and self._started_at is not None:
                # By the clock, which knows of pauses; a step without one goes on from there.
                wall = self._told_s = max(ended_at - self._started_at, 0.0)
            tokens = row.get("sampled_tokens")
            tokens = row.get("total_tokens") if tokens is None else tokens
            self._sampled += tokens or 0.0
            self._wall.append(wall)
            self._tokens.append(NAN if tokens is None else self._sampled)
