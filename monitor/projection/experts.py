"""The experts: small online models, each with its own idea of where a series is going.

Their one rule: take one positive value a step, keep O(1) memory, and answer with an Outlook. Level
experts say "it stays here" and differ in how much of the past "here" is; trend experts work on logs,
so that growth is relative, and let their trend die out in proportion to the history behind it.
"""

import itertools
from dataclasses import dataclass
from math import log, sqrt
from statistics import median
from typing import Protocol

from .blocks import Blocks
from .outlook import Outlook

_NEWEST = 5
_SLACK, _CHANGED = 0.75, 4.0
_CALMEST, _UNKNOWN_NOISE = 0.005, 0.05
_DEVIATIONS = 1.05
"""From the median jump between two steps to a standard deviation of one: 1 / (0.6745 √2)."""


class Expert(Protocol):
    """One model of a series. Those that filter it, step by step, also `observe` the log of each value."""

    def outlook(self, past: Blocks) -> Outlook:
        """What is expected from the next step on; `past` are the means of all values so far."""
        ...


@dataclass(slots=True)
class PastMean:
    """The mean of the newest `share` of the run, of at least five steps. A share of 1 is the naive rule."""

    share: float

    def outlook(self, past: Blocks) -> Outlook:
        steps = min(past.steps, max(5.0, self.share * past.steps))
        return Outlook(log(past.mean_of_last(steps)))


@dataclass(slots=True)
class SinceChange:
    """The mean since the level last changed, found by going back from the newest five steps.

    Two cumulative sums (Page 1954) of how far older steps lie above and below what follows them, in
    deviations of one step from the next; where either grows past four, the steps before it began are of
    another level. Looked for anew only when a block closes.
    """

    fitted_blocks: int = -1
    fitted_width: int = 0
    since: int = 0
    """Closed steps since the change."""

    def outlook(self, past: Blocks) -> Outlook:
        if (self.fitted_blocks, self.fitted_width) != (len(past.means), past.width):
            self.fitted_blocks, self.fitted_width = len(past.means), past.width
            self.since = past.width * (len(past.means) - self._changed_at(past))
        return Outlook(log(past.mean_of_last(self.since + past.open_steps)))

    def _changed_at(self, past: Blocks) -> int:
        """The first block of the level that holds now."""
        logs = [log(mean) for mean in past.means]
        jumps = [abs(right - left) for left, right in itertools.pairwise(logs)]
        noise = max(_CALMEST, _DEVIATIONS * median(jumps)) if jumps else _UNKNOWN_NOISE
        first = max(0, len(logs) - _NEWEST)
        total, count, above, below = sum(logs[first:]), len(logs) - first, 0.0, 0.0
        for older in reversed(range(first)):
            off = (logs[older] - total / count) / noise
            above, below = max(0.0, above + off - _SLACK), max(0.0, below - off - _SLACK)
            if above > _CHANGED or below > _CHANGED:
                return first
            if above == 0 and below == 0:
                first = older
            total, count = total + logs[older], count + 1
        return 0


@dataclass(slots=True)
class DampedTrend:
    """Holt's level and trend on the log, the trend damped, surprises clipped at three deviations."""

    level_gain: float = 0.25
    drift_gain: float = 0.04
    damping: float = 0.95
    steps: int = 0
    level: float = 0.0
    drift: float = 0.0
    deviation: float = 0.1

    def observe(self, logged: float) -> None:
        """Take the log of the next step's value."""
        self.steps += 1
        if self.steps == 1:
            self.level = logged
            return
        expected = self.level + self.damping * self.drift
        error = logged - expected
        limit = 3 * self.deviation + 0.02
        surprise = -limit if error < -limit else min(limit, error)
        self.deviation += 0.05 * (1.25 * min(abs(error), 3 * limit) - self.deviation)
        self.level = expected + max(self.level_gain, 1 / self.steps) * surprise
        self.drift = self.damping * self.drift + self.drift_gain * surprise

    def outlook(self, past: Blocks) -> Outlook:
        return Outlook(self.level, self.damping * self.drift, 1 / (1 - self.damping))


@dataclass(slots=True)
class LocalTrend:
    """A Kalman filter for level and trend of the log, its noise learnt online.

    `level_noise` and `drift_noise` are ratios to the observation's variance. The trend is shrunk as
    far as its own standard error allows (James and Stein 1961) and dies out over `reach` × the steps
    seen.
    """

    level_noise: float = 0.3
    drift_noise: float = 0.004
    reach: float = 0.35
    steps: int = 0
    level: float = 0.0
    drift: float = 0.0
    noise: float = 0.0025
    level_var: float = 0.0025
    cross_var: float = 0.0
    drift_var: float = 0.0004

    def observe(self, logged: float) -> None:
        """Take the log of the next step's value."""
        self.steps += 1
        if self.steps == 1:
            self.level = logged
            return
        keep = 0.995
        level, drift = self.level + self.drift, self.drift * keep
        level_var = self.level_var + 2 * self.cross_var + self.drift_var + self.level_noise * self.noise
        cross_var = keep * (self.cross_var + self.drift_var)
        drift_var = keep * keep * self.drift_var + self.drift_noise * self.noise
        spread = level_var + self.noise
        error = logged - level
        limit = 3 * sqrt(spread)
        surprise = -limit if error < -limit else min(limit, error)
        level_gain, drift_gain = level_var / spread, cross_var / spread
        self.level, self.drift = level + level_gain * surprise, drift + drift_gain * surprise
        self.level_var = (1 - level_gain) * level_var
        self.cross_var = (1 - level_gain) * cross_var
        self.drift_var = drift_var - drift_gain * cross_var
        gain = max(0.03, 1 / (self.steps + 5))
        seen = min(error * error, 9 * spread) * self.noise / spread
        self.noise = max(1e-6, self.noise + gain * (seen - self.noise))

    def outlook(self, past: Blocks) -> Outlook:
        significance = self.drift * self.drift / max(self.drift_var, 1e-12)
        shrunk = self.drift * max(0.0, 1 - 1.5 / max(significance, 1e-9))
        return Outlook(self.level, shrunk, max(4.0, self.reach * self.steps))


@dataclass(slots=True)
class MedianSlope:
    """The median of all pairwise slopes (Theil 1950, Sen 1968) over the newest `share` of the run.

    A slope that few pairs agree on is shrunk to nothing. Fitted anew only when a block closes.
    """

    share: float = 0.3
    reach: float = 0.3
    fitted_blocks: int = -1
    fitted_width: int = 0
    fitted_level: float = 0.0
    fitted_drift: float = 0.0

    def outlook(self, past: Blocks) -> Outlook:
        if (self.fitted_blocks, self.fitted_width) != (len(past.means), past.width):
            self._fit(past)
        since = past.open_steps
        return Outlook(
            self.fitted_level + self.fitted_drift * since,
            self.fitted_drift,
            max(3.0, self.reach * past.steps),
        )

    def _fit(self, past: Blocks) -> None:
        self.fitted_blocks, self.fitted_width = len(past.means), past.width
        count = max(min(len(past.means), 8), int(len(past.means) * self.share))
        logs = [log(mean) for mean in past.means[-count:]]
        parts = min(12, count)
        edges = [round(count * part / parts) for part in range(parts + 1)]
        centres = [(left + right - 1) / 2 for left, right in itertools.pairwise(edges)]
        middles = [median(logs[left:right]) for left, right in itertools.pairwise(edges)]
        if parts < 3:
            self.fitted_level, self.fitted_drift = sum(logs) / len(logs), 0.0
            return
        slopes = [
            (middles[late] - middles[early]) / (centres[late] - centres[early])
            for late in range(parts)
            for early in range(late)
        ]
        agreement = abs(sum((slope > 0) - (slope < 0) for slope in slopes)) / len(slopes)
        slope = median(slopes) * min(1.0, max(0.0, (agreement - 0.2) / 0.4))
        self.fitted_level = median(
            middle + slope * (count - 1 - centre) for middle, centre in zip(middles, centres, strict=True)
        )
        self.fitted_drift = slope / past.width
