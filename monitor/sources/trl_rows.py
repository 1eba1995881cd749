"""Rows of TRL's trainer, wherever they were read, as events. Its one rule: a row that stands for several
steps is told as that many, since the trainer logs means over them; so sums over steps hold.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any

from ...models.event import Ended, Event, Progress
from ...models.run import Algorithm, RunInfo
from ...models.step import Eval, Step
from .keymap import TRL
from .told import Told

LEAST_SHOWN_S = 2.0
LONGEST_WINDOW = 1000
"""Steps told for one row, at most."""
SPACINGS = (500, 250, 200, 100, 50, 25, 20, 10, 5, 4, 2, 1)
"""What people set logging_steps to, largest first."""
SUMMARY = "train_runtime"
TRAINING = (
    "loss",
    "reward",
    "grad_norm",
    "completions/mean_length",
    "completion_length",
    "learning_rate",
    "objective/scores",
    "loss/policy_avg",
    "ppo/loss/total",
)
REST = ("reward", "completions/mean_length", "completion_length")
"""What the summary of an RL training has of the steps after the last row."""
NOT_SCORES = frozenset({"runtime", "samples_per_second", "steps_per_second", "step", "epoch", "num_tokens"})
STEP_TIME_NOTE = (
    "step_time leaves out evaluations, checkpoints and the optimiser: where the log has no clock, "
    "the cost is a lower bound"
)
WINDOW_NOTE = "the trainer logs one row for {} steps: each of them is shown with the row's means"


class TrlRows:
    """Makes events of rows that come in the order of their steps."""

    def __init__(self) -> None:
        self.samples_per_step: float | None = None
        """Completions per optimiser step, where the log says it."""
        self._tokens = 0.0
        self._step = 0
        self._clock: tuple[int, float] | None = (0, 0.0)
        """Step and wall seconds since the training began, at the newest row."""
        self._windowed = False
        self._told = Told()

    def begin(self) -> None:
        """A new attempt: cumulative counters start at zero."""
        self._tokens = 0.0
        self._step = 0
        self._clock = None

    def learn(self, info: RunInfo) -> list[RunInfo]:
        """News about the run, once."""
        return self._told.news(info)

    def events(
        self,
        step: int,
        window: int,
        values: Mapping[str, float],
        at: float | None,
        attempt: int,
        raw: Mapping[str, float] | None = None,
        elapsed_s: float | None = None,
    ) -> Iterator[Event]:
        """The events of one row at `step` that stands for the `window` steps up to it.

        `raw` are its numbers as the log named them, where `values` have other names; `elapsed_s` is how long
        the training had gone on by then, in wall seconds.
        """
        if SUMMARY in values:
            yield from self._summary(step, values, at, attempt, raw)
        elif is_eval(values):
            yield _eval(step, values, at, attempt)
        elif is_training(values):
            yield from self._facts(values, window, step)
            took = self._took(step, window, elapsed_s)
            window = max(1, min(window, step, LONGEST_WINDOW))
            yield from self._steps(step, window, values, at, attempt, raw or values, took)

    def _summary(
        self,
        step: int,
        values: Mapping[str, float],
        at: float | None,
        attempt: int,
        raw: Mapping[str, float] | None,
    ) -> Iterator[Event]:
        """The row at the end of a training, which may also stand for the steps after the last row."""
        if step > self._step and any(key in values for key in REST):
            yield from self._facts(values, 1, step)
            window = min(step - self._step, LONGEST_WINDOW)
            yield from self._steps(step, window, values, at, attempt, raw or values)
        seconds = values[SUMMARY]
        if not math.isfinite(seconds):
            return
        yield Progress(step=step or None, elapsed_s=seconds, attempt=attempt)
        yield Ended(status="finished", at=at, message=f"trained for {seconds:.0f} s")

    def _facts(self, values: Mapping[str, float], window: int, step: int) -> Iterator[Event]:
        """What a row says of the run; each is told once, since the rows are many."""
        if self._told.info.framework is None:
            # PPOTrainer up to 0.11 left the count to its user, who began at 0.
            yield from self.learn(
                RunInfo(framework="trl", platform="self-hosted", first_step=1 if step else 0)
            )
        if self._told.info.algorithm is None and (algorithm := _algorithm(values)) is not None:
            yield from self.learn(RunInfo(algorithm=algorithm))
        if "step_time" in values and STEP_TIME_NOTE not in self._told.info.notes:
            yield from self.learn(RunInfo(notes=(STEP_TIME_NOTE,)))
        if window > 1 and not self._windowed:
            self._windowed = True
            # The first step may have had a row of its own, out of the order of the others.
            spacing = step if step == window + 1 else window
            yield from self.learn(RunInfo(notes=(WINDOW_NOTE.format(spacing),)))

    def _steps(
        self,
        step: int,
        window: int,
        values: Mapping[str, float],
        at: float | None,
        attempt: int,
        raw: Mapping[str, float],
        took_s: float | None = None,
    ) -> Iterator[Event]:
        known: dict[str, Any] = {"attempt": attempt}
        known.update(self._token_counts(step, window, values))
        if took_s is not None and "step_time" not in values:
            known["duration_s"] = took_s
        for number in range(step - window + 1, step):
            yield Step.model_validate(TRL.step(number, values, **known))
        if at is not None:
            known["ended_at"] = at
        yield Step.model_validate(TRL.step(step, values, **known, raw=dict(raw)))
        self._step = step

    def _took(self, step: int, window: int, elapsed_s: float | None) -> float | None:
        """Wall seconds of each step of a row, by the training's clock here and at the row before."""
        before, self._clock = self._clock, None if elapsed_s is None else (step, elapsed_s)
        if before is None or elapsed_s is None or step - before[0] != window:
            return None
        spent = elapsed_s - before[1]
        # The clock shows whole seconds: of less than two it says nothing.
        return spent / window if spent >= LEAST_SHOWN_S else None

    def _token_counts(self, step: int, window: int, values: Mapping[str, float]) -> dict[str, float]:
        """Tokens of each step of the window: all of them, and those of them that were sampled."""
        counts: dict[str, float] = {}
        total = values.get("num_tokens")
        if total is not None and math.isfinite(total):
            grown, steps = total - self._tokens, step - self._step
            self._tokens = total
            # Where rows are missing in between, or before the first, it has grown in more than this window.
            if grown > 0 and steps == window:
                counts["total_tokens"] = counts["trained_tokens"] = grown / window
        if self.samples_per_step is None:
            return counts
        length = TRL.values(values).get("response_length_mean")
        if length is not None:
            counts["episodes"] = self.samples_per_step
            counts["sampled_tokens"] = length * self.samples_per_step
            prompts = counts.get("total_tokens", 0.0) - counts["sampled_tokens"]
            if prompts > 0:
                counts["prefill_tokens"] = prompts
                counts["prompt_length_mean"] = prompts / self.samples_per_step
        return counts


def first_window(step: int) -> int:
    """Steps that the first row of a log stands for: all up to it, unless the run was resumed there."""
    return step if step in SPACINGS else 1


def is_eval(values: Mapping[str, float]) -> bool:
    """Whether a row is an evaluation's."""
    return "loss" not in values and any(key.startswith("eval_") for key in values)


def is_training(values: Mapping[str, float]) -> bool:
    """Whether a row is a training step's."""
    return not is_eval(values) and any(key in values for key in TRAINING)


def _eval(step: int, values: Mapping[str, float], at: float | None, attempt: int) -> Eval:
    plain = {key.removeprefix("eval_"): value for key, value in values.items() if key.startswith("eval_")}
    length = plain.get("completions/mean_length")
    return Eval(
        step=step,
        attempt=attempt,
        name="eval",
        ended_at=at,
        duration_s=plain.get("runtime"),
        response_length_mean=length if length is not None and math.isfinite(length) else None,
        scores={key: value for key, value in plain.items() if key not in NOT_SCORES},
    )


def _algorithm(values: Mapping[str, float]) -> Algorithm | None:
    if "loss/value_avg" in values or "ppo/loss/value" in values:
        return "ppo"
    if "objective/scores" in values:
        return "rl"
    if "rewards/chosen" in values or "logps/chosen" in values:
        return "dpo"
    if any(key.startswith("completions/") or key in ("reward", "completion_length") for key in values):
        return "rl"
    return "sft" if "mean_token_accuracy" in values else None
