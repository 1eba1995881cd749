"""SLiME's and miles' console log. Its one rule: a step is a rollout, whatever was printed in between.

Four kinds of lines tell of rollout N: `perf N` of the rollout manager, `rollout N` and `step k` of the
trainer, and the trainer's own `perf N`, which ends it. An asynchronous trainer prints the first of
N + 1 before the last of N. Messages are matched, not files and lines: those move with every version.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ...models.event import Ended, Event, Restart
from ...models.run import ConfigValue, RunInfo
from ...models.step import Step
from ..filesource import FileSource
from ..source import Format, Line, Probe, Source
from ..transport import open_transport
from .keymap import SLIME, tells_of
from .logtime import stamp_of
from .pyrepr import numbers, read_dict
from .slime_eval import evals_of
from .slime_flags import (
    ARGUMENT,
    ENTRYPOINT,
    TABLE,
    TOLD,
    flags_of,
    info_of,
    samples_of,
    train_steps_of,
)
from .slime_rollout import Rollout, is_train_side
from .told import Told
from .verl.faults import JOB, Faults
from .verl.hints import device_of
from .verl.rayline import said
from .verl.scalar import scalar

MESSAGE = re.compile(r"(?:^|[\s\]])(critic-)?(perf|rollout|step|eval|multi_turn|passrate) (\d{1,12}): (?=\{)")
PLACEMENT = re.compile(r"Creating placement group with (\d{1,6}) GPUs")
COLLECTED = re.compile(r"Final collected (\d{1,9}) samples from rollout to train")
SIGN = re.compile(r"(?:critic-)?(?:perf|rollout|step|eval) \d+: \{'(?:rollout|perf|train|eval)/")
OPEN_ROLLOUTS = 4
"""So many rollouts may be in the air at once; older ones are forgotten."""
HELD_STEPS = 64
DROPPED = (
    "the dynamic filter drops groups that were generated but not trained; the log counts them "
    "(rollout/dynamic_filter/drop_…) but not their tokens, so that the sampled tokens are a lower bound"
)
GUESSED_STEP = "which rollout a train step belongs to is not in the log: one train step a rollout is taken"


class SlimeParser:
    """Makes events of the lines of a Ray job's driver log."""

    source = "console"

    def __init__(self) -> None:
        self.bad_lines = 0
        self.first_bad = ""
        self._told = Told()
        self._attempt = 0
        self._faults = Faults()
        self._begin()

    def _begin(self) -> None:
        self._open: dict[int, Rollout] = {}
        self._newest = -1
        """The newest rollout that the rollout manager has told of."""
        self._training: int | None = None
        """The rollout that the trainer is at."""
        self._held: list[tuple[int, Mapping[str, float], float | None]] = []
        """Train steps that came before any line that says to which rollout they belong."""
        self._collected: int | None = None
        self._rollout_gpus: int | None = None
        self._arguments: dict[str, ConfigValue] | None = None
        """Those of the table that is being printed."""

    def feed(self, line: Line) -> Iterator[Event]:
        """The events of one line."""
        text = line.text
        match = MESSAGE.search(text) if ": {" in text else None
        if match is not None:
            yield from self._message(match, line)
        elif (device := device_of(text)) is not None:
            if self._told.info.gpu_type is None:
                yield from self._told.news(RunInfo(gpu_type=device))
        elif "... " in text and self._arguments is not None:
            if (argument := ARGUMENT.search(text)) is not None and argument[1] in TOLD:
                self._arguments[argument[1]] = scalar(argument[2])
        elif "arguments ---" in text and (table := TABLE.search(text)) is not None:
            yield from self._table(ends=bool(table[1]))
        elif "entrypoint" in text or "GPUs" in text or "collected" in text or "succeeded" in text:
            yield from self._remark(text, line)
        if match is None and (self._faults.reading or "rror" in text or "Traceback" in text or "Job" in text):
            at = stamp_of(text) or line.at
            for one in said(text):
                yield from self._faults.read(one.by, one.words, at)

    def flush(self) -> Iterator[Event]:
        """Train steps without a rollout, and a traceback that the log ends in."""
        yield from self._faults.flush()
        for step, values, at in self._held:
            yield from self._told.news(RunInfo(notes=(GUESSED_STEP,)))
            yield from self._train_step(step // (train_steps_of(self._told.info) or 1), values, at)
        self._held = []

    def restart(self) -> Iterator[Event]:
        """The log is read again from its start: the same rollouts follow, as far as they are still there."""
        self._faults.clear()
        self._begin()
        return iter(())

    def _message(self, match: re.Match[str], line: Line) -> Iterator[Event]:
        read = read_dict(line.text, match.end())
        if read is None:
            self._bad(line, f"a cut-off or unreadable `{match[2]} {match[3]}` line")
            return
        critic, kind, number = match[1], match[2], int(match[3])
        values = numbers(read[0])
        # The stamp stands before the message; in the values there may be anything.
        at = stamp_of(line.text, match.start() + 1) or line.at
        yield from self._told.news(RunInfo(framework="slime", platform="self-hosted", first_step=0))
        if critic:
            yield from self._told.news(RunInfo(algorithm="ppo"))
            if self._training is not None:
                yield self._part(self._training, {f"critic/{key}": v for key, v in values.items()}, at)
        elif kind == "eval":
            yield from evals_of(number, self._attempt, at, values)
        elif kind == "step":
            yield from self._step_line(number, values, at)
        else:
            yield from self._rollout_line(kind, number, values, at)

    def _rollout_line(
        self, kind: str, number: int, values: dict[str, float], at: float | None
    ) -> Iterator[Event]:
        """`perf N`, `rollout N`, `multi_turn N` and `passrate N`."""
        train_side = kind == "perf" and is_train_side(values)
        if kind == "perf" and not train_side:
            if number <= self._newest:
                self._attempt += 1
                self._open.clear()
                yield Restart(from_step=number, attempt=self._attempt, at=at)
            self._newest = number
        if kind == "multi_turn":
            yield from self._told.news(RunInfo(multi_turn=True))
        if any(key.startswith("rollout/dynamic_filter/drop_") for key in values):
            yield from self._told.news(RunInfo(notes=(DROPPED,)))
        if kind == "rollout" or train_side:
            yield from self._place_held(number)
            self._training = number
        rollout = self._rollout(number)
        rollout.raw.update(values)
        rollout.ended = rollout.ended or train_side
        yield from self._learn_gpus(rollout)
        yield self._part(number, values, at)
        if train_side and "perf/ref_log_probs_time" in values:
            yield from self._told.news(RunInfo(reference_pass=True))

    def _step_line(self, number: int, values: dict[str, float], at: float | None) -> Iterator[Event]:
        """`step k` counts train steps, of which a rollout may have several."""
        if self._training is not None:
            yield from self._train_step(self._training, values, at)
        elif (steps := train_steps_of(self._told.info)) is not None:
            yield from self._train_step(number // steps, values, at)
        elif len(self._held) < HELD_STEPS:
            self._held.append((number, values, at))

    def _place_held(self, number: int) -> Iterator[Event]:
        for _, values, at in self._held:
            yield from self._train_step(number, values, at)
        self._held = []

    def _train_step(self, number: int, values: Mapping[str, float], at: float | None) -> Iterator[Event]:
        self._rollout(number).train.append(values)
        yield self._part(number, values, at)

    def _part(self, number: int, values: Mapping[str, float], at: float | None) -> Step:
        return self._rollout(number).part(values, self._attempt, at, self._rollout_gpus)

    def _rollout(self, number: int) -> Rollout:
        rollout = self._open.get(number)
        if rollout is None:
            rollout = self._open[number] = Rollout(
                number, samples=self._collected or samples_of(self._told.info)
            )
            self._collected = None
            if len(self._open) > OPEN_ROLLOUTS:
                del self._open[next(iter(self._open))]
        return rollout

    def _learn_gpus(self, rollout: Rollout) -> Iterator[Event]:
        """The GPUs that generate; they are all GPUs of the run where trainer and rollout share them."""
        if self._rollout_gpus is not None or (gpus := rollout.rollout_gpus()) is None:
            return
        self._rollout_gpus = gpus
        if self._told.info.gpus is None:
            note = f"{gpus} GPUs generate, by tokens over speed; how many train besides, the log does not say"
            yield from self._told.news(RunInfo(notes=(note,)))

    def _table(self, ends: bool) -> Iterator[Event]:
        """The table of arguments begins, or is whole."""
        arguments, self._arguments = self._arguments, None if ends else {}
        if ends and arguments and arguments.keys() & {"num_rollout", "rollout_batch_size"}:
            yield from self._told.news(RunInfo(framework="slime", platform="self-hosted", first_step=0))
            yield from self._told.news(info_of(arguments))

    def _remark(self, text: str, line: Line) -> Iterator[Event]:
        """Lines that are no measurements but tell of the run."""
        if match := PLACEMENT.search(text):
            yield from self._told.news(RunInfo(gpus=int(match[1])))
        elif match := COLLECTED.search(text):
            self._collected = int(match[1])
        elif match := ENTRYPOINT.search(text):
            flags = flags_of(match["command"])
            if "num_rollout" in flags or "rollout_batch_size" in flags:
                yield from self._told.news(RunInfo(framework="slime", platform="self-hosted", first_step=0))
                yield from self._told.news(info_of(flags))
        elif (match := JOB.search(text)) and match[2] == "succeeded":
            yield Ended(
                status="finished", at=stamp_of(text) or line.at, message=f"Ray job {match[1]} succeeded"
            )

    def _bad(self, line: Line, why: str) -> None:
        self.bad_lines += 1
        if not self.first_bad:
            self.first_bad = f"line {line.number}: {why}"


def _score(probe: Probe) -> float:
    if probe.is_dir:
        return 0.0
    if SIGN.search(probe.head) or SIGN.search(probe.tail):
        return 0.95
    if " num_rollout ..." in probe.head and TABLE.search(probe.head):
        return 0.8
    match = ENTRYPOINT.search(probe.head)
    return 0.8 if match and "--num-rollout" in match["command"] else 0.0


def _open(path: Path) -> Sequence[Source]:
    return [FileSource(open_transport(path), SlimeParser())]


TELLS = tells_of(
    SLIME,
    steps="rollout number",
    total="`--num-rollout`, tqdm bar",
    tokens="speed × time × GPUs, or length × samples",
    gpus="placement group line, flags",
    config="flags of the entry point",
    state="traceback, end of the job",
)
FORMAT = Format(name="SLiME console log", score=_score, open=_open, tells=TELLS)
