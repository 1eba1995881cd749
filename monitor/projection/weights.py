"""Which expert to believe, learnt from how each would have done so far in this very run.

Its one rule: an expert is judged only on forecasts that have come due. At horizons of 1, 2, 4 …
steps, every expert's forecast of the mean is put down and compared with what then came; the
comparison that counts is the one nearest to the horizon asked for.
"""

from dataclasses import dataclass, field
from math import exp, log, sqrt
from operator import mul

HORIZONS = tuple(2**power for power in range(13))
_WORST = 1.5  # an error of e^1.5 is as bad as an error gets, so that one disaster is forgiven in time
_MEMORY = 12.0
_PATIENCE = 12.0
_EXCUSED = 0.03  # log error that is nobody's fault
_TREND = 0.3


@dataclass(slots=True)
class Wager:
    """Forecasts made at one step for one horizon, waiting to be judged."""

    due: int
    total_before: float
    forecasts: list[float]
    """Log of the mean over the horizon, one for each expert."""


@dataclass(slots=True)
class HorizonRecord:
    """How the forecasts for one horizon have done."""

    errors: list[float]
    """Recent mean absolute log error of each expert."""
    judged: int = 0
    waiting: list[Wager] = field(default_factory=list[Wager])
    next_at: int = 3


@dataclass(slots=True)
class TrackRecord:
    """The record of a set of experts on one series: first those of level, then those of trend."""

    levels: int
    trends: int
    horizons: list[HorizonRecord] = field(default_factory=list[HorizonRecord])
    next_due: int = 0
    """The step at which the first of all wagers that wait is due."""
    next_at: int = 3
    """The step at which there may be a forecast to put down again."""

    def judge(self, steps: int, total: float) -> None:
        """Settle what is due after `steps` steps that sum to `total`."""
        if steps < self.next_due:
            return
        for power, record in enumerate(self.horizons):
            while record.waiting and record.waiting[0].due <= steps:
                self._settle(record, record.waiting.pop(0), total, HORIZONS[power])
        self.next_due = min((seen.waiting[0].due for seen in self.horizons if seen.waiting), default=0)

    def _settle(self, record: HorizonRecord, wager: Wager, total: float, horizon: int) -> None:
        gained = total - wager.total_before
        if gained <= 0:  # lost in rounding beside a far greater total
            return
        came = log(gained / horizon)
        record.judged += 1
        gain = 1 / min(record.judged, _MEMORY)
        record.errors = [
            error + gain * (min(abs(came - forecast), _WORST) - error)
            for error, forecast in zip(record.errors, wager.forecasts, strict=True)
        ]

    def open_horizons(self, steps: int, steps_left: int) -> list[int]:
        """The powers of two for which a forecast is to be put down after this step."""
        if steps < self.next_at:
            return []
        longest = min(2 * steps, steps_left)
        while len(self.horizons) < len(HORIZONS) and HORIZONS[len(self.horizons)] <= longest:
            self.horizons.append(HorizonRecord([0.0] * (self.levels + self.trends)))
        open_now = [
            power
            for power, record in enumerate(self.horizons)
            if record.next_at <= steps and HORIZONS[power] <= longest
        ]
        if not open_now:
            opening = HORIZONS[len(self.horizons) :][:1]
            self.next_at = min(
                [record.next_at for record in self.horizons] + [(horizon + 1) // 2 for horizon in opening]
            )
        return open_now

    def wager(self, power: int, steps: int, total: float, forecasts: list[float]) -> None:
        """Put down forecasts for a horizon of `2 ** power` steps from now."""
        record, horizon = self.horizons[power], HORIZONS[power]
        record.waiting.append(Wager(steps + horizon, total, forecasts))
        record.next_at = steps + max(1, horizon // 4, steps // 64)
        self.next_due = min(self.next_due, steps + horizon)

    def weights(self, steps: int, horizon: float) -> list[float]:
        """The weight of each expert for a forecast over `horizon` steps; they sum to 1."""
        weights = self._prior(steps)
        judged = [
            (
                sqrt(at / horizon if at < horizon else horizon / at) * min(1.0, record.judged / 4),
                record.errors,
            )
            for at, record in zip(HORIZONS, self.horizons, strict=False)
            if record.judged
        ]
        if judged:
            near = [share for share, _ in judged]
            mass = sum(near)
            scores = [
                sum(map(mul, near, errors)) / mass for errors in zip(*(e for _, e in judged), strict=True)
            ]
            best = min(scores)
            sharpness = min(_PATIENCE, 0.8 * sqrt(steps)) / (best + _EXCUSED)
            weights = [
                prior * exp(-sharpness * (score - best)) for prior, score in zip(weights, scores, strict=True)
            ]
        total = sum(weights)
        return [weight / total for weight in weights]

    def _prior(self, steps: int) -> list[float]:
        """Most runs stay where they are, and few points always lie on some line: a trend earns its weight."""
        trend = _TREND * min(1.0, max(0.0, (steps - 4) / 16))
        return [1.0] * self.levels + [trend] * self.trends
