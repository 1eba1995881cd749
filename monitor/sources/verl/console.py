"""The parser of a veRL console: a driver's log, a worker's output, a job's log, or a paste of one.

Its one rule: a line is looked at closely only when it can matter. Most of a log is chatter, and
substring tests skip it at the speed of memory.
"""

from collections.abc import Iterable, Iterator

from ....models.event import Ended, Event, LogLine, Progress
from ....models.run import RunInfo
from ....models.step import Step
from ...source import Line
from . import barsteps, easyr1, stepline
from .barclock import BarClock
from .bars import Bar, EpochBars, training_bar
from .barsteps import BarSteps
from .easyr1 import Block, Blocks
from .faults import TRACEBACK, Faults
from .hints import hint, may_hint
from .rayline import said
from .runfacts import RunFacts
from .telling import Telling

START_INFO = RunInfo(framework="verl", platform="self-hosted")


def matters(text: str) -> bool:
    """A quick look: whether a line can hold anything of use while nothing is being collected."""
    return (
        "step:" in text
        or "%|" in text
        or "{'" in text
        or TRACEBACK in text
        or "verl.trainer" in text
        or "Error executing job" in text
        or "Exception " in text
        or "out of memory" in text
        or "(raylet" in text
        or "raysubmit_" in text
        or "Watchdog caught" in text
        or "slurmstepd" in text
        or "Killed" in text
        or "Segmentation" in text
        or "Step " in text
        or text.endswith("Config")
        or may_hint(text)
    )


class _Open:
    """A step line whose end is not certain yet."""

    __slots__ = ("again", "at", "body", "number", "step", "told")

    def __init__(self, step: int, body: str, line: Line, again: bool) -> None:
        self.step = step
        self.body = body
        self.at = line.at
        self.number = line.number
        self.again = again
        """Part of it has been told before."""
        self.told = False


class ConsoleParser:
    """Events of a console, line by line."""

    source = "console"

    def __init__(self, telling: Telling | None = None) -> None:
        self.bad_lines = 0
        self.first_bad = ""
        self._telling = telling or Telling()
        self._facts = RunFacts(self._telling)
        self._faults = Faults()
        self._epochs = EpochBars()
        self._blocks = Blocks()
        self._open: _Open | None = None
        self._wrapped = False
        self._number = 0
        self._clock = BarClock()
        self._bar_steps = BarSteps()
        self._bar_seen = False
        self._bar_ran = False
        """The bar of this attempt has left its start."""
        self._last_step: Step | None = None
        """The step that the next update of the bar belongs to."""
        self._started = False
        self._finished = False

    def feed(self, line: Line) -> Iterable[Event]:
        """The events of one line."""
        if (
            self._started
            and self._open is None
            and not self._facts.reading
            and not self._faults.reading
            and not self._blocks.reading
            and not matters(line.text)
        ):
            return ()
        return list(self._look(line))

    def flush(self) -> Iterable[Event]:
        """A step that a further line might have completed, a dump or traceback that broke off."""
        return list(self._flush())

    def restart(self) -> Iterable[Event]:
        """The file starts again: what was half read is void, what was told stands."""
        self._open = None
        self._facts.clear()
        self._faults.clear()
        self._blocks = Blocks()
        self._number = 0
        return ()

    def _look(self, line: Line) -> Iterator[Event]:
        if not self._started:
            self._started = True
            yield from self._telling.learn(START_INFO)
        again = bool(line.number) and line.number == self._number
        self._number = line.number
        if again:
            self._open = None  # the same line, of which there is more now
        for by, words in said(line.text):
            yield from self._statement(by, words, line, again)

    def _statement(self, by: str, words: str, line: Line, again: bool) -> Iterator[Event]:
        if self._open is not None:
            if not by and (longer := stepline.joined(self._open.body, words, self._wrapped)) is not None:
                self._open.body = longer
                self._open.told = False
                self._wrapped = True
                return
            yield from self._settle()
        if self._blocks.reading or words.startswith(easyr1.OPENINGS):
            block, taken = self._blocks.read(by, words)
            yield from self._easyr1(block, line.at)
            if taken:
                return
        if "logger" in words:
            self._bar_steps.hear(words)
        if not self._facts.takes(by, words):
            if "%|" in words:
                yield from self._progress(words, line.at)
            if stepline.WORD in words and (found := stepline.bodies(words)):
                self._telling.v1 = self._telling.v1 or by.startswith("TaskRunnerV1 ")
                yield from self._step_lines(found, line, again)
                return
            for event in self._faults.read(by, words, line.at):
                yield from self._unless_over(event)
            if may_hint(words):
                yield from self._hint(words, line.at)
            if "Watchdog caught" in words:
                yield LogLine(text=words.strip()[:500], level="error", at=line.at)
        yield from self._facts.read(by, words)

    def _step_lines(self, found: list[tuple[int, str]], line: Line, again: bool) -> Iterator[Event]:
        yield from self._facts.end_dump()
        for step, body in found:
            yield from self._settle()
            self._open = _Open(step, body, line, again)
        # In a log that was never seen to be wrapped, a whole line need not wait for the next one.
        if not self._wrapped and stepline.is_whole(found[-1][1]):
            yield from self._settle(keep=True)

    def _settle(self, keep: bool = False) -> Iterator[Event]:
        """Tell the open step line, unless told as it stands; `keep` it open for the next line."""
        held = self._open
        if held is None:
            return
        if not keep:
            self._open = None
        if held.told:
            return
        read = stepline.metrics(held.step, held.body)
        if read.bad:
            self.bad_lines += 1
            what = f"line {held.number}: step {held.step} has a piece that is not key:number"
            self.first_bad = self.first_bad or what
        again = held.again
        held.told = held.again = True
        for event in self._telling.tell(
            self, read.step, read.values, held.at, held.body, read.rounded, read.numpy, again
        ):
            yield self._timed(event, again) if isinstance(event, Step) else event
        yield from self._reached(held.at)

    def _easyr1(self, block: Block | None, at: float | None) -> Iterator[Event]:
        """A step, or the configuration, that EasyR1 printed as YAML."""
        if block is None:
            return
        if block.step is None:
            yield from self._facts.printed(easyr1.settings_of(block.flat))
            return
        values = easyr1.metrics_of(block)
        if easyr1.is_step(values):
            for event in self._telling.tell(self, block.step, values, at, repr(block.flat)):
                yield self._timed(event, again=False) if isinstance(event, Step) else event
            yield from self._reached(at)

    def _timed(self, step: Step, again: bool) -> Step:
        """The step, left open for what the bar behind it will say of its time."""
        self._bar_steps.printed()
        if step.duration_s is None:
            return step
        if not again:
            self._clock.step(step.duration_s, self._telling.apart_s)
        self._last_step = step
        return step.model_copy(update={"complete": False}) if self._bar_seen else step

    def _reached(self, at: float | None) -> Iterator[Event]:
        """Whether the last step is done."""
        info, last = self._telling.info, self._telling.last
        if info.total_steps is None or last is None:
            return
        first = 1 if info.first_step is None else info.first_step
        if last >= first + info.total_steps - 1:
            yield from self._finish(at)
        else:
            self._finished = False

    def _finish(self, at: float | None) -> Iterator[Event]:
        if not self._finished and self._telling.last is not None:
            self._finished = True
            yield Ended(status="finished", at=at)

    def _unless_over(self, event: Event) -> Iterator[Event]:
        # What fails after the end, while the program takes itself down, does not undo the training.
        if not (isinstance(event, Ended) and self._finished):
            yield event

    def _progress(self, words: str, at: float | None) -> Iterator[Event]:
        bar = training_bar(words)
        if bar is None and self._telling.info.algorithm == "sft":
            bar = self._epochs.read(words)
        if bar is None:
            return
        if bar.started and self._bar_ran:
            yield from self._resume(bar.step, at)
        yield from self._put_right(bar)
        for step, seconds in self._bar_steps.of(bar):
            yield from self._telling.learn(RunInfo(notes=(barsteps.NOTE,)))
            yield self._telling.timed(step, seconds, at)
        self._bar_seen = True
        self._bar_ran = self._bar_ran or bar.elapsed_s > 0
        yield from self._facts.counted(bar.total)
        yield Progress(
            step=bar.step,
            total_steps=bar.total,
            elapsed_s=None if bar.started else bar.elapsed_s,
            attempt=self._telling.attempt,
        )
        if bar.step >= bar.total > 0:
            yield from self._finish(at)

    def _put_right(self, bar: Bar) -> Iterator[Event]:
        """The time of the last step by the bar's clock, which leaves nothing out."""
        seconds = self._clock.correct(bar)
        step, self._last_step = self._last_step, None
        if step is None or step.step != bar.step or step.duration_s is None:
            return
        facts: dict[str, object] = {"step": step.step, "attempt": step.attempt, "complete": step.complete}
        if seconds:
            duration_s = facts["duration_s"] = step.duration_s + seconds
            if step.total_tokens is not None and duration_s > 0:
                facts["tokens_per_s"] = step.total_tokens / duration_s
        if seconds or self._bar_seen:
            yield Step.model_validate(facts)

    def _resume(self, after_step: int, at: float | None) -> Iterator[Event]:
        events = self._telling.resume(after_step, at)
        if events:
            self._bar_ran = self._finished = False
            self._last_step = None
        yield from events

    def _hint(self, words: str, at: float | None) -> Iterator[Event]:
        found = hint(words)
        yield from self._facts.hint(found)
        if found.resumed_at is not None:
            yield from self._resume(found.resumed_at, at)
        if found.checkpoint:
            yield LogLine(text="checkpoint saved", at=at, topic="checkpoint")
        if found.finished:
            yield from self._finish(at)

    def _flush(self) -> Iterator[Event]:
        yield from self._settle()
        yield from self._easyr1(self._blocks.end(), None)
        yield from self._facts.end_dump()
        for event in self._faults.flush():
            yield from self._unless_over(event)
