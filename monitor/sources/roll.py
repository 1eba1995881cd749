"""ROLL's console with `track_with: stdout`: `metrics_tag: {"step": 3, "metrics": {…}}`.

Its one rule: a time belongs to the step that took it. The pipeline for verifiable rewards logs how long the
step before took; the agentic one, how long this one did.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from pydantic_core import from_json

from ...models.event import Ended, Event, Restart
from ...models.run import RunInfo
from ...models.step import Eval, Step
from ..filesource import FileSource
from ..source import Format, Line, Probe, Source
from ..transport import open_transport
from .keymap import tells_of
from .keymap_others import ROLL
from .logtime import stamp_of
from .plainrow import floats_of
from .told import Told
from .verl.faults import Faults
from .verl.rayline import said

TAG = "metrics_tag: "
ROW = re.compile(r'metrics_tag: \{"step": \d')
COMPLETE = "pipeline complete!"
TOTAL = "time/step_total"
OF_THE_STEP_BEFORE = "time/step_generate"
"""What the pipeline logs whose total is that of the step before."""


class RollParser:
    """Makes events of the lines of a driver's log."""

    source = "console"

    def __init__(self) -> None:
        self.bad_lines = 0
        self.first_bad = ""
        self._told = Told()
        self._faults = Faults()
        self._attempt = 0
        self._last: int | None = None

    def feed(self, line: Line) -> Iterator[Event]:
        """The events of one line."""
        for one in said(line.text):
            words = one.words
            start = words.find(TAG)
            if start >= 0:
                yield from self._row(words, start, line)
            elif COMPLETE in words:
                yield Ended(status="finished", at=stamp_of(words) or line.at, message="the log says so")
            elif self._faults.reading or "rror" in words or "Traceback" in words or "memory" in words:
                yield from self._faults.read(one.by, words, line.at)

    def flush(self) -> Iterator[Event]:
        """A traceback that the log ends in."""
        return self._faults.flush()

    def restart(self) -> Iterator[Event]:
        """The log is written anew: its first step tells from where on."""
        self._faults.clear()
        return iter(())

    def _row(self, words: str, start: int, line: Line) -> Iterator[Event]:
        read = _read(words[start + len(TAG) :])
        if read is None:
            self.bad_lines += 1
            self.first_bad = self.first_bad or f"line {line.number}: an unreadable row"
            return
        step, values = read
        at = stamp_of(words, start) or line.at
        yield from self._told.news(RunInfo(framework="roll", platform="self-hosted", first_step=0))
        if self._last is not None and step <= self._last:
            self._attempt += 1
            yield Restart(from_step=step, attempt=self._attempt, at=at)
        before, self._last = self._last, step
        scores = {key: value for key, value in values.items() if key.startswith(ROLL.eval_prefixes)}
        if scores:
            yield Eval(step=step, attempt=self._attempt, name="eval", ended_at=at, scores=scores)
        known: dict[str, Any] = {"attempt": self._attempt, "raw": values}
        if at is not None:
            known["ended_at"] = at
        if OF_THE_STEP_BEFORE in values:
            known["duration_s"] = None
            if before is not None and before == step - 1 and values.get(TOTAL, 0) > 0:
                yield Step(step=before, attempt=self._attempt, duration_s=values[TOTAL])
        yield Step.model_validate(ROLL.step(step, values, **known))


def _read(text: str) -> tuple[int, dict[str, float]] | None:
    """(step, numbers) of a row."""
    end = text.rfind("}")
    try:
        value: object = from_json(text[: end + 1])
    except ValueError:
        return None
    row = cast("dict[str, object]", value) if isinstance(value, dict) else {}
    step, metrics = row.get("step"), row.get("metrics")
    if not isinstance(step, int) or not 0 <= step < 2**53 or not isinstance(metrics, dict):
        return None
    told = cast("Mapping[str, object]", metrics)
    numbers: dict[str, object] = {k: item for k, item in told.items() if isinstance(item, int | float)}
    return step, floats_of(numbers) or {}


def _score(probe: Probe) -> float:
    return 0.0 if probe.is_dir else 0.9 if ROW.search(probe.head) or ROW.search(probe.tail) else 0.0


def _open(path: Path) -> Sequence[Source]:
    return [FileSource(open_transport(path), RollParser())]


TELLS = tells_of(ROLL, steps="`step` of the row", state="`pipeline complete!`, traceback")
FORMAT = Format(name="ROLL console log", score=_score, open=_open, tells=TELLS)
