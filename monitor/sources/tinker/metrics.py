"""The parser of metrics.jsonl, a row a step and now and then a row of something else.

The one rule: what was paid for is given once. Rows that a resume dropped or repeated stay, as an earlier
attempt; rows that are merely read again, because the file was rewritten, are not given again.
"""

import math
from collections.abc import Iterable
from typing import Protocol

from ....models.event import Ended, Event, Restart
from ....models.step import Eval, Step
from ...source import Line
from .facts import RunFacts
from .learning import Learnt
from .levels import Discards, totals
from .lineage import Lineage
from .resumes import Resume
from .rollouts import Lengths
from .rows import Row, read_row
from .shape import NEWEST
from .steps import eval_seconds, evals_of, length_part, step_of

LATE = 8
"""Newest steps whose rollout summaries are still looked for: they may be written after the metrics."""


class RolloutLengths(Protocol):
    """Where response lengths come from."""

    def lengths(self, step: int, total: float | None) -> Lengths | None: ...


class KeptResumes(Protocol):
    """Where the rows are that resumes cut off."""

    def fresh(self) -> list[Resume]: ...


class MetricsParser:
    """Events of the lines of one metrics file, with its neighbours' help where it has any."""

    source = "tinker-metrics"

    def __init__(
        self,
        facts: RunFacts | None = None,
        rollouts: RolloutLengths | None = None,
        resumes: KeptResumes | None = None,
    ) -> None:
        self.bad_lines = 0
        self.first_bad = ""
        self._facts = facts or RunFacts()
        self._rollouts = rollouts
        self._resumes = resumes
        self._began = False
        self._torn: int | None = None
        """Number of the last line, if it was bad: it is told again once its writer has finished it."""
        self._lineage = Lineage()
        self._discards = Discards()
        self._discarded: dict[str, float] = {}
        """What the newest step was given as discarded."""
        self._learnt = Learnt(self._facts)
        self._attempt = 0
        self._last: Row | None = None
        """The newest training row of this attempt."""
        self._evals_s: float | None = None
        """Seconds of evaluations whose results stand in the next row: the supervised loop works ahead."""
        self._late: list[tuple[int, int, dict[str, float]]] = []
        """(step, attempt, told) without lengths so far."""

    def feed(self, line: Line) -> Iterable[Event]:
        """The events of one row."""
        if not self._began:
            self._began = True
            return [*self._earlier(), *self._line(line.text, line.at, line.number)]
        return self._line(line.text, line.at, line.number)

    def flush(self) -> Iterable[Event]:
        """Nothing is held back: each row stands for itself."""
        return ()

    def restart(self) -> Iterable[Event]:
        """The file was written anew, as a resume does: what is in it again is not given again."""
        self._torn = None
        if not self._began:
            return ()
        events = self._earlier()
        self._lineage.read_again()
        return events

    def late(self) -> list[Step]:
        """Lengths that were not there when their step was given."""
        if not self._late or self._rollouts is None:
            return []
        found: list[Step] = []
        waiting: list[tuple[int, int, dict[str, float]]] = []
        for step, attempt, told in self._late:
            lengths = self._rollouts.lengths(step, told.get("ac"))
            if lengths is None:
                waiting.append((step, attempt, told))
            else:
                found.append(length_part(step, attempt, told, lengths, self._facts))
        self._late = waiting
        return found

    def _earlier(self) -> list[Event]:
        """What resumes have cut off, each as the attempt that it was."""
        events: list[Event] = []
        for resume in self._resumes.fresh() if self._resumes is not None else ():
            self._lineage.read_again()
            for number, text in enumerate(resume.lines, 1):
                events.extend(self._line(text, None, number))
            self._torn = None
            self._lineage.cut(resume.from_step)
            events.append(self._restart(resume.from_step, None))
            self._lineage.read_again()
        return events

    def _line(self, text: str, at: float | None, number: int) -> list[Event]:
        text = text.strip()
        if not text or self._lineage.seen(text):
            return []
        if self._torn == number:  # this line again, and more of it
            self.bad_lines -= 1
            if not self.bad_lines:
                self.first_bad = ""
        row = read_row(text)
        self._torn = number if isinstance(row, str) else None
        if isinstance(row, str):
            self.bad_lines += 1
            self.first_bad = self.first_bad or f"line {number}: {row}"
            self._lineage.add(text, None)
            return []
        events = self._row(row, at)
        self._lineage.add(text, row.step)
        if row.step is None and not events:
            self.bad_lines += 1
            self.first_bad = self.first_bad or f"line {number}: no step"
        return events

    def _row(self, row: Row, at: float | None) -> list[Event]:
        step = row.step
        if row.trains and step is not None:
            return (
                [self._foreign(row, step, at)] if self._is_foreign(row, step) else self._train(row, step, at)
            )
        events: list[Event] = []
        self._learnt.evaluated |= bool(row.evals)
        if row.evals and step is not None:
            events.extend(evals_of(row, self._attempt, step, at, eval_seconds(row)))
        elif row.raw and not row.levels and self._last is not None:
            events.extend(self._part(row, self._last.step, at))
        if row.levels:
            events.extend(self._cumulative(row))
        return events

    def _cumulative(self, row: Row) -> list[Event]:
        """A row of running totals: while groups are thrown away, without a step; at the very end, with it."""
        self._discards.see(row.levels, None)
        events: list[Event] = [totals(row.levels, row.step)]
        if row.step is None:
            return events
        last = self._last
        discarded = self._discards.take()
        if last is not None and last.step is not None and discarded:
            for name, tokens in discarded.items():
                self._discarded[name] = self._discarded.get(name, 0.0) + tokens
            events.append(
                Step.model_validate({"step": last.step, "attempt": self._attempt, **self._discarded})
            )
        if self._is_over(row.step):
            events.extend(self._end())
        return events

    def _train(self, row: Row, step: int, at: float | None) -> list[Event]:
        events: list[Event] = []
        if self._lineage.lacks(step):
            self._lineage.cut(step)
            events.append(self._restart(step, at))
        elif self._last is not None and self._last.step is not None and step <= self._last.step:
            if not self._repeats(row, step):
                return self._part(row, step, at)
            events.append(self._restart(step, at))
        events.extend(self._learnt.learn(row, step))
        seconds = eval_seconds(row)
        events.extend(evals_of(row, self._attempt, step, at, self._evals_s if seconds is None else seconds))
        self._evals_s = None if row.evals else seconds
        lengths = self._lengths(row, step)
        self._discards.see(row.levels, step)
        self._discarded = self._discards.take()
        events.append(
            step_of(
                row, step, self._attempt, at, self._facts, self._learnt.algorithm, lengths, self._discarded
            )
        )
        self._last = row
        self._facts.last_step = step
        self._facts.over = False
        # From 0.6 on, an RL run still has its last evaluation to do: a row of totals follows it.
        if self._is_over(step + 1) and not ("ac" in row.told and self._learnt.version == NEWEST):
            events.extend(self._end())
        return events

    def _repeats(self, row: Row, step: int) -> bool:
        """Whether a row at or before the newest step is that step done again, and not a late part of it."""
        last = self._last
        if last is None:
            return False
        common = len(row.raw.keys() & last.raw.keys())
        return common > 0 if step == last.step else 2 * common >= min(len(row.raw), len(last.raw))

    def _is_foreign(self, row: Row, step: int) -> bool:
        """Whether a row of a new step has nothing in common with training rows: results of an evaluator
        that names them as it likes."""
        last = self._last
        if last is None or last.step is None or step <= last.step or "done_frac" in row.told:
            return False
        return bool(last.told) and not row.told and not row.raw.keys() & last.raw.keys()

    def _foreign(self, row: Row, step: int, at: float | None) -> Event:
        scores = {key: value for key, value in row.raw.items() if math.isfinite(value)}
        return Eval(step=step, attempt=self._attempt, name="eval", ended_at=at, scores=scores)

    def _part(self, row: Row, step: int | None, at: float | None) -> list[Event]:
        """Values that came in a row of their own; those that the step has told already stay."""
        if step is None:
            return []
        events: list[Event] = list(evals_of(row, self._attempt, step, at, eval_seconds(row)))
        if self._last is not None and self._last.step == step:
            row.raw = {key: value for key, value in row.raw.items() if key not in self._last.raw}
            self._last.raw.update(row.raw)
        if row.trains:
            events.append(step_of(row, step, self._attempt, at, self._facts, None, None, {}))
        return events

    def _restart(self, from_step: int, at: float | None) -> Restart:
        self._attempt += 1
        self._last = None
        self._facts.over = False
        self._evals_s = None
        self._late.clear()
        self._discards.restart(from_step)
        self._facts.resumed_at = from_step
        self._facts.last_step = None
        return Restart(from_step=from_step, attempt=self._attempt, at=at)

    def _lengths(self, row: Row, step: int) -> Lengths | None:
        if self._rollouts is None or "ac" not in row.told:
            return None
        lengths = self._rollouts.lengths(step, row.told["ac"])
        if lengths is None:
            self._late = [*self._late[1 - LATE :], (step, self._attempt, row.told)]
        return lengths

    def _is_over(self, steps: int) -> bool:
        total = self._facts.total_steps
        return total is not None and steps >= total and self._last is not None

    def _end(self) -> list[Event]:
        if self._facts.over:
            return []
        self._facts.over = True
        return [Ended(status="finished", message="all steps are done")]
