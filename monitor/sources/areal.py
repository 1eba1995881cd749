"""AReaL's console: `Epoch 1/2 Step 3/9 Train step 3/18 done.`, and behind it tables of that step's numbers.

Its one rule: a step is told when its tables are over. The trainer logs no time of a whole step: it is the sum
of the parts that it timed, which come one after the other.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from ...models.event import Ended, Event, Progress, Restart
from ...models.run import RunInfo
from ...models.step import Eval, Step
from ..filesource import FileSource
from ..source import Format, Line, Probe, Source
from ..transport import open_transport
from .keymap import tells_of
from .keymap_others import AREAL
from .pyrepr import number_of
from .told import Told
from .verl.faults import Faults
from .verl.rayline import without_colour

DONE = re.compile(r"\bTrain step (\d{1,12})/(\d{1,12}) done\.")
COMPLETE = re.compile(r"Training completes! Total time elapsed (\d{1,12}(?:\.\d{1,6})?)")
STAMP = re.compile(r"(?<!\d)(\d{8}-\d\d:\d\d:\d\d)\.(\d{3})\b")
DEVICES = re.compile(r"initialized with GPU devices: \[([\d, ]{1,4000})\]")
CELL = "│"
FRAME = ("╒", "├", "╘", "╞")
TIMED = "timeperf/"


class ArealParser:
    """Makes events of the lines of a trainer's log."""

    source = "console"

    def __init__(self) -> None:
        self.bad_lines = 0
        self.first_bad = ""
        self._told = Told()
        self._faults = Faults()
        self._attempt = 0
        self._last = 0
        self._step: int | None = None
        """The step whose tables are being printed."""
        self._at: float | None = None
        self._values: dict[str, float] = {}

    def feed(self, line: Line) -> Iterator[Event]:
        """The events of one line."""
        text = without_colour(line.text)
        if CELL in text and self._step is not None:
            self._row(text, line)
        elif done := DONE.search(text):
            yield from self._tell()
            self._step, self._at = int(done[1]), _stamp(text) or line.at
            yield from self._told.news(
                RunInfo(
                    framework="areal", platform="self-hosted", first_step=1, total_steps=int(done[2]) or None
                )
            )
        elif self._values and text.strip() and not text.lstrip().startswith(FRAME):
            yield from self._tell()
            yield from self._beside(text, line)
        elif text:
            yield from self._beside(text, line)

    def flush(self) -> Iterator[Event]:
        """The step that the log ends in, and a traceback."""
        yield from self._tell()
        yield from self._faults.flush()

    def restart(self) -> Iterator[Event]:
        """The log is written anew: its first step tells from where on."""
        self._faults.clear()
        self._step, self._values = None, {}
        return iter(())

    def _beside(self, text: str, line: Line) -> Iterator[Event]:
        """What is said between the tables."""
        if complete := COMPLETE.search(text):
            yield Progress(elapsed_s=float(complete[1]), attempt=self._attempt)
            yield Ended(status="finished", at=_stamp(text) or line.at, message="the log says so")
        elif devices := DEVICES.search(text):
            yield from self._told.news(RunInfo(gpus=devices[1].count(",") + 1))
        elif self._faults.reading or "rror" in text or "Traceback" in text or "memory" in text:
            yield from self._faults.read("", text, line.at)

    def _row(self, text: str, line: Line) -> None:
        cells = [cell.strip() for cell in text.split(CELL)[1:-1]]
        for name, cell in zip(cells[::2], cells[1::2], strict=False):
            number = number_of(cell)
            if name and number is not None:
                # Older versions call the actor by the algorithm.
                name = (
                    name.replace("grpo_actor/", "ppo_actor/", 1) if name.startswith("grpo_actor/") else name
                )
                self._values.setdefault(name, number)
            elif name:
                self.bad_lines += 1
                self.first_bad = self.first_bad or f"line {line.number}: {cell!r} is no number"

    def _tell(self) -> Iterator[Event]:
        """The step whose tables are whole."""
        step, values, self._step, self._values = self._step, self._values, None, {}
        if step is None or not values:
            return
        if step <= self._last:
            self._attempt += 1
            yield Restart(from_step=step, attempt=self._attempt, at=self._at)
        self._last = step
        scores = {key: value for key, value in values.items() if key.startswith(AREAL.eval_prefixes)}
        if scores:
            yield Eval(step=step, attempt=self._attempt, name="eval", ended_at=self._at, scores=scores)
        known: dict[str, Any] = {"attempt": self._attempt, "raw": values}
        if self._at is not None:
            known["ended_at"] = self._at
        timed = [value for key, value in values.items() if key.startswith(TIMED) and value >= 0]
        if timed:
            known["duration_s"] = sum(timed)
        fields = AREAL.step(step, values, **known)
        if (sampled := fields.get("sampled_tokens")) and (count := fields.get("episodes")):
            fields["response_length_mean"] = sampled / count
        yield Step.model_validate(fields)


def _stamp(text: str) -> float | None:
    """Unix seconds of `20251111-11:37:11.251`, by the clock of this machine."""
    found = STAMP.search(text)
    if found is None:
        return None
    try:
        whole = datetime.strptime(found[1], "%Y%m%d-%H:%M:%S").timestamp()
    except (ValueError, OverflowError, OSError):
        return None
    return whole + float(f"0.{found[2]}")


def _score(probe: Probe) -> float:
    if probe.is_dir:
        return 0.0
    text = probe.head + probe.tail
    keyed = any(f"{CELL} {sign}" in text for sign in (*AREAL.signs, "grpo_actor/", "rollout/"))
    return 0.9 if keyed and DONE.search(text) else 0.6 if DONE.search(text) else 0.0


def _open(path: Path) -> Sequence[Source]:
    return [FileSource(open_transport(path), ArealParser())]


TELLS = tells_of(
    AREAL,
    steps="`Train step n/N`",
    total="`Train step n/N`",
    length="`n_valid_tokens` / `n_seqs`",
    time="sum of `timeperf/*`, clock of the lines",
    gpus="line of the scheduler",
    state="`Training completes`, traceback",
)
FORMAT = Format(name="AReaL console log", score=_score, open=_open, tells=TELLS)
