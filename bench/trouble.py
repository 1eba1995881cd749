"""Made-up runs for the alerts: one healthy run, and what goes wrong with it from a given step on.

Its one rule: a fault is a change of what a step logs, as a function of the steps since it began; all else
stays the healthy run's.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import erf, exp, log, nan, sqrt
from random import Random
from typing import Any

from rltop.models.event import Event
from rltop.models.run import RunInfo
from rltop.models.step import Eval, Step
from tests.monitor.projection.families import (
    SPREAD_WITHIN_BATCH,
    MadeRun,
    clipped_mean,
    noise,
)

STARTED_AT = 1_700_000_000.0
PROMPT_TOKENS = 191
ROLLOUTS = 1024
ONSET = 40
"""The step from which on a fault shows, counted from 1."""

Logged = dict[str, Any]
Fault = Callable[[Logged, int, Random], None]


@dataclass(frozen=True)
class Trouble:
    """A fault and the rule that is to notice it."""

    name: str
    rule: str
    apply: Fault


def health(steps: int, random: Random) -> list[Logged]:
    """Reward, KL, entropy and gradients of a run that learns: noisy, drifting, and well."""
    wobble = {name: noise(random, steps, deviation, 0.3) for name, deviation in _SCATTER.items()}
    logged: list[Logged] = []
    for step in range(steps):
        learnt = 1 - exp(-3 * step / steps)
        logged.append(
            {
                "reward_mean": 0.45 + 0.35 * learnt + wobble["reward"][step],
                "kl": 0.05 * learnt * exp(wobble["kl"][step]) + 0.0005,
                "entropy": (0.5 - 0.2 * learnt) * exp(wobble["entropy"][step]),
                "grad_norm": 0.8 * exp(wobble["grad"][step]),
                "zero_variance_groups": min(1.0, max(0.0, 0.2 + 0.3 * learnt + wobble["groups"][step])),
            }
        )
    return logged


_SCATTER = {"reward": 0.03, "kl": 0.2, "entropy": 0.05, "grad": 0.2, "groups": 0.05}


def clip_share(mean: float, cap: float) -> float:
    """The share of log-normal lengths beyond the cap whose mean after clipping is `mean`."""
    low, high = 1.0, 50.0 * cap
    for _ in range(40):
        middle = sqrt(low * high)
        low, high = (middle, high) if clipped_mean(middle, cap) < mean else (low, middle)
    spread = SPREAD_WITHIN_BATCH
    edge = (log(cap) - log(low) + spread * spread / 2) / spread
    return 0.5 * (1 - erf(edge / sqrt(2)))


def logged_by(run: MadeRun, random: Random, clip: list[float] | None = None) -> list[Logged]:
    """What each step of a run logs."""
    logged = health(len(run.lengths), random)
    for step, fields in enumerate(logged):
        length = run.lengths[step]
        fields["response_length_mean"] = length
        fields["clip_ratio"] = clip_share(length, run.cap) if clip is None else clip[step]
        fields["duration_s"] = run.seconds[step]
    return logged


def seed_clip(run: MadeRun) -> list[float]:
    """The clip ratio along the seed page's veRL run: 44 % where the length is 1376 of 2048."""
    shares = [min(0.999, length / run.cap) for length in run.lengths]
    return [min(0.97, 0.44 * (max(0.0, share - 0.22) / 0.452) ** 1.5) for share in shares]


def broken(logged: list[Logged], trouble: Trouble, random: Random) -> list[Logged]:
    """The same run with a fault from step ONSET on."""
    out = [dict(fields) for fields in logged]
    for step in range(ONSET - 1, len(out)):
        trouble.apply(out[step], step - ONSET + 1, random)
    return out


def events(logged: list[Logged], cap: int) -> list[Event]:
    """The run as a source would tell it."""
    facts = RunInfo(
        framework="verl",
        platform="self-hosted",
        model="Qwen/Qwen3-4B-Instruct-2507",
        gpus=8,
        gpu_type="B200",
        first_step=1,
        total_steps=len(logged),
        max_tokens=cap,
        lora_rank=0,
        started_at=STARTED_AT,
    )
    out: list[Event] = [facts]
    ended_at = STARTED_AT
    for step, fields in enumerate(logged, 1):
        ended_at += fields["duration_s"] + fields.pop("waited_s", 0.0)
        scores = fields.pop("scores", None)
        if scores is not None:
            out.append(Eval(step=step, episodes=500, scores=scores, ended_at=ended_at))
        raw = {"actor/loss": fields.pop("loss", 0.01)}
        tokens = ROLLOUTS * (fields["response_length_mean"] + PROMPT_TOKENS)
        fields.setdefault("tokens_per_s", tokens / fields["duration_s"])
        out.append(
            Step(step=step, ended_at=ended_at, total_tokens=tokens, clip_reliable=True, raw=raw, **fields)
        )
    return out


def tail_of(run: MadeRun, kind: str) -> MadeRun:
    """The seed page's veRL run, from step 36 on staying where it is (`plateau`) or mending (`recover`)."""
    lengths = list(run.lengths)
    for step in range(35, len(lengths)):
        past = step - 35
        mended = 1376 + 30 * past if past < 6 else max(700.0, 1556 - 45 * (past - 6))
        lengths[step] = 1376.0 if kind == "plateau" else mended
    seconds = [
        took if step < 35 else 237 * (lengths[step] / 1376) ** 1.24 for step, took in enumerate(run.seconds)
    ]
    return replace(run, lengths=lengths, seconds=seconds)


def _scale(name: str, factor: Callable[[int], float]) -> Fault:
    def apply(fields: Logged, since: int, random: Random) -> None:
        fields[name] *= factor(since)

    return apply


def _clip(fields: Logged, since: int, random: Random) -> None:
    fields["clip_ratio"] = min(0.8, fields["clip_ratio"] + 0.03 * (since + 1))


def _slow(fields: Logged, since: int, random: Random) -> None:
    fields["duration_s"] *= 1.8


def _silence(fields: Logged, since: int, random: Random) -> None:
    if since == 0:
        fields["waited_s"] = 20 * fields["duration_s"]


def _reward(fields: Logged, since: int, random: Random) -> None:
    fields["reward_mean"] -= min(0.5, 0.04 * (since + 1))


def _flat(fields: Logged, since: int, random: Random) -> None:
    fields["reward_mean"] = 0.7 + random.gauss(0, 0.01)


def _nan(fields: Logged, since: int, random: Random) -> None:
    fields["loss"] = nan


def _groups(fields: Logged, since: int, random: Random) -> None:
    fields["zero_variance_groups"], fields["reward_mean"] = 0.98, 0.02


def _scores(fields: Logged, since: int, random: Random) -> None:
    if since % 10 == 0:
        fields["scores"] = {"acc": 0.8 if since == 0 else 0.68}


TROUBLES: tuple[Trouble, ...] = (
    Trouble("clip ratio +3 points a step", "clip_ratio", _clip),
    Trouble("length +5 % a step", "length_growth", _scale("response_length_mean", lambda n: 1.05 ** (n + 1))),
    Trouble(
        "length halves every 3 steps", "length_collapse", _scale("response_length_mean", lambda n: 0.79**n)
    ),
    Trouble("steps 1.8 times as slow", "mfu_drop", _slow),
    Trouble("no step for 20 step times", "stall", _silence),
    Trouble("NaN loss", "nan", _nan),
    Trouble("KL × 30", "kl_spike", _scale("kl", lambda n: 30.0)),
    Trouble("gradient norm × 20", "grad_spike", _scale("grad_norm", lambda n: 20.0)),
    Trouble("entropy -15 % a step", "entropy_collapse", _scale("entropy", lambda n: 0.85 ** (n + 1))),
    Trouble("reward -0.04 a step, down to -0.5", "reward_collapse", _reward),
    Trouble("reward stays where it is", "reward_plateau", _flat),
    Trouble("98 % of groups all fail", "zero_variance", _groups),
    Trouble("evaluation 0.80, ten steps later 0.68", "eval_regression", _scores),
)
