"""One positive quantity, a value a step: the experts on it, their record, and the blended forecast.

Its one rule: steps that told nothing are not counted, and a forecast needs three that did.
"""

from dataclasses import dataclass, field
from math import exp, log, sqrt

from .blocks import Blocks
from .experts import DampedTrend, Expert, LastMean, LocalTrend, MedianSlope, PastMean, Smoothed
from .interval import Spread, deviation, spread
from .weights import HORIZONS, TrackRecord

WARM_UP = 3
_LEVEL, _TREND = 0.0, log(0.15)  # most runs stay where they are: a trend has to earn its weight


@dataclass(slots=True)
class Panel:
    """The experts asked, with what each remembers."""

    mean: PastMean = field(default_factory=lambda: PastMean(1.0))
    last: LastMean = field(default_factory=lambda: LastMean(10))
    smooth: Smoothed = field(default_factory=lambda: Smoothed(0.08))
    quarter: PastMean = field(default_factory=lambda: PastMean(0.25))
    damped: DampedTrend = field(default_factory=DampedTrend)
    slow: LocalTrend = field(default_factory=lambda: LocalTrend(0.05, 0.0006, 0.7))
    fast: LocalTrend = field(default_factory=lambda: LocalTrend(0.3, 0.004, 0.35))
    slope: MedianSlope = field(default_factory=lambda: MedianSlope(0.6, 0.5))
    long_slope: MedianSlope = field(default_factory=lambda: MedianSlope(1.0, 1.0))

    @property
    def experts(self) -> tuple[Expert, ...]:
        """All of them, in the order of PRIOR."""
        return (
            self.mean,
            self.last,
            self.smooth,
            self.quarter,
            self.damped,
            self.slow,
            self.fast,
            self.slope,
            self.long_slope,
        )


PRIOR = [_LEVEL] * 4 + [_TREND] * 5


@dataclass(slots=True)
class Series:
    """A quantity so far."""

    panel: Panel = field(default_factory=Panel)
    record: TrackRecord = field(default_factory=lambda: TrackRecord(list(PRIOR)))
    past: Blocks = field(default_factory=Blocks)
    steps: int = 0
    total: float = 0.0

    def observe(self, value: float, steps_left: int | None, cap: float | None) -> None:
        """Take a step's value (positive), with the steps still to come after it and the cap on a value."""
        self.steps += 1
        self.total += value
        self.past.add(value)
        for expert in self.panel.experts:
            expert.observe(value, self.past)
        self.record.judge(self.steps, self.total)
        powers = self.record.open_horizons(self.steps, self.steps if steps_left is None else steps_left)
        if powers:
            outlooks = [expert.outlook(self.past) for expert in self.panel.experts]
            for power in powers:
                horizon = HORIZONS[power]
                forecasts = [log(outlook.mean(horizon, cap)) for outlook in outlooks]
                weights = self.record.weights(self.steps, horizon)
                blend = sum(w * f for w, f in zip(weights, forecasts, strict=True))
                self.record.wager(power, self.steps, self.total, forecasts, blend)

    @property
    def ready(self) -> bool:
        """Whether there is enough to project from."""
        return self.steps >= WARM_UP

    def ahead(self, steps: float, cap: float | None) -> Spread:
        """The mean value over the next `steps` steps."""
        forecasts = [log(expert.outlook(self.past).mean(steps, cap)) for expert in self.panel.experts]
        middle, deviates = self._blend(forecasts, steps)
        return spread(middle, deviates, steps / self.steps, cap)

    def at(self, steps: float, cap: float | None) -> Spread:
        """The level expected `steps` steps from now."""
        forecasts = [log(expert.outlook(self.past).at(steps, cap)) for expert in self.panel.experts]
        middle, deviates = self._blend(forecasts, steps)
        return spread(middle, deviates, steps / self.steps, cap)

    def _blend(self, forecasts: list[float], steps: float) -> tuple[float, float]:
        weights = self.record.weights(self.steps, steps)
        blend = sum(w * f for w, f in zip(weights, forecasts, strict=True))
        apart = sqrt(sum(w * (f - blend) ** 2 for w, f in zip(weights, forecasts, strict=True)))
        return exp(blend), deviation(self.record, self.steps, steps, apart)
