"""trainer_state.json: the whole history of a TRL run as one JSON document, written anew at each save; or
its log_history alone, as scripts dump it when the training is over.

Its one rule: it is read whole when it has changed, and what was told before is not told again.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import cast

from ...models.event import Ended, Event, Restart
from ...models.run import RunInfo
from .document import DocumentSource
from .pyrepr import number_of
from .trl_rows import SUMMARY, TrlRows, first_window

NAME = "trainer_state.json"
CHECKPOINT = "checkpoint-"
HISTORY = re.compile(r"\s*\[\s*\{[^{}]{1,8000}\}")
STEP = re.compile(r'"step"\s*:\s*\d')
EPOCH = re.compile(r'"epoch"\s*:\s*\d{1,9}\.\d|"num_tokens"|"completions/mean_length"')
"""What rows of one's own do not have: they count whole epochs."""
FIELD = re.compile(r'"(?:loss|eval_loss|reward|grad_norm|learning_rate|completion_length)"\s*:')


class TrainerStateSource(DocumentSource):
    """Follows a trainer_state.json, or the newest one of an output folder's checkpoints."""

    source = "trainer-state"
    absent = "not there yet: it is written with the first checkpoint"

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._rows = TrlRows()
        self._evals = 0
        self._ended = False
        self._first = ""
        """The first row of the history, as text: it is the same for as long as it is the same training."""
        self._attempt = 0

    def _place(self) -> Path:
        return newest_state(self._path)

    def _takes(self, value: object) -> bool:
        return state_of(value) is not None

    def _events(self, value: object) -> Iterator[Event]:
        return self._read(state_of(value) or {})

    def _read(self, state: dict[str, object]) -> Iterator[Event]:
        yield from self._rows.learn(RunInfo(framework="trl", platform="self-hosted", first_step=1))
        total, done = _whole(state.get("max_steps")), _whole(state.get("global_step"))
        if total is not None:
            yield from self._rows.learn(RunInfo(total_steps=total))
        yield from self._rows.learn(RunInfo(save_every=_whole(state.get("save_steps")), name=self._name()))
        yield from self._begun_again(next(iter(_history(state)), None))
        spacing = _whole(state.get("logging_steps"))
        before = 0
        evals = 0
        for row in _history(state):
            step = _whole(row.get("step"))
            if step is None:
                self._bad += 1
                self._first_bad = self._first_bad or "log_history: a row without a step"
                continue
            values = {key: value for key, item in row.items() if (value := _number(item)) is not None}
            values.pop("step", None)
            is_step = "loss" in values or not any(key.startswith("eval_") for key in values)
            window = 1
            if is_step:
                window = step - before if before or spacing == step else first_window(step)
            if SUMMARY not in values and is_step:
                before = step
                if step <= self._lines:
                    continue
                self._lines = step
            elif SUMMARY not in values:
                evals += 1
                if evals <= self._evals:
                    continue
            elif self._ended:
                continue
            self._ended = self._ended or SUMMARY in values
            yield from self._rows.events(step, window, values, None, self._attempt)
        self._evals = max(self._evals, evals)
        if total is not None and done is not None and done >= total > 0 and not self._ended:
            self._ended = True
            yield Ended(status="finished", message=f"all {total} steps are done")

    def _begun_again(self, first: dict[str, object] | None) -> Iterator[Event]:
        """Another training in the place of the one that was read: from its first step on."""
        if first is None:
            return
        before, self._first = self._first, repr(first)
        if before in ("", self._first):
            return
        self._attempt += 1
        self._rows.begin()
        self._lines = self._evals = 0
        self._ended = False
        yield Restart(from_step=1, attempt=self._attempt)

    def _name(self) -> str | None:
        """The run is called as its folder: one of its checkpoints, or the file, says nothing of it."""
        folder = self._path.absolute()
        if not self._path.is_dir():
            folder = folder.parent
        return (folder.parent if folder.name.startswith(CHECKPOINT) else folder).name or None


def newest_state(path: Path) -> Path:
    """The trainer_state.json at `path`: itself, or in a folder the one with the most steps."""
    if not path.is_dir():
        return path
    best, most = path / NAME, -1
    if best.is_file():
        return best  # written when the training is over
    try:
        names = os.listdir(path)
    except OSError:
        return best
    for name in names:
        steps = name.removeprefix(CHECKPOINT)
        found = path / name / NAME
        if name.startswith(CHECKPOINT) and steps.isdecimal() and int(steps) > most and found.is_file():
            best, most = found, int(steps)
    return best


def state_of(value: object) -> dict[str, object] | None:
    """A state, or a history alone as one; None where it is neither."""
    if isinstance(value, list):
        return {"log_history": cast("list[object]", value)}
    if not isinstance(value, dict):
        return None
    state = cast("dict[str, object]", value)
    return state if isinstance(state.get("log_history"), list) else None


def is_history(text: str) -> bool:
    """Whether a text begins as a log_history does: a list of rows with their step and a trainer's keys."""
    first = HISTORY.match(text)
    return first is not None and all(part.search(first[0]) is not None for part in (STEP, EPOCH, FIELD))


def _history(state: dict[str, object]) -> Iterator[dict[str, object]]:
    for row in cast("list[object]", state["log_history"]):
        if isinstance(row, dict):
            yield cast("dict[str, object]", row)


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 2**53 else None


def _number(value: object) -> float | None:
    if isinstance(value, str):
        return number_of(value)
    # A whole number of JSON may be too large for a float.
    return float(value) if isinstance(value, float | int) and not abs(value) > 1e300 else None
