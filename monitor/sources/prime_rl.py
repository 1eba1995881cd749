"""prime-rl's logs: `Step N | 1m 29s | Loss 0.1 | …` of the trainer and of the orchestrator.

Its one rule: cells are read by their names, since their number and order move with every version. The
metrics.jsonl of newer versions needs no reader of its own: it is JSONL with prime-rl's keys.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ...models.event import Ended, Event, Restart
from ...models.run import RunInfo
from ...models.step import Eval, Step
from ..filesource import FileSource
from ..source import Format, Line, Probe, Source
from ..transport import open_transport
from .keymap import PRIME_RL, tells_of
from .told import Told
from .verl.faults import Faults
from .verl.hints import device_of
from .verl.rayline import without_colour

STEP = re.compile(r"\bStep (\d{1,12}) \| (?=\S)")
SPAN = re.compile(r"(?:Time:? +)?((?:\d+(?:\.\d+)?(?:ms|[dhms]) ?)+)")
PART = re.compile(r"(\d+(?:\.\d+)?)(ms|[dhms])")
SECONDS = {"d": 86_400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
CELL = re.compile(r"([A-Z][A-Za-z. -]*?):? +([-+]?(?:\d[\d,]*(?:\.\d+)?(?:[eE][-+]?\d+)?|nan|inf))\b *(\S*)")
FIELDS: dict[str, tuple[str, float]] = {
    "Loss": ("loss", 1.0),
    "Entropy": ("entropy", 1.0),
    "Mismatch KL": ("kl", 1.0),
    "Grad. Norm": ("grad_norm", 1.0),
    "LR": ("lr", 1.0),
    "MFU": ("mfu_logged", 0.01),
    "Reward": ("reward_mean", 1.0),
    "Truncation": ("clip_ratio", 0.01),
}
"""(field of Step, factor to its unit) by the name of a cell. Throughput is of padded batches: left alone."""
SURE = frozenset({"Loss", "Reward"})
ONLY_RL = frozenset({"Reward", "Entropy", "Mismatch KL"})
PLAN = re.compile(r"Starting (?:training|orchestrator) loop \(max_steps=(\d{1,12})\)")
MODEL = re.compile(r"Initializing (?:model|tokenizer) \((?:[^()]{0,400}?\b)?name='([^']{1,300})'")
WORLD = re.compile(r"Starting (?:RL|SFT) trainer in World\(world_size=(\d{1,6})\b")
FINISHED = re.compile(r"\b(?:RL trainer|SFT trainer|Orchestrator) finished\b")
EVALUATED = re.compile(r"Evaluated (\S+) \(Step (\d{1,12})\) \| ")
VALIDATED = re.compile(r"Validation \| Step (\d{1,12}) \| ")
FACTS = ("Starting", "Initializing", "finished", "Evaluated", "Validation |")
CLIP_WHY = "share of rollouts that the orchestrator saw cut off"


class PrimeRlParser:
    """Makes events of the lines of a trainer's or an orchestrator's log."""

    source = "console"

    def __init__(self) -> None:
        self.bad_lines = 0
        self.first_bad = ""
        self._told = Told()
        self._faults = Faults()
        self._attempt = 0
        self._last = -1

    def feed(self, line: Line) -> Iterator[Event]:
        """The events of one line."""
        text = without_colour(line.text)
        match = STEP.search(text)
        if match is not None and VALIDATED.search(text) is None:
            cells, seconds = _cells(text[match.end() :])
            if not SURE.isdisjoint(cells):
                yield from self._step(int(match[1]), cells, seconds, line)
        elif (device := device_of(text)) is not None:
            if self._told.info.gpu_type is None:
                yield from self._told.news(RunInfo(gpu_type=device))
        elif any(word in text for word in FACTS):
            yield from self._fact(text, line)
        elif self._faults.reading or "rror" in text or "Traceback" in text or "memory" in text:
            yield from self._faults.read("", text, line.at)

    def flush(self) -> Iterator[Event]:
        """A traceback that the log ends in."""
        return self._faults.flush()

    def restart(self) -> Iterator[Event]:
        """The log is written anew: its first step tells from where on."""
        self._faults.clear()
        return iter(())

    def _fact(self, text: str, line: Line) -> Iterator[Event]:
        """Lines between the steps that tell of the run, or of an evaluation."""
        if (plan := PLAN.search(text)) is not None:
            yield from self._told.news(RunInfo(total_steps=int(plan[1]) or None))
        elif (model := MODEL.search(text)) is not None and self._told.info.model is None:
            yield from self._told.news(RunInfo(model=model[1]))
        elif (world := WORLD.search(text)) is not None:
            note = f"{world[1]} GPUs train; how many generate besides, the log does not say: give --gpus"
            yield from self._told.news(RunInfo(notes=(note,)))
        elif FINISHED.search(text) is not None:
            yield Ended(status="finished", at=line.at, message="the log says so")
        elif (evaluated := EVALUATED.search(text)) is not None:
            yield self._eval(evaluated[1], int(evaluated[2]), text[evaluated.end() :], line.at)
        elif (validated := VALIDATED.search(text)) is not None:
            yield self._eval("validation", int(validated[1]), text[validated.end() :], line.at)

    def _eval(self, name: str, step: int, text: str, at: float | None) -> Eval:
        cells, seconds = _cells(text)
        return Eval(
            step=step, attempt=self._attempt, name=name, ended_at=at, duration_s=seconds, scores=cells
        )

    def _step(self, step: int, cells: dict[str, float], seconds: float | None, line: Line) -> Iterator[Event]:
        yield from self._told.news(
            RunInfo(
                framework="prime-rl",
                platform="self-hosted",
                algorithm="sft" if ONLY_RL.isdisjoint(cells) else "rl",
                first_step=step if step <= 1 and self._told.info.first_step is None else None,
            )
        )
        if step <= self._last:
            self._attempt += 1
            yield Restart(from_step=step, attempt=self._attempt, at=line.at)
        self._last = step
        known: dict[str, Any] = {"step": step, "attempt": self._attempt, "raw": cells}
        for name, (field, factor) in FIELDS.items():
            value = cells.get(name)
            if value is not None and value - value == 0:
                known[field] = value * factor
        if "clip_ratio" in known:
            known["clip_reliable"], known["clip_why"] = True, CLIP_WHY
        if seconds is not None:
            known["duration_s"] = seconds
        if line.at is not None:
            known["ended_at"] = line.at
        yield Step.model_validate(known)


def _cells(text: str) -> tuple[dict[str, float], float | None]:
    """(numbers by the name of their cell, seconds that the step took)."""
    cells: dict[str, float] = {}
    seconds = None
    for part in text.split("|"):
        cell = part.strip()
        span = SPAN.fullmatch(cell)
        if span is not None:
            if seconds is None:
                seconds = sum(float(count) * SECONDS[unit] for count, unit in PART.findall(span[1]))
        elif match := CELL.match(cell):
            cells[match[1].rstrip(" :")] = float(match[2].replace(",", ""))
    return cells, seconds


def _score(probe: Probe) -> float:
    if probe.is_dir:
        return 0.0
    for line in (*probe.head.splitlines(), *probe.tail.splitlines()):
        text = without_colour(line)
        match = STEP.search(text)
        if match is not None:
            cells, seconds = _cells(text[match.end() :])
            if seconds is not None and not SURE.isdisjoint(cells):
                return 0.8
    return 0.0


def _open(path: Path) -> Sequence[Source]:
    return [FileSource(open_transport(path), PrimeRlParser())]


TELLS = tells_of(
    PRIME_RL,
    steps="step line",
    total="`max_steps`",
    config="model",
    state="traceback, `finished`",
)
FORMAT = Format(name="prime-rl trainer or orchestrator log", score=_score, open=_open, tells=TELLS)
