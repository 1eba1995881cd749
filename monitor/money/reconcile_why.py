"""What a difference between the provider's usage and our bill comes from. Pure.

The one rule: a reason is given only where the two sides show it; what they do not explain is called that.
"""

from dataclasses import dataclass

from ...models import text

SAME = 0.001
"""Relative difference that rounding explains."""
HALF_A_CENT = 0.005


@dataclass(frozen=True, slots=True)
class Side:
    """What one side has on a meter: tokens (or GB-hours, or checkpoints) and dollars."""

    quantity: float | None = None
    usd: float | None = None


@dataclass(frozen=True, slots=True)
class Facts:
    """What reasons are made of."""

    newest: str
    """End of the newest hour of usage."""
    lagging: bool = False
    """That is before the run's last sign of life, which was not long ago."""
    in_flight: bool = False
    """The run goes on, or broke off with work under way."""
    trained_upper_bound: bool = False
    uncounted_cache: bool = False
    """The provider billed cache hits, and the log does not count them."""
    storage_apart_usd: float | None = None
    """Storage of the whole organisation, billed to no session."""
    unpriced: float = 0.0
    """Tokens that the provider has not priced."""
    logged: bool = False
    """The bill is the framework's own sum, and not that of our meters."""
    left_out: tuple[str, ...] = ()
    """What the bill itself says that it leaves out."""


def why(meter: str, theirs: Side, ours: Side, facts: Facts) -> str:
    """A few words on one line of the table."""
    if meter == "storage":
        return "not on our bill"
    if meter == "checkpoint":
        return "has no price of its own"
    if facts.uncounted_cache and meter == "prefill_cached":
        return "cache hits, which the log does not count"
    a, b = theirs.quantity or 0.0, ours.quantity or 0.0
    if abs(a - b) <= SAME * max(a, b):
        return _same_tokens(theirs, ours, equal=a == b)
    return _fewer(meter, facts) if a < b else _more(meter, facts)


def _same_tokens(theirs: Side, ours: Side, *, equal: bool) -> str:
    if theirs.usd is None:
        return "not priced there yet"
    if ours.usd is None:
        return "not priced here"
    if abs(theirs.usd - ours.usd) <= max(HALF_A_CENT, SAME * ours.usd):
        return "agrees" if equal else "rounding"
    tokens = theirs.quantity or 1.0
    return f"their rate is ${1e6 * theirs.usd / tokens:.3g} per million, ours ${1e6 * ours.usd / tokens:.3g}"


def _fewer(meter: str, facts: Facts) -> str:
    """They count fewer tokens than we do."""
    if facts.uncounted_cache and meter == "prefill":
        return "the rest were cache hits"
    if facts.lagging:
        return "the last hours are not in yet"
    if facts.trained_upper_bound and meter == "train":
        return "ours is an upper bound: turns share their prefix"
    return "unexplained: fewer there; is a session missing?"


def _more(meter: str, facts: Facts) -> str:
    """They count more tokens than we do."""
    if meter == "train":
        return "steps that the log does not have" if facts.in_flight else "unexplained: more there"
    if facts.in_flight:
        return "rollouts in flight, failed requests"
    if facts.left_out:
        return "work that the log does not count"
    return "unexplained: more there"


def notes_of(facts: Facts) -> tuple[str, ...]:
    """What is to be said of the whole table, one line each."""
    notes: list[str] = []
    if facts.lagging:
        notes.append(f"usage is in until {facts.newest}, and the run went on: the rest follows within hours")
    if facts.unpriced:
        notes.append(
            f"{text.tokens(facts.unpriced)} tokens have no price there yet: a day is priced when it agrees "
            "with the invoice"
        )
    if facts.storage_apart_usd:
        notes.append(
            f"storage of the whole organisation in these days: {text.usd(facts.storage_apart_usd)}, "
            "billed to no session"
        )
    if facts.logged:
        notes.append("our total is what the framework logged; the lines are our own meters")
    return (*notes, *facts.left_out)
