"""The console of TRL's trainers, and of Unsloth's and Axolotl's, which wrap them.

Its one rule: a row is a printed dict with a trainer's keys; which step it is, the bar decides.
"""

import math
import re
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass

from ...models.event import Event, LogLine, Progress, Restart
from ...models.run import RunInfo
from ..source import Line
from .pyrepr import numbers, read_dict
from .trl_bar import Picture, pictures_of
from .trl_header import info_of_line, samples_per_step_of
from .trl_numbering import Numbered, StepNumbers
from .trl_rows import SUMMARY, TrlRows, first_window, is_eval, is_training
from .verl.faults import Faults

ROW = re.compile(
    r"""\{['"](?:loss|step|global_step|reward|eval_|train_runtime|grad_norm|learning_rate|lr|num_tokens|"""
    r"""completion|clip_ratio|entropy|kl|eps|epoch|episode|step_time|objective/|frac_|sampling/|policy_loss|"""
    r"""mean_token_accuracy)"""
)
FURTHEST_FIRST = 20
"""A bar that goes from 0 to beyond this at once belongs to a run that was resumed."""
ROWS_OF_A_RIVAL = 2
COUNTED = "the log has no progress bar that tells the steps of its rows: each row is counted as one step"
SILENT = (
    "the progress bar stands at step {}, but the log has no row of the trainer: its output was held back"
    " (PYTHONUNBUFFERED=1 lets it through), or goes to another file or a tracker"
)
MOST_TIMES = 10_000
OWN_STEPS = ("step", "global_step")
LONGEST_ROW = 64 * 1024
LINES_OF_ROW = 40


@dataclass(slots=True)
class _Rival:
    """A bar that may be that of another training in the same log."""

    total: int
    rows: int = 0
    """Rows of training that came one by one while it moved."""
    moved: bool = False


class TrlConsoleParser:
    """Makes events of the lines of a console log."""

    source = "console"

    def __init__(self) -> None:
        self.bad_lines = 0
        self.first_bad = ""
        self._rows = TrlRows()
        self._faults = Faults()
        self._attempt = 0
        self._begin()

    def _begin(self) -> None:
        self._numbers = StepNumbers()
        self._total: int | None = None
        self._shown: tuple[int, float] | None = None
        """Where the bar stands: step, elapsed seconds."""
        self._times: dict[int, float] = {}
        """Elapsed seconds when the bar was first drawn at a step, for rows that are yet to come."""
        self._again = False
        """Whether the bar was begun anew: its next picture says from where."""
        self._rival: _Rival | None = None
        """A bar of another length, as long as this one is not drawn."""
        self._before: dict[str, float] = {}
        """The newest row: W&B prints rows again that it drops."""
        self._over = False
        """Whether the run that was told is over: what follows is another one."""
        self._torn = ""
        """A row that the line ended in the middle of."""
        self._torn_lines = 0

    def feed(self, line: Line) -> Iterator[Event]:
        """The events of one line."""
        text = line.text
        if "%|" in text:
            text = yield from self._bars(text, line)
        if self._torn:
            text = self._mend(text, line)
        start = ROW.search(text) if "{" in text else None
        if start is not None:
            yield from self._printed_rows(text, start.start(), line)
        elif text:
            yield from self._header(text)
            if self._faults.reading or "rror" in text or "Traceback" in text or "memory" in text:
                yield from self._faults.read("", text, line.at)

    def flush(self) -> Iterator[Event]:
        """Rows that wait for a bar, and a traceback that the log ends in."""
        yield from self._tell(self._numbers.flush())
        yield from self._counted()
        if self._stands and not (self._before or self._numbers.last or self._over):
            yield from self._rows.learn(RunInfo(notes=(SILENT.format(self._stands),)))
        yield from self._faults.flush()

    def restart(self) -> Iterator[Event]:
        """The log is written anew: what follows runs again."""
        self._faults.clear()
        if self._numbers.last:
            yield from self._new_attempt(None)
        self._begin()

    def _bars(self, text: str, line: Line) -> Generator[Event, None, str]:
        """Takes the training bar's updates out of a line; gives what is left of it."""
        pictures, rest = pictures_of(text)
        drawn = 0
        for picture in pictures:
            if self._total is not None and picture.total != self._total:
                yield from self._other(picture.total, line)
                continue
            drawn += 1
            if len(self._times) < MOST_TIMES:
                self._times.setdefault(picture.step, picture.elapsed_s)
            # A line may hold the bar's whole way to the next row. Rows are printed through the bar, which is
            # drawn anew at once: only its first picture is where the rows before it stand.
            if self._numbers.waiting or not picture.step or not self._stands or self._total is None:
                yield from self._show(picture, line, drawn)
                drawn = 0
        if pictures:
            yield from self._show(pictures[-1], line, drawn)
        return rest

    @property
    def _stands(self) -> int:
        """The step at which the bar was last drawn."""
        return self._shown[0] if self._shown is not None else 0

    def _show(self, picture: Picture, line: Line, drawn: int) -> Iterator[Event]:
        step, total, elapsed_s = picture
        if self._total is None or (self._over and step == 0):
            if self._over:
                yield from self._new_attempt(line.at)
            self._total = total
            yield from self._rows.learn(RunInfo(total_steps=total))
        if total != self._total or step > total:
            return  # the bar of an evaluation within the training
        self._rival = None
        if step == 0 and self._stands:
            yield from self._tell(self._numbers.flush())
            self._again, self._shown, self._times = True, None, {}
        if step and not self._stands:
            yield from self._first(step, line)
        moved = self._shown is None or step > self._shown[0]
        if moved:
            yield Progress(step=step, total_steps=total, elapsed_s=elapsed_s, attempt=self._attempt)
        yield from self._tell(self._numbers.bar(step, total, drawn))
        if moved:
            self._shown = step, elapsed_s

    def _first(self, step: int, line: Line) -> Iterator[Event]:
        """The bar's first step: a run that was resumed has the steps before it from its checkpoint."""
        if self._again:
            self._again = False
            self._attempt += 1
            self._numbers = StepNumbers()
            self._numbers.last = step - 1
            self._rows.begin()
            yield Restart(from_step=step, attempt=self._attempt, at=line.at)
        elif step > FURTHEST_FIRST and self._shown is not None and not self._numbers.waiting:
            self._numbers.last = max(self._numbers.last, step - 1)

    def _other(self, total: int, line: Line) -> Iterator[Event]:
        """A bar of another length: an evaluation's, unless rows of training come with it one by one."""
        if self._rival is None or self._rival.total != total:
            self._rival = _Rival(total)
        rival = self._rival
        if rival.rows >= ROWS_OF_A_RIVAL and self._total is not None:
            numbers = self._numbers
            yield from self._new_attempt(line.at)
            self._numbers.take(numbers)
            self._total = total
            yield from self._rows.learn(RunInfo(total_steps=total))
        rival.moved = True

    def _mend(self, text: str, line: Line) -> str:
        """The line joined to the row that was cut before it; or as it is, when it is no part of that."""
        if text.lstrip().startswith("{'"):
            self._give_up(line)
            return text
        self._torn_lines += 1
        joined = self._torn + text
        self._torn = ""
        if len(joined) > LONGEST_ROW or self._torn_lines > LINES_OF_ROW:
            self._give_up(line)
            return text
        return joined

    def _printed_rows(self, text: str, start: int, line: Line) -> Iterator[Event]:
        while True:
            read = read_dict(text, start)
            if read is None:
                if "}" in text[start:]:
                    self._bad(line, "an unreadable row")
                else:
                    self._torn = text[start:]
                return
            self._torn_lines = 0
            values, end = read
            if values.get("num_tokens") is not None and isinstance(values["num_tokens"], str):
                # Printed with four digits: too coarse to take differences of.
                values["num_tokens_printed"] = values.pop("num_tokens")
            yield from self._row(numbers(values), line.at)
            following = ROW.search(text, end)
            if following is None:
                return
            start = following.start()

    def _row(self, values: dict[str, float], at: float | None) -> Iterator[Event]:
        own = _own_step(values)
        if SUMMARY in values or is_eval(values):
            step = own or 0
            if SUMMARY in values and self._total is not None:
                # The summary is printed before the bar's last update, but all steps are done.
                yield from self._tell(self._numbers.bar(self._total, self._total))
                step = self._total
            yield from self._tell(self._numbers.flush())
            yield from self._rows.events(max(step, self._numbers.last), 1, values, at, self._attempt)
            if SUMMARY in values:
                self._over = True
                yield from self._counted()
        elif is_training(values) and values != self._before:
            self._before = dict(values)
            if own is not None:
                yield from self._numbered(own, values, at)
                return
            if self._rival is not None and self._rival.moved:
                self._rival.rows += 1
                self._rival.moved = False
            yield from self._tell(self._numbers.row(values, at))

    def _counted(self) -> Iterator[Event]:
        """A word on rows that nothing told the steps of."""
        if self._numbers.counted > 1:
            yield from self._rows.learn(RunInfo(notes=(COUNTED,)))

    def _numbered(self, step: int, values: dict[str, float], at: float | None) -> Iterator[Event]:
        """A row that says itself which step it is."""
        last = self._numbers.last
        if step < last:
            self._attempt += 1
            self._numbers = StepNumbers()
            self._rows.begin()
            last = 0
            yield Restart(from_step=step, attempt=self._attempt, at=at)
        self._numbers.last = step
        window = step - last if last else first_window(step)
        yield from self._rows.events(step, max(1, window), values, at, self._attempt)

    def _tell(self, rows: list[Numbered]) -> Iterator[Event]:
        """The events of rows; a row's clock is the bar's, when the bar was first drawn at its step."""
        for row in rows:
            elapsed_s = self._times.get(row.step)
            yield from self._rows.events(
                row.step, row.window, row.values, row.at, self._attempt, elapsed_s=elapsed_s
            )
        if rows:
            last = rows[-1].step
            self._times = {step: at for step, at in self._times.items() if step > last}

    def _header(self, text: str) -> Iterator[Event]:
        """What the lines before the training say of it; within it, models say what they like."""
        if self._numbers.last and not self._over:
            return
        info = info_of_line(text)
        if info is not None:
            if info.total_steps is not None and self._over:
                yield from self._new_attempt(None)
            yield from self._rows.learn(info)
        samples = samples_per_step_of(text)
        if samples is not None:
            self._rows.samples_per_step = samples

    def _new_attempt(self, at: float | None) -> Iterator[Event]:
        """Another run goes on in the same log, or the same run from its start."""
        self._attempt += 1
        self._begin()
        self._rows.begin()
        yield Restart(from_step=1, attempt=self._attempt, at=at)
        yield LogLine(text="another training begins in the same log", at=at)

    def _give_up(self, line: Line) -> None:
        self._torn = ""
        self._torn_lines = 0
        self._bad(line, "the end of a row is missing before it")

    def _bad(self, line: Line, why: str) -> None:
        self.bad_lines += 1
        if not self.first_bad:
            self.first_bad = f"line {line.number}: {why}"


def _own_step(values: Mapping[str, float]) -> int | None:
    """The step in a row, which the trainer's own printing leaves out."""
    step = next((values[key] for key in OWN_STEPS if key in values), math.nan)
    return int(step) if 0 < step < 2**53 and step.is_integer() else None
