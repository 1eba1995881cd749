"""A newer price list has come into force while the run goes on: the rest of it is billed otherwise.

Our bill goes on with the prices of the day on which the run began, so that it does not jump; what new ones
make of the rest is told. Only where the log says when steps ended: else nobody knows which of them came after
the change.
"""

from dataclasses import dataclass
from typing import NamedTuple

from ...models.money import MeterName, TokenPrice
from ...models.text import usd_change
from ..moment import Moment
from .rule import FINE, Debounce, Reading, Rule, Unwatched
from .stakes import advise, saving_usd

_RATE_OF: dict[MeterName, str] = {
    "sample": "sample",
    "prefill": "prefill",
    "prefill_cached": "prefill_cached",
    "train": "train",
    "eval_sample": "sample",
    "eval_prefill": "prefill",
}
_RATES = ("prefill", "prefill_cached", "sample", "train")


@dataclass(frozen=True, slots=True)
class Limits:
    """Shares of what the run costs."""

    warn: float = 0.05
    """Dearer by this much and more is a warning; less, or cheaper, is told."""


class Memory(NamedTuple):
    """Nothing to remember."""


def observe(memory: Memory, moment: Moment, limits: Limits) -> tuple[Memory, Reading | Unwatched]:
    """One closed step."""
    old, new = moment.rates, moment.rates_now
    if old is None:
        return memory, Unwatched("not billed by the price book of the run's day")
    if new is None:
        return memory, Unwatched("no times in this log")
    if new.effective_from <= old.effective_from or not (told := _differences(old, new)):
        return memory, FINE
    factor = _factor(moment, old, new)
    dearer = factor - 1 if factor is not None else 0.0
    left = saving_usd(moment)
    rest = left * dearer if left and factor is not None else None
    return memory, Reading(
        level="warning" if dearer >= limits.warn else "info",
        certain=True,
        value=dearer,
        threshold=limits.warn,
        message=f"prices of {new.model} changed on {new.effective_from}: {told}",
        advice=advise(
            f"the rest costs {usd_change(rest)}" if rest is not None else "",
            f"--prices {new.effective_from} shows the whole run at the new ones",
        ),
    )


def _differences(old: TokenPrice, new: TokenPrice) -> str:
    """What differs, per million tokens: `sample $0.4 → $0.6`."""
    pairs = [(name, _rate(old, name), _rate(new, name)) for name in _RATES]
    return ", ".join(
        f"{name.replace('_', ' ')} ${before:g} → ${after:g}"
        for name, before, after in pairs
        if before != after and before is not None and after is not None
    )


def _factor(moment: Moment, old: TokenPrice, new: TokenPrice) -> float | None:
    """What the tokens so far would cost now, over what they cost then."""
    then = now = 0.0
    for meter in moment.bill.meters:
        name = _RATE_OF.get(meter.name)
        if name is None or meter.tokens is None:
            continue
        before, after = _rate(old, name), _rate(new, name)
        if before is not None and after is not None:
            then += meter.tokens * before
            now += meter.tokens * after
    return now / then if then > 0 else None


def _rate(price: TokenPrice, name: str) -> float | None:
    # Without a rate of their own, cached tokens are billed as prefill.
    return (
        price.prefill if name == "prefill_cached" and price.prefill_cached is None else getattr(price, name)
    )


RULE = Rule(
    name="price_change",
    about="a price list that came into force during the run",
    limits=Limits(),
    memory=Memory(),
    severities=("info", "warning"),
    debounce=Debounce(clear=1),
    observe=observe,
)
