"""SkyRL's console: the logger's `Step N:` and a dict that is printed over many lines; or, where the numbers
go to a tracker instead, what the trainer says beside its progress bar.

Its one rule: the lines of one process are put together, whatever others print in between.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ...models.event import Event, Restart
from ...models.run import RunInfo
from ...models.step import Eval, Step
from ..filesource import FileSource
from ..source import Format, Line, Probe, Source
from ..transport import open_transport
from .keymap import SKYRL, tells_of
from .logtime import stamp_of
from .pyrepr import numbers, read_dict
from .skyrl_lines import BEGUN, PARTS, TOTAL, TrainerLines
from .told import Told
from .verl.faults import Faults
from .verl.rayline import said, without_count

HEAD = re.compile(r"(?:^|[\s-])Step (\d{1,12}): *(\{.*)?$")
BAR = re.compile(r"Training Batches Processed: +\d{1,3}%\|[^|\r\n]{0,400}\| *(\d{1,9})/(\d{1,9}) \[")
SIGNS = re.compile(
    r"'(?:trainer/global_step|generate/avg_num_tokens|policy/policy_loss|reward/avg_raw_reward)'"
)
LONGEST = 64 * 1024


class SkyRlParser:
    """Makes events of the lines of a driver log."""

    source = "console"

    def __init__(self) -> None:
        self.bad_lines = 0
        self.first_bad = ""
        self._told = Told()
        self._faults = Faults()
        self._attempt = 0
        self._last = -1
        self._by = ""
        self._step: int | None = None
        """The step whose dict is being printed."""
        self._dict = ""
        self._at: float | None = None
        self._lines = TrainerLines()
        self._logged = False
        """Whether the logger prints the steps: then what the trainer says of them is said already."""

    def feed(self, line: Line) -> Iterator[Event]:
        """The events of one line."""
        if bar := BAR.search(line.text):
            yield from self._told.news(RunInfo(total_steps=int(bar[2]) or None))
            if self._lines.over and int(bar[1]):
                yield from self._spoken(int(bar[1]))
        for one in said(line.text):
            words = without_count(one.words).rstrip()
            head = HEAD.search(words) if "Step " in words else None
            if head is not None:
                self._give_up(line)
                self._by, self._step, self._dict = one.by, int(head[1]), head[2] or ""
                self._at = stamp_of(words, head.start() + 1) or line.at
                yield from self._finished()
            elif self._step is not None and one.by == self._by:
                yield from self._continued(words, line)
            else:
                if not self._logged and ": " in words:
                    yield from self._trainer(words, line)
                if self._faults.reading or "rror" in words or "Traceback" in words or "memory" in words:
                    yield from self._faults.read(one.by, words, line.at)

    def flush(self) -> Iterator[Event]:
        """A step that no bar came after, and a traceback that the log ends in."""
        if self._lines.over:
            yield from self._spoken(max(self._last, 0) + 1)
        yield from self._faults.flush()

    def restart(self) -> Iterator[Event]:
        """The log is written anew: its first step tells from where on."""
        self._faults.clear()
        self._step, self._dict = None, ""
        return iter(())

    def _trainer(self, words: str, line: Line) -> Iterator[Event]:
        """What the trainer says of the step under way."""
        if BEGUN in words:
            if self._lines.over:
                yield from self._spoken(max(self._last, 0) + 1)
            self._lines.begin()
        elif total := TOTAL.search(words):
            yield from self._told.news(RunInfo(total_steps=int(total[1]) or None))
        else:
            self._lines.take(words)
            if self._lines.over:
                self._at = stamp_of(words[:40]) or line.at or self._at

    def _spoken(self, step: int) -> Iterator[Event]:
        """The events of a step of which the trainer has spoken."""
        values, counts = self._lines.values, self._lines.counts()
        self._lines.begin()
        yield from self._told.news(RunInfo(framework="skyrl", platform="self-hosted", first_step=1))
        if step < self._last:
            self._attempt += 1
            yield Restart(from_step=step, attempt=self._attempt, at=self._at)
        self._last = step
        known: dict[str, Any] = {"attempt": self._attempt, "raw": values, **counts}
        if self._at is not None:
            known["ended_at"] = self._at
        yield Step.model_validate(SKYRL.step(step, values, **known))

    def _continued(self, words: str, line: Line) -> Iterator[Event]:
        if not self._dict and not words.lstrip().startswith("{"):
            self._step = None  # it was no logged step but a sentence
            return
        self._dict += " " + words
        if len(self._dict) > LONGEST:
            self._give_up(line)
            return
        yield from self._finished()

    def _finished(self) -> Iterator[Event]:
        """The events of the step, if its dict is whole."""
        read = read_dict(self._dict.strip()) if self._dict.rstrip().endswith("}") else None
        if read is None or self._step is None:
            return
        step, self._step, self._dict = self._step, None, ""
        self._logged = True
        self._lines.begin()
        values = numbers(read[0])
        scores = {key: value for key, value in values.items() if key.startswith(SKYRL.eval_prefixes)}
        yield from self._told.news(RunInfo(framework="skyrl", platform="self-hosted"))
        if scores:
            yield Eval(step=step, attempt=self._attempt, name="eval", ended_at=self._at, scores=scores)
        if len(scores) == len(values):
            return
        if step < self._last:
            self._attempt += 1
            yield Restart(from_step=step, attempt=self._attempt, at=self._at)
        self._last = step
        known: dict[str, Any] = {"attempt": self._attempt, "raw": values}
        if self._at is not None:
            known["ended_at"] = self._at
        yield Step.model_validate(SKYRL.step(step, values, **known))

    def _give_up(self, line: Line) -> None:
        if self._dict:
            self.bad_lines += 1
            self.first_bad = self.first_bad or f"line {line.number}: the end of step {self._step} is missing"
        self._step, self._dict = None, ""


def _score(probe: Probe) -> float:
    if probe.is_dir:
        return 0.0
    text = probe.head + probe.tail
    signs = {match.group() for match in SIGNS.finditer(text)}
    return 0.85 if len(signs) >= 2 or PARTS.search(text) else 0.0


def _open(path: Path) -> Sequence[Source]:
    return [FileSource(open_transport(path), SkyRlParser())]


TELLS = tells_of(
    SKYRL, steps="step line, progress bar", total="progress bar", tokens="length × samples", state="traceback"
)
FORMAT = Format(name="SkyRL console log", score=_score, open=_open, tells=TELLS)
