"""OpenRLHF's console: `Global step N: {…}`, since 0.9. Its one rule: bars tell how far, dicts tell the rest.

The clock of its lines has no year, so that a step ends when its line is seen to arrive. `timing/step_total`
is the sum of the parts it times in a synchronous run: evaluations and checkpoints are left out.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ...models.event import Event, Progress, Restart
from ...models.run import RunInfo
from ...models.step import Eval, Step
from ..filesource import FileSource
from ..source import Format, Line, Probe, Source
from ..transport import open_transport
from .keymap import OPENRLHF, tells_of
from .pyrepr import numbers, read_dict
from .told import Told
from .verl.faults import Faults
from .verl.rayline import said

STEP = re.compile(r"Global step (\d{1,12}): (?=\{)")
EPISODE = re.compile(r"Episode \[(\d{1,6})/(\d{1,6})\]: +\d{1,3}%\|[^|\r\n]{0,400}\| *(\d{1,9})/(\d{1,9}) \[")
SUMMED = (
    "timing/step_total sums the timed parts: evaluations and checkpoints are left out of a step's duration"
)


class OpenRlhfParser:
    """Makes events of the lines of a driver log."""

    source = "console"

    def __init__(self) -> None:
        self.bad_lines = 0
        self.first_bad = ""
        self._told = Told()
        self._faults = Faults()
        self._attempt = 0
        self._last = 0

    def feed(self, line: Line) -> Iterator[Event]:
        """The events of one line."""
        text = line.text
        for bar in EPISODE.finditer(text):
            episode, episodes, batch, batches = (int(bar[n]) for n in (1, 2, 3, 4))
            total = episodes * batches
            yield from self._told.news(RunInfo(total_steps=total or None))
            step = (episode - 1) * batches + batch
            yield Progress(step=step, total_steps=total, attempt=self._attempt)
        match = STEP.search(text)
        if match is not None:
            yield from self._step(match, line)
        elif self._faults.reading or "rror" in text or "Traceback" in text or "memory" in text:
            for one in said(text):
                yield from self._faults.read(one.by, one.words, line.at)

    def flush(self) -> Iterator[Event]:
        """A traceback that the log ends in."""
        return self._faults.flush()

    def restart(self) -> Iterator[Event]:
        """The log is written anew: its first step tells from where on."""
        self._faults.clear()
        return iter(())

    def _step(self, match: re.Match[str], line: Line) -> Iterator[Event]:
        read = read_dict(line.text, match.end())
        if read is None:
            self.bad_lines += 1
            self.first_bad = self.first_bad or f"line {line.number}: a cut-off or unreadable step"
            return
        step, values = int(match[1]), numbers(read[0])
        scores = {key: value for key, value in values.items() if key.startswith(OPENRLHF.eval_prefixes)}
        yield from self._told.news(RunInfo(framework="openrlhf", platform="self-hosted", first_step=1))
        if "timing/step_total" in values:
            yield from self._told.news(RunInfo(notes=(SUMMED,)))
        if scores:
            yield Eval(step=step, attempt=self._attempt, name="eval", ended_at=line.at, scores=scores)
        if len(scores) == len(values):
            return
        if step <= self._last:
            self._attempt += 1
            yield Restart(from_step=step, attempt=self._attempt, at=line.at)
        self._last = step
        known: dict[str, Any] = {"attempt": self._attempt, "raw": values, **_tokens(values)}
        if line.at is not None:
            known["ended_at"] = line.at
        yield Step.model_validate(OPENRLHF.step(step, values, **known))


def _tokens(values: dict[str, float]) -> dict[str, float]:
    """Tokens of a step by its mean lengths; nothing where the number of samples is not logged."""
    samples = values.get("rollout/num_samples")
    total, response = values.get("total_length"), OPENRLHF.values(values).get("response_length_mean")
    if samples is None or not 0 < samples < 1e12:
        return {}
    counts: dict[str, float] = {}
    if response is not None:
        counts["sampled_tokens"] = response * samples
    if total is not None and response is not None and response <= total < 1e12:
        counts["total_tokens"] = counts["trained_tokens"] = total * samples
        counts["prefill_tokens"] = (total - response) * samples
        counts["prompt_length_mean"] = total - response
    return counts


def _score(probe: Probe) -> float:
    return 0.9 if not probe.is_dir and (STEP.search(probe.head) or STEP.search(probe.tail)) else 0.0


def _open(path: Path) -> Sequence[Source]:
    return [FileSource(open_transport(path), OpenRlhfParser())]


TELLS = tells_of(
    OPENRLHF,
    steps="global step",
    total="progress bar",
    tokens="length × samples",
    state="traceback",
)
FORMAT = Format(name="OpenRLHF console log", score=_score, open=_open, tells=TELLS)
