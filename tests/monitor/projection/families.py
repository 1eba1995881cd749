"""Made-up runs: shapes that response length takes over an RL run, and the two runs of the seed page.

Their one rule: a shape and a seed give the same run, everywhere. Shapes are relative to a start of 1;
noise is log-normal and autocorrelated, and what goes over the token cap is clipped response by
response, as in a log of means.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import cos, erf, exp, log, pi, sin, sqrt
from random import Random

SPREAD_WITHIN_BATCH = 0.75
"""Standard deviation of the log of one response's length, within a step."""

Shape = Callable[[Random, int], list[float]]


@dataclass(frozen=True)
class MadeRun:
    """A run's response length (tokens) and step time (s), step by step, and its token cap."""

    family: str
    cap: int
    lengths: list[float]
    seconds: list[float]


def noise(random: Random, steps: int, deviation: float, memory: float) -> list[float]:
    """Autoregressive noise of order one, with the given standard deviation throughout."""
    values = [random.gauss(0, deviation)]
    fresh = deviation * sqrt(1 - memory * memory)
    while len(values) < steps:
        values.append(memory * values[-1] + random.gauss(0, fresh))
    return values


def clipped_mean(mean: float, cap: float) -> float:
    """The mean of log-normal lengths of a given mean, each cut off at the cap."""
    spread = SPREAD_WITHIN_BATCH
    edge = (log(cap) - log(mean) + spread * spread / 2) / spread
    return mean * _normal(edge - spread) + cap * (1 - _normal(edge))


def make(family: str, seed: int, steps: int | None = None) -> MadeRun:
    """One run of a family; its length, size and noise are drawn from the seed."""
    random = Random(f"{family} {seed}")
    count = steps or random.choice([40, 60, 94, 150, 250, 400])
    start = exp(random.uniform(log(150), log(1500)))
    cap = int(start * random.uniform(1.6, 8))
    level = SHAPES[family](random, count)
    wobble = noise(random, count, exp(random.uniform(log(0.015), log(0.12))), random.uniform(0.1, 0.8))
    lengths = [
        clipped_mean(max(2.0, start * at * exp(off)), cap) for at, off in zip(level, wobble, strict=True)
    ]
    power, share = random.uniform(0.3, 1.3), random.uniform(0.5, 1.5)
    seconds = [
        (30 + share * 0.1 * start * (length / start) ** power) * exp(off)
        for length, off in zip(lengths, noise(random, count, 0.05, 0.3), strict=True)
    ]
    return MadeRun(family, cap, lengths, seconds)


def calm_run(seed: int = 0) -> MadeRun:
    """The seed page's Tinker run on MATH: 94 steps at 714 tokens, which go up and down by 2.5 %."""
    random = Random(f"calm {seed}")
    lengths = [714 * exp(off) for off in noise(random, 94, 0.025, 0.3)]
    seconds = [81 * exp(off) for off in noise(random, 94, 0.06, 0.3)]
    return MadeRun("calm", 2048, lengths, seconds)


def exploding_run(seed: int = 0) -> MadeRun:
    """The seed page's veRL run on MATH, had it not crashed at step 35 of 94.

    From 549 to 1376 tokens like a hockey stick, then on towards the cap of 2048, ever slower; step
    time from 76 to 237 s, rising earlier than length does.
    """
    random = Random(f"exploding {seed}")
    lengths: list[float] = []
    seconds: list[float] = []
    wobble, delay = noise(random, 94, 0.02, 0.5), noise(random, 94, 0.05, 0.3)
    odds = log(1376 / (2048 - 1376))
    slope = 827 * 5.13 / 35 * 2048 / (1376 * (2048 - 1376))
    for step in range(1, 95):
        if step <= 35:
            length, took = 549 + 827 * (step / 35) ** 5.13, 76 + 161 * (step / 35) ** 2.74
        else:
            length = 2048 / (1 + exp(-odds - slope * 12 * (1 - exp(-(step - 35) / 12))))
            took = 237 * (length / 1376) ** 1.24
        lengths.append(min(2040.0, length * exp(wobble[step - 1])))
        seconds.append(took * exp(delay[step - 1]))
    return MadeRun("exploding", 2048, lengths, seconds)


def _normal(value: float) -> float:
    return 0.5 * (1 + erf(value / sqrt(2)))


def _along(steps: int, level: Callable[[float], float]) -> list[float]:
    return [level((step + 1) / steps) for step in range(steps)]


def _stable(random: Random, steps: int) -> list[float]:
    return [1.0] * steps


def _line_up(random: Random, steps: int) -> list[float]:
    rise = random.uniform(0.2, 2)
    return _along(steps, lambda x: 1 + rise * x)


def _line_down(random: Random, steps: int) -> list[float]:
    fall = random.uniform(0.1, 0.6)
    return _along(steps, lambda x: 1 - fall * x)


def _exponential(random: Random, steps: int) -> list[float]:
    rate = random.uniform(0.5, 2.2)
    return _along(steps, lambda x: exp(rate * x))


def _s_curve(random: Random, steps: int) -> list[float]:
    middle, width, rise = random.uniform(0.2, 0.7), random.uniform(0.04, 0.15), random.uniform(0.5, 3)
    return _along(steps, lambda x: 1 + rise / (1 + exp(-(x - middle) / width)))


def _jump_up(random: Random, steps: int) -> list[float]:
    at, to = random.uniform(0.15, 0.8), random.uniform(1.25, 2.2)
    return _along(steps, lambda x: 1.0 if x < at else to)


def _jump_down(random: Random, steps: int) -> list[float]:
    at, to = random.uniform(0.15, 0.8), random.uniform(0.35, 0.8)
    return _along(steps, lambda x: 1.0 if x < at else to)


def _valley(random: Random, steps: int) -> list[float]:
    turn, fall, rise = random.uniform(0.2, 0.5), random.uniform(0.2, 0.5), random.uniform(0.3, 2)
    return _along(steps, lambda x: 1 - fall * min(x / turn, 1) + rise * max(0.0, x - turn) / (1 - turn))


def _hill(random: Random, steps: int) -> list[float]:
    peak, height = random.uniform(0.3, 0.6), random.uniform(0.4, 1.5)
    return _along(steps, lambda x: 1 + height * exp(-(((x - peak) / 0.2) ** 2)))


def _settling(random: Random, steps: int) -> list[float]:
    excess, over = random.uniform(0.3, 1.2), random.uniform(0.02, 0.08)
    return _along(steps, lambda x: 1 + excess * exp(-x / over))


def _late_boom(random: Random, steps: int) -> list[float]:
    start, growth = random.uniform(0.45, 0.75), random.uniform(0.6, 1.6)
    return _along(steps, lambda x: exp(growth * max(0.0, x - start) / (1 - start)))


def _epochs(random: Random, steps: int) -> list[float]:
    count, drift = random.randint(2, 5), random.uniform(-0.2, 0.4)
    return _along(steps, lambda x: 1 + 0.12 * sin(2 * pi * x * count) + drift * x)


def _wandering(random: Random, steps: int) -> list[float]:
    stride = random.uniform(0.01, 0.04)
    position, level = 0.0, list[float]()
    for _ in range(steps):
        position += random.gauss(0, stride)
        level.append(exp(position))
    return level


def _root(random: Random, steps: int) -> list[float]:
    rise = random.uniform(0.3, 1.5)
    return _along(steps, lambda x: 1 + rise * sqrt(x))


def _collapse(random: Random, steps: int) -> list[float]:
    at, to, over = random.uniform(0.1, 0.6), random.uniform(0.2, 0.6), random.uniform(0.02, 0.1)
    return _along(steps, lambda x: 1 if x < at else to + (1 - to) * exp(-(x - at) / over))


def _breathing(random: Random, steps: int) -> list[float]:
    depth, period = random.uniform(0.1, 0.4), random.uniform(0.4, 1.2)
    return _along(steps, lambda x: 1 + depth * (1 - cos(2 * pi * x / period)))


SHAPES: dict[str, Shape] = {
    "stable": _stable,
    "line up": _line_up,
    "line down": _line_down,
    "exponential": _exponential,
    "S-curve": _s_curve,
    "jump up": _jump_up,
    "jump down": _jump_down,
    "valley": _valley,
    "hill": _hill,
    "settling": _settling,
    "late boom": _late_boom,
    "epochs": _epochs,
    "wandering": _wandering,
    "root": _root,
    "collapse": _collapse,
    "breathing": _breathing,
}
