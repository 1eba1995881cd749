"""Consoles of home-made training loops that print `Epoch 1/3, Step 120, Loss: 0.5` and the like.

Its one rule: only what stands beside a step is taken, under names that leave no doubt; the framework
stays unknown. Loops of this kind may count steps anew in each epoch: epochs are joined, by their length
where the log tells it, else at the last step that was printed.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ...models.event import Ended, Event, LogLine, Restart
from ...models.run import Framework, RunInfo
from ...models.step import Step
from ..filesource import FileSource
from ..source import Format, Line, Probe, Source
from ..tells import Tells
from ..transport import open_transport
from .logtime import stamp_of
from .names import fields_of
from .told import Told
from .train_pairs import Pairs, pairs_of
from .train_place import Place, place_of
from .train_rows import row_of
from .trl_header import info_of_line
from .verl.faults import ANY_SCRIPT, Faults
from .verl.hints import device_of
from .verl.rayline import without_colour
from .verl.recognise import STEP as VERL

FINISHED = re.compile(r"\btraining completed successfully", re.IGNORECASE)
CHECKPOINT = re.compile(r"\bSaved checkpoint to (\S+)")
MODEL = re.compile(
    r"\b(?:base[_ ])?model(?:[_ ]name(?:_or_path)?|_path|_id)?['\"]?\s*[:=]\s*"
    r"['\"]?([\w.-]+/[\w.-]+)(?![\w./-])",
    re.IGNORECASE,
)
TINKER = re.compile(r"\btinker://|\b[Cc]onnect\w* to Tinker\b")
ENOUGH_LINES = 3
FEW_FALLS = 6
"""So many steps forward for one back: else they are no steps of a training."""
AGAIN = 2
"""Steps are done again where a log goes back by more than so many; ranks may print out of order."""
JOINED = "steps are counted anew in each epoch: epochs are joined at the last step that was printed"


class TrainConsoleParser:
    """Makes events of the lines of such a console."""

    source = "console"

    def __init__(self) -> None:
        self.bad_lines = 0
        self.first_bad = ""
        self._told = Told()
        self._faults = Faults(ANY_SCRIPT)
        self._attempt = 0
        self._total: int | None = None
        self._framework: Framework = "unknown"
        self._anew = False
        """Steps have been seen to be counted anew in a new epoch."""
        self._begin()

    def _begin(self) -> None:
        self._offset = 0
        self._epoch: int | None = None
        self._first_epoch = 1
        """0 or 1: how the epochs are counted."""
        self._inner = -1
        """The last step as printed."""
        self._last: int | None = None
        self._spacing = 1
        self._ended = False

    def feed(self, line: Line) -> Iterator[Event]:
        """The events of one line."""
        text = without_colour(line.text)
        for part in text.split("\r") if "\r" in text else (text,):
            yield from self._part(part, line)

    def _part(self, text: str, line: Line) -> Iterator[Event]:
        told = _told_by(text)
        if told is not None:
            yield from self._step(*told, text, line)
        else:
            yield from self._words(text, line)

    def _words(self, text: str, line: Line) -> Iterator[Event]:
        """What a line says that is no step."""
        at = stamp_of(text[:64]) or line.at
        if self._last is None:
            yield from self._header(text)
        if found := CHECKPOINT.search(text):
            yield LogLine(text=f"checkpoint {found[1]}", at=at, topic="checkpoint")
        elif FINISHED.search(text):
            yield from self._finish("the log says so", at)
        elif self._faults.reading or "rror" in text or "Traceback" in text or "memory" in text:
            yield from self._faults.read("", text, at)

    def _header(self, text: str) -> Iterator[Event]:
        """What is said of the run before its first step."""
        if (info := info_of_line(text)) is not None:
            yield from self._told.news(info)
        if "odel" in text and len(text) < 4000 and (model := MODEL.search(text)) is not None:
            yield from self._told.news(RunInfo(model=model[1]))
        if (device := device_of(text)) is not None:
            yield from self._told.news(RunInfo(gpu_type=device))
        if "inker" in text and TINKER.search(text) is not None:
            yield from self._told.news(RunInfo(platform="tinker"))

    def flush(self) -> Iterator[Event]:
        """A traceback that the log ends in."""
        return self._faults.flush()

    def restart(self) -> Iterator[Event]:
        """The log is written anew."""
        self._faults.clear()
        self._begin()
        return iter(())

    def _step(self, place: Place, pairs: Pairs, text: str, line: Line, **more: float) -> Iterator[Event]:
        yield from self._told.news(RunInfo(framework=self._framework))
        at = stamp_of(text, place.start) or line.at
        yield from self._moved(place)
        step = self._offset + place.step
        if self._last is None:
            yield from self._told.news(RunInfo(first_step=min(step, 1) if place.total else None))
        elif step < self._last - AGAIN * self._spacing:
            self._attempt += 1
            yield Restart(from_step=step, attempt=self._attempt, at=at)
            self._last, self._ended = step, False
        elif step > self._last:
            self._spacing = step - self._last
        self._last = step if self._last is None else max(step, self._last)
        taken = self._fields(pairs)
        known: dict[str, Any] = {"step": step, "attempt": self._attempt, "raw": pairs.raw, **more, **taken}
        if at is not None:
            known["ended_at"] = at
        yield Step.model_validate(known)
        if self._total and step >= self._total:
            yield from self._finish("the last step of its plan", at)

    def _fields(self, pairs: Pairs) -> dict[str, float]:
        """What the numbers of a line are."""
        return fields_of(pairs.scaled)[0]

    def _moved(self, place: Place) -> Iterator[Event]:
        """Follow the epochs: how many steps lie before this one's, and how many there will be."""
        epoch, total = place.epoch, place.total
        if epoch is not None and place.within and total:
            if self._epoch is None:
                self._first_epoch = min(epoch, 1)
            self._offset = max(0, epoch - self._first_epoch) * total
        elif epoch is not None and self._epoch is not None:
            if epoch > self._epoch and place.step <= self._inner:
                self._anew = True
                if total:
                    self._offset += (epoch - self._epoch) * total
                elif self._last is not None:
                    yield from self._told.news(RunInfo(notes=(JOINED,)))
                    self._offset = self._last + self._spacing
            elif epoch < self._epoch and total and self._anew:
                self._offset = max(0, self._offset - (self._epoch - epoch) * total)
        self._epoch = epoch if epoch is not None else self._epoch
        self._inner = place.step
        if total:
            within = place.within or self._anew
            self._total = total if not within else total * place.epochs if place.epochs else None
            if self._total:
                yield from self._told.news(RunInfo(total_steps=self._total))

    def _finish(self, why: str, at: float | None) -> Iterator[Event]:
        if not self._ended:
            self._ended = True
            yield Ended(status="finished", at=at, message=why)


def _told_by(text: str) -> tuple[Place, Pairs] | None:
    """Where a line says that the loop is, and its numbers; None where it says neither."""
    if '{"' in text and (row := row_of(text)) is not None:
        return row
    place = place_of(text)
    pairs = pairs_of(text[place.end :]) if place is not None else None
    return (place, pairs) if place is not None and pairs is not None and pairs.raw else None


def _score(probe: Probe) -> float:
    if probe.is_dir or VERL.search(probe.head) or VERL.search(probe.tail):
        return 0.0
    found = rises = falls = 0
    last: Place | None = None
    for line in (*probe.head.splitlines(), *probe.tail.splitlines()):
        text = without_colour(line)
        told = _told_by(text)
        # A step alone proves nothing: trajectories of an agent are printed as steps too, over and over.
        if told is None or not fields_of(told[1].scaled)[0]:
            continue
        place, _ = told
        found += 1
        if last is not None:
            rises += place.step > last.step
            falls += place.step < last.step and place.epoch == last.epoch
        last = place
    return 0.3 if found >= ENOUGH_LINES and falls * FEW_FALLS <= rises else 0.0


def _open(path: Path) -> Sequence[Source]:
    return [FileSource(open_transport(path), TrainConsoleParser())]


TELLS = Tells(
    steps="`Step n`, `Epoch 1 [n/N]`, `n/N`",
    total="`Step n/N`",
    length="by its name",
    reward="by its name",
    time="clock of the lines",
    state="last step of the plan, traceback",
)
FORMAT = Format(name="console of a training loop (Epoch, Step, Loss)", score=_score, open=_open, tells=TELLS)
