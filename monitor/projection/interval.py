"""How sure a forecast is: its deviation from this run's own record, and the calibrated quantiles.

Its one rule: the shape of the interval is not assumed but measured. A deviation says how far off
forecasts have been in this run; the multipliers, fitted to other runs by split conformal calibration
(bench/calibrate.py), say how many deviations off the truth then really was.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import erf, exp, log, sqrt
from operator import mul
from typing import NamedTuple

from pydantic_core import from_json

from .weights import TrackRecord

_Z80 = 1.2815515594457831  # of a normal: 80 % lies within this many deviations
# Found by a random search over runs; docs/projection.md says what that is worth.
_WIDEST = 1.2
_LEAST = 0.003  # log error that even a perfect record leaves
_PRIOR, _PRIOR_MASS = 0.13, 3.0
_APART, _BACK = 18.0, 0.2
_FEW = 8.0


class Forecast(NamedTuple):
    """A positive quantity expected, and the deviations of its log to either side."""

    middle: float
    below: float
    above: float


@dataclass(frozen=True, slots=True)
class Spread:
    """The quantiles of a positive quantity: a middle with a log-normal half on each side."""

    p10: float
    p50: float
    p90: float
    ceiling: float | None = None
    """What it cannot exceed."""

    def above(self, threshold: float) -> float:
        """The probability of more than `threshold`."""
        if threshold <= 0:
            return 1.0
        if self.ceiling is not None and threshold >= self.ceiling:
            return 0.0
        edge = self.p90 if threshold > self.p50 else self.p10
        width = abs(log(edge / self.p50)) / _Z80 if self.p50 > 0 and edge > 0 else 0.0
        if width < 1e-12:
            return float(threshold < self.p50)
        return 0.5 * (1 - erf(log(threshold / self.p50) / width / sqrt(2)))


def deviation(record: TrackRecord, weights: list[float], steps: int, horizon: float) -> float:
    """The usual deviation of the log of the mean of the next `horizon` steps, after `steps` steps.

    The geometric mean of what this run's own forecasts have missed by, horizon by horizon and weighted
    as the experts now are, and of a prior that counts for three: a calm run soon has a narrow interval,
    and one bad horizon does not undo it.
    """
    total, mass = _PRIOR_MASS * log(_PRIOR * sqrt(horizon) / steps), _PRIOR_MASS
    for seen in record.horizons:
        if seen.judged:
            total += log(1.25 * sum(map(mul, weights, seen.errors)) + _LEAST)
            mass += 1
    return exp(total / mass)


def sides(usual: float, apart: Sequence[tuple[float, float]], back: float, steps: int) -> tuple[float, float]:
    """The deviations below and above, of a usual one and what speaks for either side.

    `apart` are the experts' weights and how far off the blend they are, in logs: a turn shows there
    first, on the side that it goes to. `back` is how far, in logs, the forecast is above the lowest level
    that the run has had: of the real runs that rose by half, one in three came back half the way. Few steps
    leave doubt on both sides.
    """
    below = sum(weight * off * off for weight, off in apart if off < 0)
    above = sum(weight * off * off for weight, off in apart if off > 0)
    low = usual * usual + _APART * below + _BACK * back * back
    high = usual * usual + _APART * above
    few = 1 + _FEW / steps**2
    return min(_WIDEST, few * sqrt(low)), min(_WIDEST, few * sqrt(high))


def spread(forecast: Forecast, ahead: float, cap: float | None, table: str) -> Spread:
    """The quantiles around a forecast, `ahead` being the steps to come over the steps seen."""
    k = between(_tables()[table], ahead)
    p50 = forecast.middle
    p10, p90 = p50 * exp(-k * forecast.below), p50 * exp(k * forecast.above)
    if cap is not None:
        p10, p50, p90 = min(p10, cap), min(p50, cap), min(p90, cap)
    return Spread(p10, p50, p90, cap)


def between(nodes: Sequence[tuple[float, float]], ahead: float) -> float:
    """Deviations from the middle to P10 and to P90, linear between the nodes: (log of `ahead`, k) each."""
    place = log(max(ahead, 1e-9))
    if place <= nodes[0][0]:
        return nodes[0][1]
    for (left, below), (right, above) in itertools.pairwise(nodes):
        if place <= right:
            return below + (place - left) / (right - left) * (above - below)
    return nodes[-1][1]


@cache
def _tables() -> dict[str, list[tuple[float, float]]]:
    stored = files(__package__ or __name__).joinpath("multipliers.json").read_bytes()
    tables: dict[str, dict[str, float]] = from_json(stored)["tables"]
    return {
        name: sorted((log(float(ahead)), k) for ahead, k in rows.items()) for name, rows in tables.items()
    }
