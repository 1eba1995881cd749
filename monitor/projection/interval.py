"""How sure a forecast is: its deviation from this run's own record, and the calibrated quantiles.

Its one rule: the shape of the interval is not assumed but measured. A deviation says how far off the
blend has been in this run; the multipliers, fitted to other runs by split conformal calibration
(bench/calibrate.py), say how many deviations off the truth then really was.
"""

import itertools
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import erf, exp, log, sqrt

from pydantic_core import from_json

from .weights import HORIZONS, TrackRecord

_Z80 = 1.2815515594457831  # of a normal: 80 % lies within this many deviations
_WIDEST = 0.8


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


def deviation(record: TrackRecord, steps: int, horizon: float, disagreement: float) -> float:
    """The standard deviation of the log of the mean of the next `horizon` steps, after `steps` steps.

    A prior that grows with the share of the run ahead, pooled with what the judged forecasts missed
    by, each scaled from its own horizon to the one asked for; and the experts' `disagreement` on top.
    """
    prior = 0.12 * min(2.5, max(0.35, (horizon / max(steps, 4)) ** 0.35))
    total, mass = 4.0 * prior * prior, 4.0
    for at, seen in zip(HORIZONS, record.horizons, strict=False):
        if seen.judged < 2:
            continue
        near = min(at, horizon) / max(at, horizon) * min(seen.judged, 8.0)
        total += near * seen.square * max(1.0, horizon / at) ** 0.65
        mass += near
    return min(_WIDEST, sqrt(total / mass + disagreement * disagreement))


def spread(middle: float, deviation: float, ahead: float, cap: float | None, table: str = "mean") -> Spread:
    """The quantiles around a forecast, `ahead` being the steps to come over the steps seen."""
    low, shift, high = multipliers(table, ahead)
    shift = max(low, min(high, shift))
    p10, p50, p90 = (middle * exp(k * deviation) for k in (low, shift, high))
    if cap is not None:
        p10, p50, p90 = min(p10, cap), min(p50, cap), min(p90, cap)
    return Spread(p10, p50, p90, cap)


def multipliers(table: str, ahead: float) -> tuple[float, float, float]:
    """Deviations from the middle to P10, P50 and P90, linear in the log of `ahead` between the nodes."""
    nodes = _tables()[table]
    place = log(max(ahead, 1e-9))
    if place <= nodes[0][0]:
        return nodes[0][1]
    for (left, below), (right, above) in itertools.pairwise(nodes):
        if place <= right:
            part = (place - left) / (right - left)
            low, mid, high = (a + part * (b - a) for a, b in zip(below, above, strict=True))
            return low, mid, high
    return nodes[-1][1]


Rows = dict[str, tuple[float, float, float]]


@cache
def _tables() -> dict[str, list[tuple[float, tuple[float, float, float]]]]:
    stored = files(__package__).joinpath("multipliers.json").read_bytes()
    tables: dict[str, Rows] = from_json(stored)["tables"]
    return {
        name: sorted((log(float(ahead)), (row[0], row[1], row[2])) for ahead, row in rows.items())
        for name, rows in tables.items()
    }
