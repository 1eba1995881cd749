"""What one expert expects of the steps to come: a level, and a drift that dies out, under a cap.

Its one rule: everything is said by three numbers, so that a forecast for any horizon costs the same.
"""

from math import exp, log
from typing import NamedTuple

# Gauss-Legendre on [0, 1]: the mean of a smooth path from four of its points.
_NODES = (0.0694318, 0.3300095, 0.6699905, 0.9305682)
_SHARES = (0.1739274, 0.3260726, 0.3260726, 0.1739274)
_NEAR_CAP = 0.995


class Outlook(NamedTuple):
    """The natural log of a positive quantity, `ahead` steps on, is

        level + drift * tau * (1 - exp(-ahead / tau))

    with `drift` per step and `tau` in steps: a damped trend (Gardner and McKenzie 1985). Under a
    cap growth runs in log-odds of the cap, so that it slows down as the cap comes near.
    """

    level: float
    drift: float = 0.0
    tau: float = 1.0

    def at(self, ahead: float, cap: float | None) -> float:
        """The value expected `ahead` steps from now."""
        rise = self.drift * self.tau * (1 - exp(-ahead / self.tau)) if self.drift else 0.0
        return _risen(self.level, rise, cap)

    def mean(self, steps: float, cap: float | None) -> float:
        """The mean expected of the next `steps` steps."""
        drift, tau = self.drift, self.tau
        if not drift or abs(drift) * min(tau, steps) < 1e-4:
            return _risen(self.level, 0.0, cap)
        level, reach = self.level, drift * tau
        rises = [reach * (1 - exp(-(0.5 + node * steps) / tau)) for node in _NODES]
        return sum(share * _risen(level, rise, cap) for share, rise in zip(_SHARES, rises, strict=True))


def _risen(level: float, rise: float, cap: float | None) -> float:
    value = exp(level)
    if cap is None:
        return value * exp(max(-30.0, min(30.0, rise)))
    share = min(value / cap, _NEAR_CAP)
    if rise <= 0:
        return cap * share * exp(max(-30.0, rise))
    odds = log(share / (1 - share)) + min(30.0, rise / (1 - share))
    return cap / (1 + exp(-odds))
