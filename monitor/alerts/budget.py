"""The budget: likely to break, almost sure to break, broken.

P(final cost > budget) from the projection: above `warn` for two steps amber, above `critical` for three
red; a projection moves slowly of itself, so amber need not wait for more. Red too when even the cheapest
step so far, times the steps to go, does not fit. What has been spent already is a fact and needs no
second look.
"""

from dataclasses import dataclass

from ...models.text import percent, usd
from ..moment import Moment
from .rule import Debounce, Reading, Rule, Unwatched
from .stakes import advise, remaining_steps


@dataclass(frozen=True, slots=True)
class Limits:
    """Probabilities from 0 to 1."""

    warn: float = 0.5
    critical: float = 0.9
    clear: float = 0.35


@dataclass(frozen=True, slots=True)
class Memory:
    """The cheapest step so far, dollars."""

    least_usd: float | None = None


def observe(memory: Memory, moment: Moment, limits: Limits) -> tuple[Memory, Reading | Unwatched]:
    """One closed step."""
    usd_step = moment.cost.usd if moment.cost is not None else None
    if usd_step is not None and usd_step > 0:
        memory = Memory(min(usd_step, memory.least_usd or usd_step))
    budget, spent = moment.settings.budget_usd, moment.bill.spent_usd
    if budget is None:
        return memory, Unwatched("no budget: --budget USD")
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
    critical = p > limits.critical
    return memory, Reading(
        level="critical" if critical else "warning",
        value=p,
        threshold=limits.critical if critical else limits.warn,
        message=f"over the budget of {usd(budget)} with a chance of {percent(p)}",
        advice=_advice(moment),
    )


def tick(memory: Memory, moment: Moment, limits: Limits) -> tuple[Memory, Reading | Unwatched | None]:
    """Between steps only the spending counts: GPUs are paid for while nothing moves."""
    budget, spent = moment.settings.budget_usd, moment.bill.spent_usd
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
