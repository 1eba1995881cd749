"""A newer price list has come into force while the run goes on: the rest of it is billed otherwise.

Our bill goes on with the prices of the day on which the run began, so that a long run is not repriced under way;
what the new ones make of the rest is told. Only where the log says when steps ended: else nobody knows which
of them came after the change.
"""

from dataclasses import dataclass

from ...models.money import PriceChange
from ...models.text import usd, usd_change
from ..moment import Moment
from .rule import FINE, Debounce, Reading, Rule, Unwatched
from .stakes import advise, saving_usd

_METERS = ("sample", "prefill", "prefill_cached", "train")


@dataclass(frozen=True, slots=True)
class Limits:
    """Shares of the cost of a step."""

    warn: float = 0.05
    """Dearer by this much and more is a warning; less, or cheaper, is told."""


@dataclass(frozen=True, slots=True)
class Memory:
    """The day of the list that was told of."""

    told: str = ""


def observe(memory: Memory, moment: Moment, limits: Limits) -> tuple[Memory, Reading | Unwatched]:
    """One closed step."""
    if moment.pricing is None:
        return memory, Unwatched("not billed by a price list")
    if moment.get("ended_at") is None:
        return memory, Unwatched("no times in this log")
    change = moment.pricing.change
    if change is None:
        return memory, FINE
    dearer = change.factor - 1 if change.factor is not None else 0.0
    left = saving_usd(moment)
    rest = left * dearer if left is not None and change.factor is not None else None
    return Memory(change.new.effective_from), Reading(
        level="warning" if dearer >= limits.warn else "info",
        certain=True,
        value=dearer,
        threshold=limits.warn,
        message=f"{change.new.provider}'s prices changed on {change.new.effective_from}: {_rates(change)}",
        advice=advise(
            f"the rest costs {usd_change(rest)}" if rest is not None else "",
            f"--prices {change.new.effective_from} prices the whole run so",
        ),
    )


def _rates(change: PriceChange) -> str:
    """What differs, per million tokens: `sample $1.20 → $1.50`."""
    pairs = [(name, getattr(change.old, name), getattr(change.new, name)) for name in _METERS]
    told = [f"{name} {usd(old)} → {usd(new)}" for name, old, new in pairs if old != new]
    return ", ".join(told).replace("_", " ")


RULE = Rule(
    name="price_change",
    about="a price list that came into force during the run",
    limits=Limits(),
    memory=Memory(),
    severities=("info", "warning"),
    debounce=Debounce(clear=1),
    observe=observe,
)
