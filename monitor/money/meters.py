"""Token counts and their rates: which count is billed on which meter, and what a million of it costs.

The one rule: dollars are linear in tokens, so token sums are kept, and dollars made from them when asked.
"""

from collections.abc import Mapping

from ...models.money import Meter, MeterName
from .pricing import Pricing

MILLION = 1e6
ABSURD = 1e18
"""No run has as many tokens, dollars or seconds."""

STEP_METERS: dict[str, MeterName] = {
    "sampled_tokens": "sample",
    "prefill_tokens": "prefill",
    "prefill_cached_tokens": "prefill_cached",
    "trained_tokens": "train",
    "scored_tokens": "scoring",
    "discarded_sampled_tokens": "discarded",
    "discarded_prefill_tokens": "discarded",
    "discarded_trained_tokens": "discarded",
}
"""Column of a step -> the meter that bills it."""
EVAL_METERS: dict[str, MeterName] = {
    "sampled_tokens": "eval_sample",
    "prefill_tokens": "eval_prefill",
    "prefill_cached_tokens": "eval_prefill",
}
"""Field of an evaluation -> the meter that bills it."""

Count = tuple[MeterName, str]
"""A meter and the column it counts: one meter may add up several columns of different rates."""
ORDER: tuple[MeterName, ...] = (
    "sample",
    "prefill",
    "prefill_cached",
    "train",
    "scoring",
    "discarded",
    "eval_sample",
    "eval_prefill",
)
EVAL_NAMES = frozenset[MeterName](("eval_sample", "eval_prefill"))


def rates_of(pricing: Pricing) -> dict[Count, float]:
    """Dollars per token of every count that has a rate; empty where tokens have no price.

    Cached prompt tokens are billed as prefill where the provider had no cached rate. A teacher's scoring is
    prefill at the teacher's price; a reference model is the policy's own base model and has its price.
    """
    rates, teacher = pricing.rates, pricing.teacher
    if rates is None or pricing.why_unpriced is not None:
        return {}
    cached = rates.prefill if rates.prefill_cached is None else rates.prefill_cached
    per_million: dict[str, float | None] = {
        "sampled_tokens": rates.sample,
        "prefill_tokens": rates.prefill,
        "prefill_cached_tokens": cached,
        "trained_tokens": rates.train,
    }
    table: dict[Count, float] = {}
    per_million["scored_tokens"] = rates.prefill
    if pricing.algorithm == "distill":
        per_million["scored_tokens"] = None if teacher is None else teacher.prefill
    for meters in (STEP_METERS, EVAL_METERS):
        for column, meter in meters.items():
            rate = per_million[column.removeprefix("discarded_")]
            if rate is not None:
                table[meter, column] = rate / MILLION
    return table


class TokenSums:
    """Tokens per count since the run began. A count that was never told is absent, not 0."""

    def __init__(self) -> None:
        self.counts: dict[Count, float] = {}

    def add(self, tokens: Mapping[Count, float]) -> None:
        """Add what one step or evaluation told."""
        for count, number in tokens.items():
            self.counts[count] = self.counts.get(count, 0.0) + number

    def told(self, meter: MeterName) -> bool:
        """Whether any count of this meter was ever told."""
        return any(name == meter for name, _ in self.counts)

    def tokens(self, meter: MeterName) -> float:
        return sum(number for (name, _), number in self.counts.items() if name == meter)

    def meters(self, rates: Mapping[Count, float]) -> list[Meter]:
        """A line per meter that was told; its dollars are None where a count of it has no rate."""
        lines: list[Meter] = []
        for meter in ORDER:
            counts = {count: number for count, number in self.counts.items() if count[0] == meter}
            if counts:
                lines.append(Meter(name=meter, tokens=sum(counts.values()), usd=usd_of(counts, rates)))
        return lines


def sound(value: float | None) -> float | None:
    """A count, an amount or a time; None for what cannot be one: NaN, an infinity, a negative."""
    return value if value is not None and 0 <= value < ABSURD else None


def usd_of(tokens: Mapping[Count, float], rates: Mapping[Count, float]) -> float | None:
    """Dollars of these tokens; None when there are none or one count has no rate."""
    if not tokens or any(count not in rates for count in tokens):
        return None
    return sum(number * rates[count] for count, number in tokens.items())


def known_usd(tokens: Mapping[Count, float], rates: Mapping[Count, float]) -> float | None:
    """Dollars of those tokens that have a rate; None when none has."""
    priced = {count: number for count, number in tokens.items() if count in rates}
    return usd_of(priced, rates)
