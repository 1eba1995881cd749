"""How sure a forecast is: its deviation from this run's own record, and the calibrated quantiles.

Its one rule: the shape of the interval is not assumed but measured. A deviation says how far off
forecasts have been in this run; the multipliers, fitted to other runs by split conformal calibration
(bench/calibrate.py), say how many deviations off the truth then really was.
"""

import itertools
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import erf, exp, log, sqrt
from operator import mul
from typing import NamedTuple

from pydantic_core import from_json

from .weights import TrackRecord

_Z80 = 1.2815515594457831  # of a normal: 80 % lies within this many deviations
# Found by random search over real and made-up runs; docs/projection.md says what that is worth.
_WIDEST = 0.7
_LEAST = 0.006  # log error that even a perfect record leaves
_PRIOR, _PRIOR_MASS = 0.055, 0.9


class Forecast(NamedTuple):
    """A positive quantity expected, and the deviation of its log."""

    middle: float
    deviation: float


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


def deviation(
    record: TrackRecord, weights: list[float], steps: int, horizon: float, disagreement: float
) -> float:
    """The deviation of the log of the mean of the next `horizon` steps, after `steps` steps.

    The geometric mean of what this run's own forecasts have missed by, horizon by horizon and weighted
    as the experts now are, and of a prior that counts for half a horizon: a calm run soon has a narrow
    interval, and one bad horizon does not undo it. On top come the experts' `disagreement`, which is
    how a turn first shows, and the doubt that so few steps leave.
    """
    reach = min(2.5, max(0.1, sqrt(horizon / max(steps, 4))))
    total, mass = _PRIOR_MASS * log(_PRIOR * reach * steps**-0.4), _PRIOR_MASS
    for seen in record.horizons:
        if not seen.judged:
            continue
        missed = 1.25 * sum(map(mul, weights, seen.errors))
        counts = min(seen.judged, 2)
        total += counts * log(missed + _LEAST)
        mass += counts
    own = exp(total / mass)
    return min(_WIDEST, sqrt(own * own + 5 * disagreement * disagreement) * (1 + 5 / steps**2))


def spread(forecast: Forecast, ahead: float, cap: float | None, table: str) -> Spread:
    """The quantiles around a forecast, `ahead` being the steps to come over the steps seen."""
    low, high = multipliers(table, ahead)
    p10, p50, p90 = (forecast.middle * exp(k * forecast.deviation) for k in (low, 0.0, high))
    if cap is not None:
        p10, p50, p90 = min(p10, cap), min(p50, cap), min(p90, cap)
    return Spread(p10, p50, p90, cap)


def multipliers(table: str, ahead: float) -> tuple[float, float]:
    """Deviations from the middle to P10 and P90, linear in the log of `ahead` between the nodes."""
    nodes = _tables()[table]
    place = log(max(ahead, 1e-9))
    if place <= nodes[0][0]:
        return nodes[0][1]
    for (left, below), (right, above) in itertools.pairwise(nodes):
        if place <= right:
            part = (place - left) / (right - left)
            return below[0] + part * (above[0] - below[0]), below[1] + part * (above[1] - below[1])
    return nodes[-1][1]


Rows = dict[str, tuple[float, float]]


@cache
def _tables() -> dict[str, list[tuple[float, tuple[float, float]]]]:
    stored = files(__package__ or __name__).joinpath("multipliers.json").read_bytes()
    tables: dict[str, Rows] = from_json(stored)["tables"]
    return {
        name: sorted((log(float(ahead)), (row[0], row[1])) for ahead, row in rows.items())
        for name, rows in tables.items()
    }
