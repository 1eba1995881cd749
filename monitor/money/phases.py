"""Where a self-hosted run's GPU-hours went: each phase's share of the wall time that is paid for.

The one rule: the phases add up to the bill. Time that no phase accounts for is `idle`: start-up, stalls, and
what the framework does not time.
"""

from collections.abc import Sequence

from ...models.money import PhaseCost
from ..history import Row
from .meters import sound

USEFUL = frozenset(("generate", "update", "update_critic"))
"""The work itself; all other time only makes it possible."""
IDLE = "idle"
UNTOLD = "not in this log"
"""Time of steps before the first one that the log tells."""


class PhaseSums:
    """Wall seconds by phase and in all, row by row."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.stepped_s: float | None = None
        """Sum of all step durations; None while none is known."""
        self._first_step: int | None = None

    def add(self, row: Row) -> None:
        """Count a closed step."""
        if self._first_step is None:
            self._first_step = row.step
        for name, seconds in row.phases().items():
            self.seconds[name] = self.seconds.get(name, 0.0) + (sound(seconds) or 0.0)
        duration = sound(row.get("duration_s"))
        if duration is not None:
            self.stepped_s = (self.stepped_s or 0.0) + duration

    def wall_s(self, elapsed_s: float | None) -> float | None:
        """Wall seconds to pay for: the longer of what has passed and what the steps add up to."""
        known = [value for value in (elapsed_s, self.stepped_s) if value is not None and value > 0]
        return max(known) if known else None

    def costs(self, elapsed_s: float | None, gpus: int | None, usd: float | None) -> tuple[PhaseCost, ...]:
        """`usd` and the GPU-hours divided among the phases; empty where no phase or no time is known.

        Phases that overlap, and so come to more than the wall time, share it in their proportion.
        """
        wall_s, timed_s = self.wall_s(elapsed_s), sum(self.seconds.values())
        if wall_s is None or timed_s <= 0:
            return ()
        parts = sorted(self.seconds.items(), key=lambda part: -part[1])
        told_s = wall_s
        if self._first_step is not None and self._first_step > 1:  # steps count from 0 or from 1
            told_s = min(wall_s, max(self.stepped_s or 0.0, timed_s))
        parts += [(IDLE, told_s - timed_s), (UNTOLD, wall_s - told_s)]
        of = max(wall_s, timed_s)
        return tuple(
            PhaseCost(
                name=name,
                seconds=seconds,
                hours=None if gpus is None else gpus * wall_s / 3600 * seconds / of,
                usd=None if usd is None else usd * seconds / of,
                share=seconds / of,
            )
            for name, seconds in parts
            if seconds > 0
        )


def waste_line(phases: Sequence[PhaseCost]) -> str | None:
    """One line that names the share of the dollars spent outside generating and updating.

    None where neither of them is timed, nothing is priced, or the log tells only the end of the run.
    """
    if any(phase.name == UNTOLD for phase in phases):
        return None
    if not any(phase.name in USEFUL for phase in phases) or any(phase.usd is None for phase in phases):
        return None
    wasted = sum(phase.share for phase in phases if phase.name not in USEFUL)
    return f"{100 * wasted:.0f} % of the bill was spent outside generate and update"
