"""The budget: likely to break, almost sure to break, broken.

P(final cost > budget) from the projection: above `warn` for two steps amber; a projection moves slowly of
itself, so it need not wait for more. Above `critical` for three red, but only where the budget would break
even if the steps from now on came back to what they cost at first, as fast as they left it: lengths that have
exploded do mend, and no projection knows. Red too when even the cheapest step so far, times the steps to go,
does not fit. What has been spent already is a fact and needs no second look.
"""

from dataclasses import dataclass
from typing import NamedTuple

from ...models.text import percent, usd
from ..moment import Moment
from .baseline import Baseline
from .rule import Debounce, Reading, Rule, Unwatched
from .stakes import advise, remaining_steps

_BASE_STEPS = 10
_RISEN = 1.1
"""A step costs more than at first from here on."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Probabilities from 0 to 1."""

    warn: float = 0.5
    critical: float = 0.9
    clear: float = 0.35


class Memory(NamedTuple):
    """What steps cost, dollars."""

    least_usd: float | None = None
    """The cheapest so far."""
    steps: Baseline = Baseline()
    """At first, and now."""
    peak_usd: float = 0.0
    """The most that they have come to since they left what they cost at first."""
    risen: int = 0
    """In how many steps that was."""
    fallen: int = 0
    """Steps since then."""
    aside_usd: float = 0.0
    """All evaluations and checkpoints so far."""


def observe(memory: Memory, moment: Moment, limits: Limits) -> tuple[Memory, Reading | Unwatched]:
    """One closed step."""
    memory = _remember(memory, moment)
    budget = moment.settings.budget_usd
    if budget is None:
        return memory, Unwatched("no budget: --budget USD")
    spent = moment.spent_usd
    if spent is None:
        return memory, Unwatched("this run has no price, so no budget can be held")
    if spent > budget:
        return memory, _broken(spent, budget)
    least = _least_final_usd(memory, moment, spent)
    p = moment.projection.p_over_budget
    if least is not None and least > budget:
        return memory, Reading(
            level="critical",
            value=least,
            threshold=budget,
            message=f"budget {usd(budget)} will break: {usd(least)} even at the cheapest step so far",
            advice=_advice(moment),
        )
    if p is None:
        return memory, Reading(note="waits for a projection")
    good = p < limits.clear
    if p <= limits.warn:
        return memory, Reading(good=good, value=p, threshold=limits.warn)
    critical = p > limits.critical and _breaks_if_mended(memory, moment, spent, budget)
    return memory, Reading(
        level="critical" if critical else "warning",
        value=p,
        threshold=limits.critical if critical else limits.warn,
        message=f"over the budget of {usd(budget)} with a chance of {percent(p)}",
        advice=_advice(moment),
    )


def tick(memory: Memory, moment: Moment, limits: Limits) -> tuple[Memory, Reading | Unwatched | None]:
    """Between steps only the spending counts: GPUs are paid for while nothing moves."""
    budget, spent = moment.settings.budget_usd, moment.spent_usd
    if budget is None:
        return memory, Unwatched("no budget: --budget USD")
    return memory, _broken(spent, budget) if spent is not None and spent > budget else None


def _broken(spent: float, budget: float) -> Reading:
    return Reading(
        level="critical",
        certain=True,
        value=spent,
        threshold=budget,
        message=f"budget broken: {usd(spent)} of {usd(budget)} spent",
        advice="stop the run, or raise the budget",
    )


def _least_final_usd(memory: Memory, moment: Moment, spent: float) -> float | None:
    steps = remaining_steps(moment)
    if steps is None or memory.least_usd is None:
        return None
    return spent + steps * memory.least_usd


def _remember(memory: Memory, moment: Moment) -> Memory:
    cost = moment.cost
    if cost is None or cost.usd is None or cost.usd <= 0:
        return memory
    steps = memory.steps.add(cost.usd, _BASE_STEPS)
    peak_usd, risen, fallen = memory.peak_usd, memory.risen, memory.fallen + 1
    if steps.now is None or steps.usual is None or steps.now <= _RISEN * steps.usual:
        peak_usd, risen, fallen = 0.0, 0, 0
    elif steps.now >= peak_usd:
        peak_usd, risen, fallen = steps.now, risen + fallen, 0
    return Memory(
        least_usd=min(cost.usd, memory.least_usd or cost.usd),
        steps=steps,
        peak_usd=peak_usd,
        risen=risen,
        fallen=fallen,
        aside_usd=memory.aside_usd + (cost.eval_usd or 0.0) + (cost.checkpoint_usd or 0.0),
    )


def _breaks_if_mended(memory: Memory, moment: Moment, spent: float, budget: float) -> bool:
    """Whether it breaks although the steps from now on cost less and less, in a straight line and as fast as
    they had risen, or as they are falling already if that is faster, down to what they cost at first."""
    to_go, now, first = remaining_steps(moment), memory.steps.now, memory.steps.usual
    if to_go is None or now is None or first is None:
        return True
    above = max(0.0, now - first)
    rise = (memory.peak_usd - first) / max(1, memory.risen)
    fall = (memory.peak_usd - now) / memory.fallen if memory.fallen else 0.0
    slope = max(rise, fall)
    steps = min(float(to_go), above / slope) if slope > 0 else 0.0
    extra = steps * above - slope * steps * (steps + 1) / 2
    aside = to_go * memory.aside_usd / max(1, memory.steps.seen)
    return spent + to_go * min(now, first) + max(0.0, extra) + aside > budget


def _advice(moment: Moment) -> str:
    projection = moment.projection
    end = f"{usd(projection.final_usd.p50)} at the end" if projection.final_usd is not None else ""
    step = projection.budget_breaks_at_step
    return advise(end, f"breaks at step {step}" if step is not None else "")


RULE = Rule(
    name="budget",
    about="the budget, as projected and as spent",
    limits=Limits(),
    memory=Memory(),
    debounce=Debounce(warning=(2, 2), critical=(3, 3)),
    observe=observe,
    tick=tick,
)
