"""One rollout of SLiME, gathered from the lines that tell of it. Its one rule: a quantity is derived
only where the log makes it an identity.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from ...models.step import PhaseName, Step
from .keymap import SLIME

TRAIN_SIDE = ("perf/train_time", "perf/step_time", "perf/total_train_time", "perf/train_wait_time")
WHOLE = 0.01
"""A count of GPUs is believed when the identity gives a whole number within this."""


def is_train_side(values: Mapping[str, float]) -> bool:
    """Whether a `perf` line is the trainer's, which ends a rollout's cycle, and not the rollout manager's."""
    return any(key in values for key in TRAIN_SIDE)


@dataclass(slots=True)
class Rollout:
    """What has been told of one rollout so far."""

    step: int
    raw: dict[str, float] = field(default_factory=dict[str, float])
    train: list[Mapping[str, float]] = field(default_factory=list[Mapping[str, float]])
    """Its train steps, of which there may be several."""
    samples: int | None = None
    """Responses in it."""
    ended: bool = False
    """Whether the trainer's `perf` line has come."""

    def part(
        self, fresh: Mapping[str, float], attempt: int, at: float | None, rollout_gpus: int | None
    ) -> Step:
        """The step as known now; `fresh` are the numbers of the line that has just come.

        Values of several train steps are averaged; under their raw names the last one stands.
        """
        values = {**self.raw, **_means(self.train)}
        duration = _duration(values)
        sampled = self._sampled(values, rollout_gpus)
        response, total = values.get("rollout/response_lengths"), values.get("rollout/total_lengths")
        prompt = (
            total - response if response is not None and total is not None and total >= response else None
        )
        known: dict[str, object] = {"attempt": attempt, "complete": self.ended, "raw": dict(fresh)}
        if at is not None:
            known["ended_at"] = at
        if duration is not None:
            known["duration_s"] = duration
        if phases := _phases(values, duration):
            known["phases"] = phases
        if prompt is not None:
            known["prompt_length_mean"] = prompt
        if sampled is not None:
            known["sampled_tokens"] = sampled
        if self.samples is not None:
            known["episodes"] = float(self.samples)
            if prompt is not None:
                known["prefill_tokens"] = prompt * self.samples
            if total is not None:
                known["total_tokens"] = known["trained_tokens"] = total * self.samples
                if duration:
                    known["tokens_per_s"] = total * self.samples / duration
        return Step.model_validate(SLIME.step(self.step, values, **known))

    def rollout_gpus(self) -> int | None:
        """GPUs that generate: tokens / (tokens per second and GPU × seconds); None without samples."""
        per_sample, seconds = self.raw.get("rollout/response_lengths"), self.raw.get("perf/rollout_time")
        speed = self.raw.get("perf/tokens_per_gpu_per_sec")
        if not self.samples or not per_sample or not seconds or not speed:
            return None
        gpus = per_sample * self.samples / (seconds * speed)
        if not math.isfinite(gpus) or gpus < 0.5 or abs(gpus - round(gpus)) > WHOLE * gpus:
            return None
        return round(gpus)

    def _sampled(self, values: Mapping[str, float], rollout_gpus: int | None) -> float | None:
        """Tokens that the model itself wrote: what tools wrote is no part of the effective length."""
        length = values.get("rollout/response_len/mean")
        if self.samples is not None and length is not None:
            return length * self.samples
        seconds = values.get("perf/rollout_time")
        speed = values.get("perf/effective_tokens_per_gpu_per_sec")
        if speed is None and not any(key.startswith("perf/non_generation_time/") for key in values):
            speed = values.get("perf/tokens_per_gpu_per_sec")
        if rollout_gpus is None or seconds is None or speed is None:
            return None
        return speed * seconds * rollout_gpus


def _means(rows: list[Mapping[str, float]]) -> dict[str, float]:
    sums: dict[str, list[float]] = {}
    for row in rows:
        for key, value in row.items():
            sums.setdefault(key, []).append(value)
    return {key: sum(values) / len(values) for key, values in sums.items()}


def _duration(values: Mapping[str, float]) -> float | None:
    """The whole cycle: the trainer's waiting, in which all else happens, and its training."""
    told = SLIME.values(values).get("duration_s")
    if told is not None:
        return told
    wait, train = values.get("perf/train_wait_time"), values.get("perf/train_time")
    return wait + train if wait is not None and train is not None else None


def _phases(values: Mapping[str, float], duration: float | None) -> dict[PhaseName, float]:
    """Disjoint seconds. Where generation overlaps training, only what the trainer waited for it counts."""
    phases = SLIME.phase_seconds(values)
    generate = phases.get("generate")
    if generate is None or duration is None:
        return phases
    busy = sum(seconds for name, seconds in phases.items() if name != "generate")
    if generate + busy > duration:
        phases["generate"] = max(0.0, min(generate, duration - busy))
    return phases
