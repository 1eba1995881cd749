"""Since when each of several things has held, for rules that tell of them in one alert.

Its one rule: an alert says `since` the step at which it was raised, so that what began at another step, or
may have, is told with its own.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Began:
    """The things that hold at this step."""

    steps: dict[str, int] = field(default_factory=dict[str, int])
    """By name, the step from which on it has held without a break; the oldest first."""
    first: int | None = None
    """The step at which any of them first held, until none did: an alert that is up then began there."""
    again: bool = False
    """Whether all of it had been over before: whether an alert of that time is still up is not known here."""

    def at(self, names: Iterable[str], step: int) -> "Began":
        """The same one step on, where `names` hold."""
        now = list(names)
        if not now:
            return Began(again=self.again or self.first is not None)
        kept = {name: began for name, began in self.steps.items() if name in now}
        fresh = {name: step for name in now if name not in kept}
        return Began(kept | fresh, step if self.first is None else self.first, self.again)

    def dated(self, name: str) -> str:
        """` (from step 12)`, or nothing where the alert says so itself."""
        step = self.steps[name]
        return "" if step == self.first and not self.again else f" (from step {step})"
