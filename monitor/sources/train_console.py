"""Consoles of home-made training loops that print `Epoch 1/3, Step 120, Loss: 0.5` and the like.

Its one rule: only what stands beside a step is taken, under names that leave no doubt; the framework
stays unknown. Loops of this kind count steps anew in each epoch: epochs are joined at the last step
that was printed.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ...models.event import Ended, Event, LogLine
from ...models.run import RunInfo
from ...models.step import Step
from ..filesource import FileSource
from ..source import Format, Line, Probe, Source
from ..tells import Tells
from ..transport import open_transport
from .logtime import stamp_of
from .names import fields_of
from .pyrepr import number_of
from .told import Told
from .trl_header import info_of_line
from .verl.faults import Faults
from .verl.rayline import without_colour

STEP = re.compile(
    r"(?:\bEpoch:?[ ]+(?P<epoch>\d{1,6})(?:/(?P<epochs>\d{1,6}))?[ ]*[,|][ ]*)?"
    r"\b(?:Global[ ]+)?(?:Step|Iteration|Iter):?[ ]+(?P<step>\d{1,12})(?:/(?P<total>\d{1,12}))?[ ]*[,|:][ ]*"
    r"(?=[\w ]{1,40}[:=])",
    re.IGNORECASE,
)
PAIR = re.compile(
    r"(?P<name>[A-Za-z][\w ./-]{0,60}?)\s*[:=]\s*"
    r"(?P<value>[-+]?(?:\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|\.\d+|nan|inf))"
)
FINISHED = re.compile(r"\btraining completed successfully", re.IGNORECASE)
CHECKPOINT = re.compile(r"\bSaved checkpoint to (\S+)")
ENOUGH_LINES = 3
JOINED = "steps are counted anew in each epoch: epochs are joined at the last step that was printed"


class TrainConsoleParser:
    """Makes events of the lines of such a console."""

    source = "console"

    def __init__(self) -> None:
        self.bad_lines = 0
        self.first_bad = ""
        self._told = Told()
        self._faults = Faults()
        self._begin()

    def _begin(self) -> None:
        self._offset = 0
        self._last: int | None = None
        self._spacing = 1
        self._ended = False

    def feed(self, line: Line) -> Iterator[Event]:
        """The events of one line."""
        text = without_colour(line.text)
        match = STEP.search(text)
        if match is not None:
            yield from self._step(match, text, line)
            return
        at = stamp_of(text[:64]) or line.at
        if self._last is None and (info := info_of_line(text)) is not None:
            yield from self._told.news(info)
        if found := CHECKPOINT.search(text):
            yield LogLine(text=f"checkpoint {found[1]}", at=at, topic="checkpoint")
        elif FINISHED.search(text) and not self._ended:
            self._ended = True
            yield Ended(status="finished", at=at, message="the log says so")
        elif self._faults.reading or "rror" in text or "Traceback" in text or "memory" in text:
            yield from self._faults.read("", text, at)

    def flush(self) -> Iterator[Event]:
        """A traceback that the log ends in."""
        return self._faults.flush()

    def restart(self) -> Iterator[Event]:
        """The log is written anew."""
        self._faults.clear()
        self._begin()
        return iter(())

    def _step(self, match: re.Match[str], text: str, line: Line) -> Iterator[Event]:
        values = _pairs(text, match.end())
        if not values:
            return
        yield from self._told.news(RunInfo(framework="unknown"))
        if match["total"]:
            yield from self._told.news(RunInfo(total_steps=int(match["total"])))
        step = self._offset + int(match["step"])
        if self._last is not None:
            if step <= self._last and match["epoch"]:
                yield from self._told.news(RunInfo(notes=(JOINED,)))
                self._offset = self._last + self._spacing
                step = self._offset + int(match["step"])
            elif step > self._last:
                self._spacing = step - self._last
        if self._last is None or step > self._last:
            self._last = step
        taken, _ = fields_of(values)
        known: dict[str, Any] = {"step": step, "raw": values, **taken}
        at = stamp_of(text, match.start()) or line.at
        if at is not None:
            known["ended_at"] = at
        yield Step.model_validate(known)


def _pairs(text: str, start: int) -> dict[str, float]:
    """The numbers behind a step, under their names as printed."""
    values: dict[str, float] = {}
    for pair in PAIR.finditer(text, start):
        number = number_of(pair["value"])
        if number is not None:
            values[pair["name"].strip()] = number
    return values


def _score(probe: Probe) -> float:
    if probe.is_dir:
        return 0.0
    found = 0
    for text in (*probe.head.splitlines(), *probe.tail.splitlines()):
        match = STEP.search(text)
        # A step alone proves nothing: trajectories of an agent are printed as steps too.
        found += match is not None and bool(fields_of(_pairs(text, match.end()))[0])
    return 0.3 if found >= ENOUGH_LINES else 0.0


def _open(path: Path) -> Sequence[Source]:
    return [FileSource(open_transport(path), TrainConsoleParser())]


TELLS = Tells(steps="`Step n`", total="`Step n/N`", time="clock of the lines")
FORMAT = Format(name="console of a training loop (Epoch, Step, Loss)", score=_score, open=_open, tells=TELLS)
