"""Where a self-hosted run's GPU-hours went: each phase's share of the wall time that is paid for.

The one rule: the shares add up to the bill. Time that no phase accounts for is `idle`: start-up, stalls, and
what the framework does not time.
"""

from dataclasses import dataclass

from ..history import Row
from ..state import RunState
from .meters import sound
from .pricing import Pricing

USEFUL = frozenset(("generate", "update", "update_critic"))
"""The work itself; all other time only makes it possible."""
IDLE = "idle"


@dataclass(frozen=True, slots=True)
class PhaseCost:
    """One phase of the bill."""

    hours: float
    """GPU-hours, or wall hours where the number of GPUs is not known."""
    usd: float | None
    share: float
    """Of the wall time paid for, 0 to 1."""


class PhaseSums:
    """Wall seconds by phase and in all, row by row."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.stepped_s: float | None = None
        """Sum of all step durations; None while none is known."""

    def add(self, row: Row) -> None:
        """Count a closed step."""
        for name, seconds in row.phases().items():
            self.seconds[name] = self.seconds.get(name, 0.0) + (sound(seconds) or 0.0)
        duration = sound(row.get("duration_s"))
        if duration is not None:
            self.stepped_s = (self.stepped_s or 0.0) + duration

    def wall_s(self, elapsed_s: float | None) -> float | None:
        """Wall seconds to pay for: the longer of what has passed and what the steps add up to."""
        known = [value for value in (elapsed_s, self.stepped_s) if value is not None and value > 0]
        return max(known) if known else None

    def bill(self, pricing: Pricing, elapsed_s: float | None) -> dict[str, PhaseCost]:
        """Hours, dollars and share per phase, longest first; empty where no phase or no time is known."""
        wall_s = self.wall_s(elapsed_s)
        if wall_s is None or not self.seconds:
            return {}
        timed_s = sum(self.seconds.values())
        wall_s = max(wall_s, timed_s)
        parts = sorted(self.seconds.items(), key=lambda item: -item[1])
        if wall_s > timed_s:
            parts.append((IDLE, wall_s - timed_s))
        per_hour, gpus = pricing.usd_per_hour, pricing.gpus or 1
        return {
            name: PhaseCost(
                hours=gpus * seconds / 3600,
                usd=None if per_hour is None else per_hour * seconds / 3600,
                share=seconds / wall_s,
            )
            for name, seconds in parts
        }


def phase_bill(state: RunState, pricing: Pricing, elapsed_s: float | None = None) -> dict[str, PhaseCost]:
    """The phases of a whole run, from all its closed rows."""
    sums = PhaseSums()
    for index in range(state.closed):
        sums.add(state.history.row(index))
    return sums.bill(pricing, elapsed_s)


def waste_line(phases: dict[str, PhaseCost]) -> str | None:
    """One line that names the share of the dollars spent outside generating and updating.

    None where no phase or no price is known: a provider who bills tokens does not bill the waiting.
    """
    if not USEFUL & phases.keys() or any(cost.usd is None for cost in phases.values()):
        return None
    wasted = sum(cost.share for name, cost in phases.items() if name not in USEFUL)
    return f"{100 * wasted:.0f} % of the bill was spent outside generate and update"
