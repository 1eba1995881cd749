"""NeMo-RL's console: blocks under `===== Step 1/50 =====`, with results, times and performance as bullets.

Its one rule: a quantity counts only in its own block, since the same words stand in others too. A step's
wall time is not what is logged: on a real log the logged times made up half of the time between steps.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ...models.event import Event, Restart
from ...models.run import Algorithm, RunInfo
from ...models.step import Eval, PhaseName, Step
from ..filesource import FileSource
from ..source import Format, Line, Probe, Source
from ..transport import open_transport
from . import nemo_config
from .keymap import NEMO_RL, tells_of
from .logtime import Clock
from .told import Told
from .verl import dump
from .verl.dump import Dump
from .verl.faults import Faults
from .verl.hints import device_of
from .verl.rayline import said

HEAD = re.compile(r"=+ Step (\d{1,9})/(\d{1,9}) =+")
EPOCH = re.compile(r"=+ Epoch (\d{1,6})/(\d{1,6}) =+")
BATCH = re.compile(r"Generating responses for batch of size (\d{1,9})")
BLOCKS = {
    "Training Results": "results",
    "Timing": "timing",
    "Performance Metrics": "performance",
    "Validation Results": "validation",
    "Validation Timing": "validating",
}
BLOCK = re.compile(
    r"(Training Results|Validation Results|Validation Timing|Performance Metrics|Timing)"
    r"(?: for [`'\"]?([^`'\":]{1,80})[`'\"]? set)?:\s*$"
)
_NAME = r"^[\s•*·-]*([A-Za-z][\w /().-]{0,80}?):\s*"
_AMOUNT = r"\d[\d,]*(?:\.\d*)?"
BULLET = re.compile(rf"{_NAME}([-+]?(?:{_AMOUNT}(?:[eE][-+]?\d+)?|nan|inf))(?![\w.])|{_NAME}({_AMOUNT})(s|%)")
FIELDS = {
    "results/Loss": "loss",
    "results/loss": "loss",
    "results/Policy Loss": "loss",
    "results/Avg Total Reward": "reward_mean",
    "results/Avg Reward": "reward_mean",
    "results/Mean Generation Length": "response_length_mean",
    "results/Generation KL Error": "kl",
    "results/Grad Norm": "grad_norm",
    "results/grad_norm": "grad_norm",
    "timing/Total step time": "duration_s",
}
PHASES: dict[str, PhaseName] = {
    "timing/generation": "generate",
    "timing/policy_training": "update",
    "timing/policy_and_reference_logprobs": "old_logprob",
    "timing/reward_calculation": "reward",
    "timing/prepare_for_generation/total": "weight_sync",
    "timing/validation": "eval",
    "timing/checkpointing": "checkpoint",
}
ALL_TOKENS = ("performance/E2E (Tokens/sec)", "performance/E2E Tokens/sec")
TOKENS_EACH = ("performance/E2E (Tokens/sec/gpu)", "performance/E2E Tokens/sec/gpu")
MFU = tuple(f"{block}/Training Model Floating Point Utilization" for block in ("results", "performance"))
"""Per cent."""
WALL_NOTE = "NeMo-RL's step time leaves much out, and this log has no clock: the cost is a lower bound"


class NemoRlParser:
    """Makes events of the lines of a driver log."""

    source = "console"

    def __init__(self) -> None:
        self.bad_lines = 0
        self.first_bad = ""
        self._told = Told()
        self._faults = Faults()
        self._clock = Clock()
        self._dump: Dump | None = None
        self._most_steps: int | None = None
        self._epoch: tuple[int, int] | None = None
        """(epoch, epochs) that the log is in."""
        self._offset = 0
        self._printed = 0
        """The last step as printed: most versions count anew in each epoch."""
        self._attempt = 0
        self._step: int | None = None
        self._block = ""
        self._set = "validation"
        self._values: dict[str, float] = {}
        self._samples: int | None = None
        self._at: float | None = None

    def feed(self, line: Line) -> Iterator[Event]:
        """The events of one line."""
        for one in said(line.text):
            words = one.words
            at = self._clock.at(words[:64], near=line.at)
            if one.by:  # the clock of who submitted the job may be another
                self._at = at or line.at or self._at
            if self._dump is not None and one.by == self._dump.by and self._dump.take(words):
                yield from self._configured()
            else:
                yield from self._statement(one.by, words, line)

    def _statement(self, by: str, words: str, line: Line) -> Iterator[Event]:
        if "=== " in words and (head := HEAD.search(words)) is not None:
            yield from self._begin(int(head[1]), int(head[2]), line)
        elif "=== " in words and (epoch := EPOCH.search(words)) is not None:
            self._epoch = int(epoch[1]), int(epoch[2])
        elif (block := BLOCK.search(words)) is not None:
            yield from self._enter(BLOCKS[block[1]], block[2], line)
        elif self._block and (bullet := BULLET.match(words)) is not None:
            name, number = bullet[1] or bullet[3], bullet[2] or bullet[4]
            self._values[f"{self._block}/{name.strip()}"] = float(number.replace(",", ""))
        elif self._block == "performance" and words.strip() and "Throughputs" not in words:
            yield from self._end(line.at or self._at)  # the last block of a step is over
            self._block = ""
        elif dump.starts(words):
            self._dump = Dump(by)
            self._dump.take(words)
        elif (device := device_of(words)) is not None:
            if self._told.info.gpu_type is None:
                yield from self._told.news(RunInfo(gpu_type=device))
        elif "batch of size" in words and (batch := BATCH.search(words)) is not None:
            self._samples = int(batch[1])
        elif self._faults.reading or "rror" in words or "Traceback" in words or "memory" in words:
            yield from self._faults.read(by, words, line.at)

    def flush(self) -> Iterator[Event]:
        """The last step, as far as it was told."""
        yield from self._evaluated(self._at)
        yield from self._end(self._at)
        yield from self._faults.flush()

    def restart(self) -> Iterator[Event]:
        """The log is written anew: its first step tells from where on."""
        self._faults.clear()
        self._block, self._values = "", {}
        return iter(())

    def _configured(self) -> Iterator[Event]:
        """The printed configuration, once it is whole."""
        if self._dump is None or not self._dump.done:
            return
        flat, self._dump = self._dump.flat, None
        if nemo_config.is_one(flat):
            self._most_steps = nemo_config.most_steps_of(flat)
            yield from self._told.news(RunInfo(framework="nemo-rl", platform="self-hosted", first_step=1))
            yield from self._told.news(nemo_config.info_of(flat))

    def _begin(self, printed: int, total: int, line: Line) -> Iterator[Event]:
        at = line.at or self._at
        yield from self._evaluated(at)
        yield from self._end(at)
        yield from self._told.news(RunInfo(framework="nemo-rl", platform="self-hosted", first_step=1))
        epoch, epochs = self._epoch or (1, 1)
        if (epoch > 1 and printed <= self._printed) or self._step is None:
            self._offset = (epoch - 1) * total
        planned = total if total == self._most_steps else total * epochs
        planned = max(min(planned, self._most_steps or planned), printed)
        yield from self._told.news(RunInfo(total_steps=planned or None))
        self._printed = printed
        step = printed + self._offset
        if self._step is not None and step <= self._step:
            self._attempt += 1
            yield Restart(from_step=step, attempt=self._attempt, at=at)
        self._step, self._block = step, ""

    def _enter(self, block: str, of: str | None, line: Line) -> Iterator[Event]:
        """A block begins; what one evaluation told is whole where another begins, or training's."""
        if block == "validation" or (block != "validating" and self._block != "validation"):
            yield from self._evaluated(line.at or self._at)
        if block == "validation":
            self._set = of or "validation"
        self._block = block

    def _evaluated(self, at: float | None = None) -> Iterator[Event]:
        scores = {key[11:]: self._values.pop(key) for key in list(self._values) if key[:11] == "validation/"}
        seconds = self._values.pop("validating/Total validation time", None)
        if scores:
            yield Eval(
                step=self._step or 0,
                attempt=self._attempt,
                name=self._set,
                ended_at=at,
                duration_s=seconds,
                episodes=scores.get("Samples processed"),
                response_length_mean=scores.get("Average response length"),
                scores=scores,
            )

    def _end(self, at: float | None = None) -> Iterator[Event]:
        """The step that ends where the next begins."""
        values, self._values = self._values, {}
        if self._step is None or not any(key.startswith(("results/", "timing/")) for key in values):
            return
        known: dict[str, Any] = {"step": self._step, "attempt": self._attempt, "raw": values}
        for key, field in FIELDS.items():
            value = values.get(key)
            if value is not None and value - value == 0:
                known[field] = value
        phases = {phase: values[key] for key, phase in PHASES.items() if values.get(key, -1) >= 0}
        if phases:
            known["phases"] = phases
        if at is not None:
            known["ended_at"] = at
        used = next((values[key] for key in MFU if 0 < values.get(key, 0) <= 100), None)
        if used is not None:
            known["mfu_logged"] = used / 100
        yield from self._performance(values, known)
        self._sampled(known)
        if self._told.info.algorithm is None:
            rewarded = "reward_mean" in known or "response_length_mean" in known
            yield from self._told.news(RunInfo(algorithm="rl" if rewarded else _algorithm_of(values)))
        if "duration_s" in known and at is None:
            yield from self._told.news(RunInfo(notes=(WALL_NOTE,)))
        yield Step.model_validate(known)

    def _performance(self, values: dict[str, float], known: dict[str, Any]) -> Iterator[Event]:
        """Tokens and GPUs: both figures are tokens over the step's time, the one by GPU."""
        whole = next((values[key] for key in ALL_TOKENS if values.get(key, 0) > 0), None)
        each = next((values[key] for key in TOKENS_EACH if values.get(key, 0) > 0), None)
        duration = known.get("duration_s")
        if whole is not None and whole < 1e12:
            known["tokens_per_s"] = whole
            if duration:
                known["total_tokens"] = known["trained_tokens"] = whole * duration
        if whole is not None and each is not None and 0.5 < whole / each < 1e6:
            gpus = whole / each
            if abs(gpus - round(gpus)) <= 0.02 * gpus:
                note = f"{round(gpus)} GPUs: tokens per second over tokens per second and GPU, as logged"
                yield from self._told.news(RunInfo(gpus=round(gpus), notes=(note,)))

    def _sampled(self, known: dict[str, Any]) -> None:
        """Tokens that were generated: the mean length times the samples of the step."""
        info = self._told.info
        samples = self._samples or (info.groups or 0) * (info.group_size or 0)
        if samples and "response_length_mean" in known and info.algorithm in (None, "rl", "ppo", "distill"):
            known["episodes"] = samples
            known["sampled_tokens"] = sampled = known["response_length_mean"] * samples
            if sampled <= known.get("total_tokens", 0) and info.multi_turn is None:
                known["prefill_tokens"] = known["total_tokens"] - sampled


def _algorithm_of(values: dict[str, float]) -> Algorithm | None:
    """Without rewards it is no reinforcement learning."""
    if any("chosen" in key for key in values):
        return "dpo"
    return "sft" if "results/Loss" in values else None


def _score(probe: Probe) -> float:
    if probe.is_dir or HEAD.search(probe.head + probe.tail) is None:
        return 0.0
    return 0.85 if "Training Results" in probe.head + probe.tail else 0.3


def _open(path: Path) -> Sequence[Source]:
    return [FileSource(open_transport(path), NemoRlParser())]


TELLS = tells_of(
    NEMO_RL,
    steps="step block",
    total="`Step n/N`",
    length="mean generation length",
    gpus="printed configuration, tokens/s over tokens/s and GPU",
    config="printed configuration",
    state="traceback",
)
FORMAT = Format(name="NeMo-RL console log", score=_score, open=_open, tells=TELLS)
