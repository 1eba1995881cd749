"""Makes a Step in canonical names of the metrics that veRL logs for one step.

Its one rule: what a version does not log, or logs in a way that cannot be trusted, stays None.
"""

import math
import re
from collections.abc import Mapping

from ....models.run import RunInfo
from ....models.step import PhaseName, Step
from .cliptrust import Clip

SCALED_LR = re.compile(r"(?:actor|train)/lr\(1e-(\d{1,2})\)")
KL = ("actor/kl_loss", "actor/reward_kl_penalty", "critic/kl", "actor/ppo_kl")
MOST_GPUS = 1e6
SAME_ROWS = 0.02
"""Rows told by the tokens and by the config are the same within this: 0.9 pads the batch a little."""


def step_of(
    step: int,
    attempt: int,
    at: float | None,
    values: Mapping[str, float],
    info: RunInfo,
    duration_s: float | None,
    phases: dict[PhaseName, float],
    clip: Clip,
    rounded: bool,
) -> Step:
    """One step.

    `info` is what is known of the run so far (prompts and rollouts per step, GPUs); `rounded` tells that
    values have three decimals only, so that a learning rate of 0.000 is not known.
    """
    known = _finite(values)
    get = known.get
    response, prompt = get("response_length/mean"), get("prompt_length/mean")
    total = _first(known, "perf/total_num_tokens", "train/global_tokens")
    rows = _rows(total, response, prompt, info)
    sampled = rows * response if rows is not None and response is not None else None
    prefill = rows * prompt if rows is not None and prompt is not None else None
    if total is None and sampled is not None and prefill is not None:
        total = sampled + prefill
    # Every one is a float already, or None.
    return Step.of(
        {
            "step": step,
            "attempt": attempt,
            # A line without a time is one of several that tell of this step.
            "complete": duration_s is not None and "fully_async/count/current_param_version" not in values,
            "ended_at": at,
            "duration_s": duration_s,
            "phases": phases,
            "sampled_tokens": sampled,
            "prefill_tokens": prefill,
            "trained_tokens": total,
            "total_tokens": total,
            "episodes": rows,
            "turns": get("num_turns/mean"),
            "response_length_mean": response,
            "response_length_max": get("response_length/max"),
            "response_length_min": get("response_length/min"),
            "prompt_length_mean": prompt,
            "clip_ratio": clip.ratio,
            "clip_reliable": clip.reliable,
            "clip_why": clip.why,
            "reward_mean": _first(known, "critic/score/mean", "critic/rewards/mean"),
            "kl": _first(known, *KL),
            "entropy": _first(known, "actor/entropy", "actor/entropy_loss"),
            "grad_norm": _first(known, "actor/grad_norm", "train/grad_norm"),
            "lr": _lr(values, rounded),
            "loss": _first(known, "actor/loss", "actor/pg_loss", "train/loss"),
            "pg_clip_fraction": get("actor/pg_clipfrac"),
            "mfu_logged": _mfu(_first(known, "perf/mfu/actor", "mfu/actor", "train/mfu")),
            "tokens_per_s": _tokens_per_s(total, duration_s, get("perf/throughput"), info.gpus),
            "raw": dict(values),
        }
    )


def gpus_of(values: Mapping[str, float]) -> int | None:
    """How many GPUs the throughput was divided by: tokens / (seconds × tokens per second and GPU).

    Source: compute_throughout_metrics in verl/trainer/ppo/metric_utils.py, 0.3.0 on.
    """
    tokens, each = values.get("perf/total_num_tokens"), values.get("perf/throughput")
    seconds = _first(values, "perf/time_per_step", "timing_s/step")
    if not tokens or not seconds or not each or not all(0 < v < math.inf for v in (tokens, seconds, each)):
        return None
    each_step = seconds * each
    gpus = tokens / each_step if each_step else 0.0  # numbers so small that nothing is left of their product
    return round(gpus) if 0.5 < gpus < MOST_GPUS and abs(gpus - round(gpus)) <= 0.05 else None


def _finite(values: Mapping[str, float]) -> Mapping[str, float]:
    """NaN and infinities count as unknown."""
    if math.isfinite(sum(values.values())):
        return values
    return {key: value for key, value in values.items() if math.isfinite(value)}


def _first(values: Mapping[str, float], *names: str) -> float | None:
    """The metric with the first of the names that there is."""
    for name in names:
        if (value := values.get(name)) is not None:
            return value
    return None


def _rows(total: float | None, response: float | None, prompt: float | None, info: RunInfo) -> float | None:
    """Responses in the batch: by its tokens where these are logged, since filters change what was planned."""
    planned = float(info.groups * (info.group_size or 1)) if info.groups and response is not None else None
    if total is None or response is None or prompt is None or response + prompt <= 0:
        return planned
    rows = total / (response + prompt)
    if rows == math.inf:
        return planned
    if planned and abs(rows - planned) <= SAME_ROWS * planned:
        return planned
    return float(round(rows)) if abs(rows - round(rows)) <= 0.01 * rows else rows


def _lr(values: Mapping[str, float], rounded: bool) -> float | None:
    for key in ("actor/lr", "train/lr"):
        if (lr := values.get(key)) is not None:
            return lr if math.isfinite(lr) and not (rounded and abs(lr) < 0.0005) else None
    for key, lr in values.items():
        if (match := SCALED_LR.fullmatch(key)) and math.isfinite(lr):
            return lr * 10.0 ** -int(match[1]) if not (rounded and lr == 0) else None
    return None


def _mfu(mfu: float | None) -> float | None:
    """0 stands for a GPU or model that veRL does not know; more than 1 for a wrong peak."""
    return mfu if mfu is not None and 0 < mfu <= 1 else None


def _tokens_per_s(
    total: float | None, duration_s: float | None, each: float | None, gpus: int | None
) -> float | None:
    if total is not None and duration_s:
        return total / duration_s
    return each * gpus if each is not None and gpus else None
