"""Runs as the projector meets them: costs step by step, in tokens' worth or by the hour."""

from collections.abc import Iterable

from rltop.models.money import StepCost
from rltop.models.projection import FinalCost, Plan, Projection
from rltop.monitor.projection.projector import Projector

from .families import MadeRun


def billed_by_tokens(run: MadeRun) -> list[StepCost]:
    """A dollar a token, so that a step at the cap costs the cap."""
    return [
        StepCost(step=step, usd=length, usd_at_cap=run.cap, response_length=length, duration_s=seconds)
        for step, (length, seconds) in enumerate(zip(run.lengths, run.seconds, strict=True), 1)
    ]


def billed_by_the_hour(run: MadeRun) -> list[StepCost]:
    """A dollar a second; at the cap in proportion to length, as the ledger has it."""
    return [
        StepCost(
            step=step,
            usd=seconds,
            usd_at_cap=seconds * run.cap / length,
            response_length=length,
            duration_s=seconds,
        )
        for step, (length, seconds) in enumerate(zip(run.lengths, run.seconds, strict=True), 1)
    ]


def plan_of(run: MadeRun, usd_per_hour: float | None = None) -> Plan:
    """All of its steps, counted from 1, under its cap."""
    return Plan(total_steps=len(run.lengths), first_step=1, max_tokens=run.cap, usd_per_hour=usd_per_hour)


def flat(steps: int, usd: float = 10.0, seconds: float = 60.0) -> list[StepCost]:
    """Steps that are all alike."""
    return [
        StepCost(step=step, usd=usd, usd_at_cap=4 * usd, response_length=500.0, duration_s=seconds)
        for step in range(1, steps + 1)
    ]


def after(plan: Plan, costs: Iterable[StepCost]) -> Projector:
    """A projector that has seen these steps."""
    projector = Projector(plan)
    for cost in costs:
        projector.observe(cost)
    return projector


def projected(plan: Plan, costs: list[StepCost], budget_usd: float | None = None) -> Projection:
    """The projection once these steps are done and paid."""
    parts = [part for cost in costs for part in (cost.usd, cost.eval_usd, cost.checkpoint_usd)]
    spent = sum(part for part in parts if part is not None)
    return after(plan, costs).project(spent_usd=spent, budget_usd=budget_usd)


def final(plan: Plan, costs: list[StepCost]) -> FinalCost:
    """What the run will have cost."""
    cost = projected(plan, costs).final_usd
    assert cost is not None
    return cost
