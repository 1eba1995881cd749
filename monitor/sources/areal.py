"""AReaL's console: `Epoch 1/10 Step 3/100 Train step 3/1000 done.` and tables of figures behind it.

Its one rule: figures count for the step that was announced before their table, and a step lasts as long as
the parts of the loop together, which AReaL times one after the other.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ...models.event import Ended, Event, Restart
from ...models.run import RunInfo
from ...models.step import PhaseName, Step
from ..filesource import FileSource
from ..source import Format, Line, Probe, Source
from ..tells import Tells
from ..transport import open_transport
from .logtime import Clock
from .pyrepr import number_of
from .told import Told
from .verl.faults import Faults
from .verl.hints import device_of
from .verl.rayline import without_colour

DONE = re.compile(r"Epoch \d{1,9}/\d{1,9} Step \d{1,9}/\d{1,9} Train step (\d{1,9})/(\d{1,9}) done\.")
ROW = re.compile(r"\s*│.*│\s*$")
FINISHED = "Training completes! Total time elapsed"
FIELDS = {
    "task_reward/avg": "reward_mean",
    "prompt_len/avg": "prompt_length_mean",
    "update/grad_norm": "grad_norm",
    "update/grad_norm/avg": "grad_norm",
    "update/lr": "lr",
    "update/lr/avg": "lr",
    "update/entropy/avg": "entropy",
    "update/actor_loss/avg": "loss",
}
"""(field of Step) by the end of a key, whose beginning is the actor's name."""
PHASES: dict[str, PhaseName] = {
    "rollout": "generate",
    "ref_logp": "ref",
    "recompute_logp": "old_logprob",
    "train_step": "update",
    "critic_train_step": "update_critic",
    "update_weights": "weight_sync",
    "save": "checkpoint",
    "checkpoint_for_recover": "checkpoint",
    "eval": "eval",
    "critic_values": "other",
    "teacher_logp": "other",
    "compute_advantage": "other",
    "clear_batches": "other",
}
"""The parts of the loop that AReaL times under `timeperf/`; others lie within them or run beside."""


class ArealParser:
    """Makes events of the lines of such a console."""

    source = "console"

    def __init__(self) -> None:
        self.bad_lines = 0
        self.first_bad = ""
        self._told = Told()
        self._faults = Faults()
        self._clock = Clock()
        self._attempt = 0
        self._step: int | None = None
        self._at: float | None = None
        self._values: dict[str, float] = {}

    def feed(self, line: Line) -> Iterator[Event]:
        """The events of one line."""
        text = without_colour(line.text)
        if "│" in text and ROW.fullmatch(text):
            self._row(text)
            return
        at = self._clock.at(text[:64], near=line.at) or line.at
        if "Train step" in text and (done := DONE.search(text)) is not None:
            yield from self._end()
            yield from self._begin(int(done[1]), int(done[2]), at)
        elif FINISHED in text:
            yield from self._end()
            yield Ended(status="finished", at=at, message="the log says so")
        elif (device := device_of(text)) is not None and self._told.info.gpu_type is None:
            yield from self._told.news(RunInfo(gpu_type=device))
        elif self._faults.reading or "rror" in text or "Traceback" in text or "memory" in text:
            yield from self._faults.read("", text, at)
        if text.lstrip().startswith("╘"):
            yield from self._end()

    def flush(self) -> Iterator[Event]:
        """The last step, as far as it was told."""
        yield from self._end()
        yield from self._faults.flush()

    def restart(self) -> Iterator[Event]:
        """The log is written anew: its first step tells from where on."""
        self._faults.clear()
        self._values = {}
        return iter(())

    def _begin(self, step: int, total: int, at: float | None) -> Iterator[Event]:
        facts = RunInfo(
            framework="unknown", platform="self-hosted", algorithm="rl", first_step=1, total_steps=total
        )
        yield from self._told.news(facts)
        if self._step is not None and step <= self._step:
            self._attempt += 1
            yield Restart(from_step=step, attempt=self._attempt, at=at)
        self._step, self._at = step, at

    def _row(self, text: str) -> None:
        cells = [cell.strip() for cell in text.split("│")[1:-1]]
        for name, value in zip(cells[::2], cells[1::2], strict=False):
            if name and (number := number_of(value)) is not None:
                self._values[name] = number

    def _end(self) -> Iterator[Event]:
        """The table is over. A step may have several, of one mini-batch each."""
        values, self._values = self._values, {}
        if self._step is None or not values:
            return
        known: dict[str, Any] = {"step": self._step, "attempt": self._attempt, "raw": values}
        if self._at is not None:
            known["ended_at"] = self._at
        whole = None
        for key, value in values.items():
            end = key.partition("/")[2]
            if value - value == 0 and (field := FIELDS.get(end)) is not None:
                known[field] = value
            elif end == "seq_len/avg":
                whole = value
        if whole is not None and whole >= known.get("prompt_length_mean", whole + 1):
            known["response_length_mean"] = whole - known["prompt_length_mean"]
        phases: dict[PhaseName, float] = {}
        for name, phase in PHASES.items():
            if (seconds := values.get(f"timeperf/{name}", -1.0)) >= 0:
                phases[phase] = phases.get(phase, 0.0) + seconds
        if phases:
            known["phases"], known["duration_s"] = phases, sum(phases.values())
        yield Step.model_validate(known)


def _score(probe: Probe) -> float:
    return 0.0 if probe.is_dir or not (DONE.search(probe.head) or DONE.search(probe.tail)) else 0.85


def _open(path: Path) -> Sequence[Source]:
    return [FileSource(open_transport(path), ArealParser())]


TELLS = Tells(
    steps="`Train step n/N`",
    total="`Train step n/N`",
    length="`seq_len/avg` less `prompt_len/avg`",
    reward="`task_reward/avg`",
    time="`timeperf/*`, clock of the lines",
    state="`Training completes`, traceback",
)
FORMAT = Format(name="AReaL console log", score=_score, open=_open, tells=TELLS)
