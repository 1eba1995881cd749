"""One positive quantity, a value a step: the experts on it, their record, and the blended forecast.

Its one rule: steps that told nothing are not counted, and a forecast needs three that did.
"""

from dataclasses import dataclass, field
from math import exp, log
from operator import mul

from .blocks import Blocks
from .experts import DampedTrend, Expert, LocalTrend, MedianSlope, PastMean, SinceChange
from .interval import Forecast, Spread, deviation, sides, spread
from .outlook import Outlook
from .weights import HORIZONS, TrackRecord

WARM_UP = 3


@dataclass(slots=True)
class Panel:
    """The experts asked, with what each remembers."""

    mean: PastMean = field(default_factory=lambda: PastMean(1.0))
    half: PastMean = field(default_factory=lambda: PastMean(0.5))
    quarter: PastMean = field(default_factory=lambda: PastMean(0.25))
    change: SinceChange = field(default_factory=SinceChange)
    damped: DampedTrend = field(default_factory=DampedTrend)
    local: LocalTrend = field(default_factory=LocalTrend)
    slope: MedianSlope = field(default_factory=MedianSlope)

    @property
    def experts(self) -> tuple[Expert, ...]:
        """All of them, those of level first."""
        return (self.mean, self.half, self.quarter, self.change, self.damped, self.local, self.slope)

    def observe(self, value: float) -> None:
        """Show a step's value to those that filter the series; the others look back over it when asked."""
        logged = log(value)
        self.damped.observe(logged)
        self.local.observe(logged)


LEVELS, TRENDS = 4, 3


@dataclass(slots=True)
class Series:
    """A quantity so far."""

    panel: Panel = field(default_factory=Panel)
    record: TrackRecord = field(default_factory=lambda: TrackRecord(LEVELS, TRENDS))
    past: Blocks = field(default_factory=Blocks)
    steps: int = 0
    total: float = 0.0

    def observe(self, value: float, steps_left: int | None, cap: float | None) -> None:
        """Take a step's value (positive), with the steps still to come after it and the cap on a value."""
        self.steps += 1
        self.total += value
        self.past.add(value)
        self.panel.observe(value)
        self.record.judge(self.steps, self.total)
        powers = self.record.open_horizons(self.steps, self.steps if steps_left is None else steps_left)
        if powers:
            outlooks = self._outlooks()
            for power in powers:
                forecasts = [log(outlook.mean(HORIZONS[power], cap)) for outlook in outlooks]
                self.record.wager(power, self.steps, self.total, forecasts)

    @property
    def ready(self) -> bool:
        """Whether there is enough to project from."""
        return self.steps >= WARM_UP

    def ahead(self, steps: float, cap: float | None) -> Spread:
        """The mean value over the next `steps` steps."""
        return spread(self.mean_ahead(steps, cap), steps / self.steps, cap, "mean")

    def at(self, steps: float, cap: float | None) -> Spread:
        """The level expected `steps` steps from now."""
        return spread(self.level_at(steps, cap), steps / self.steps, cap, "level")

    def mean_ahead(self, steps: float, cap: float | None) -> Forecast:
        """The mean value over the next `steps` steps, before calibration."""
        return self._blend([outlook.mean(steps, cap) for outlook in self._outlooks()], steps)

    def level_at(self, steps: float, cap: float | None) -> Forecast:
        """The level expected `steps` steps from now, before calibration."""
        return self._blend([outlook.at(steps, cap) for outlook in self._outlooks()], steps)

    def _outlooks(self) -> list[Outlook]:
        return [expert.outlook(self.past) for expert in self.panel.experts]

    def _blend(self, expected: list[float], steps: float) -> Forecast:
        logs = [log(value) for value in expected]
        weights = self.record.weights(self.steps, steps)
        blend = sum(map(mul, weights, logs))
        usual = deviation(self.record, weights, self.steps, steps)
        apart = [(weight, one - blend) for weight, one in zip(weights, logs, strict=True)]
        back = max(0.0, blend - log(self.past.lowest))
        return Forecast(exp(blend), *sides(usual, apart, back, self.steps))
