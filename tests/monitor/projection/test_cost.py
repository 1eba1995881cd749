"""The projected cost: ordered, under the cap, free of units, the same after a restart."""

from pathlib import Path
from statistics import median
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as some
from pydantic_core import from_json, to_json

from rltop.models.money import StepCost
from rltop.models.projection import FinalCost, Plan
from rltop.monitor.projection.projector import Projector

from .families import SHAPES, MadeRun, calm_run, exploding_run, make
from .runs import after, billed_by_the_hour, billed_by_tokens, final, flat, plan_of, projected

FAMILIES = sorted(SHAPES)


def kept(run: MadeRun, share: float) -> list[StepCost]:
    return billed_by_tokens(run)[: max(3, round(len(run.lengths) * share))]


def test_there_are_at_least_fourteen_families() -> None:
    assert len(FAMILIES) >= 14


@pytest.mark.parametrize("family", FAMILIES)
def test_quantiles_are_ordered_and_never_above_the_cap_or_below_what_is_spent(family: str) -> None:
    run = make(family, 5, steps=60)
    projector, spent = Projector(plan_of(run)), 0.0
    for cost in billed_by_tokens(run)[:-1]:
        projector.observe(cost)
        spent += cost.usd or 0.0
        found = projector.project(spent_usd=spent, budget_usd=None, dollars_only=True).final_usd
        if cost.step < 3:
            assert found is None
            continue
        assert found is not None
        assert found.at_cap is not None
        assert spent <= found.p10 <= found.p50 <= found.p90 <= found.at_cap


@pytest.mark.parametrize("family", ["line up", "jump down", "wandering"])
def test_dollars_in_another_currency_change_nothing_else(family: str) -> None:
    run = make(family, 3, steps=80)
    costs = kept(run, 0.4)
    dear = [
        cost.model_copy(update={"usd": (cost.usd or 0) * 1000, "usd_at_cap": (cost.usd_at_cap or 0) * 1000})
        for cost in costs
    ]
    one, thousand = final(plan_of(run), costs), final(plan_of(run), dear)
    assert thousand.p10 == pytest.approx(1000 * one.p10)
    assert thousand.p50 == pytest.approx(1000 * one.p50)
    assert thousand.p90 == pytest.approx(1000 * one.p90)
    assert thousand.at_cap == pytest.approx(1000 * (one.at_cap or 0))


@pytest.mark.parametrize("family", FAMILIES)
def test_a_projector_restored_from_json_goes_on_exactly_as_one_that_never_stopped(family: str) -> None:
    run = make(family, 2, steps=90)
    plan, costs = plan_of(run), billed_by_tokens(run)
    straight = after(plan, costs[:40])
    stored = from_json(to_json(straight.state()))
    restored = Projector.restore(plan, stored)
    for cost in costs[40:70]:
        straight.observe(cost)
        restored.observe(cost)
    spent = sum(run.lengths[:70])
    assert restored.project(spent_usd=spent, budget_usd=2 * spent) == straight.project(
        spent_usd=spent, budget_usd=2 * spent
    )


def test_a_state_stays_small_however_long_the_run() -> None:
    projector = Projector(Plan(total_steps=10_000, first_step=1))
    for cost in flat(3000):
        projector.observe(cost)
    assert len(to_json(projector.state())) < 100_000


def test_the_more_steps_are_to_come_the_wider_the_interval() -> None:
    costs = billed_by_tokens(make("wandering", 1, steps=60))[:30]
    widths: list[float] = []
    for total in (35, 60, 120, 300):
        found = final(Plan(total_steps=total, first_step=1), costs)
        to_come = found.p50 - sum(cost.usd or 0 for cost in costs)
        widths.append((found.p90 - found.p10) / to_come)
    assert widths == sorted(widths)
    assert widths[0] < widths[-1]


def test_a_flat_run_is_projected_flat() -> None:
    assert final(Plan(total_steps=100, first_step=1), flat(20)).p50 == pytest.approx(1000)


def test_a_calm_run_has_a_narrow_interval_by_its_tenth_step() -> None:
    widths: list[float] = []
    for seed in range(15):
        run = calm_run(seed)
        found = final(plan_of(run), billed_by_tokens(run)[:10])
        widths.append((found.p90 - found.p10) / sum(run.lengths))
    assert median(widths) <= 0.25


@pytest.mark.parametrize("seed", range(4))
def test_once_an_explosion_shows_the_truth_is_no_longer_above_p90(seed: int) -> None:
    run = exploding_run(seed)
    projector, spent = Projector(plan_of(run)), 0.0
    for cost in billed_by_tokens(run)[:-1]:
        projector.observe(cost)
        spent += cost.usd or 0.0
        found = projector.project(spent_usd=spent, budget_usd=None, dollars_only=True).final_usd
        if cost.step >= 28:
            assert found is not None
            assert found.p90 >= 0.999 * sum(run.lengths)


@pytest.mark.parametrize("seed", range(4))
def test_a_run_that_explodes_may_yet_mend(seed: int) -> None:
    run = exploding_run(seed)
    mended = [*run.lengths[:41], *[max(700.0, 1556.0 - 45 * past) for past in range(53)]]
    projector, spent = Projector(plan_of(run)), 0.0
    for cost in billed_by_tokens(run)[:41]:
        projector.observe(cost)
        spent += cost.usd or 0.0
        found = projector.project(spent_usd=spent, budget_usd=1.05 * sum(mended), dollars_only=True)
        assert found.p_over_budget is None or found.p_over_budget < 0.9


def test_on_rented_gpus_an_explosion_is_bounded_by_the_time_of_a_step_at_the_cap() -> None:
    run = exploding_run(1)
    found = final(plan_of(run, usd_per_hour=3600.0), billed_by_the_hour(run)[:35])
    assert found.p90 >= sum(run.seconds)
    assert found.at_cap is not None
    assert found.at_cap < 1.5 * sum(run.seconds)


def test_lengths_above_the_cap_mean_that_the_cap_bounds_nothing() -> None:
    costs = [cost.model_copy(update={"response_length": 5000.0}) for cost in flat(10)]
    found = final(Plan(total_steps=40, first_step=1, max_tokens=2048), costs)
    assert found.at_cap is None


def test_a_finished_run_has_no_width() -> None:
    found = projected(Plan(total_steps=20, first_step=1), flat(20), budget_usd=150)
    assert found.final_usd is not None
    assert found.final_usd.p10 == found.final_usd.p50 == found.final_usd.p90 == 200
    assert found.remaining_s is not None
    assert found.remaining_s.p90 == 0
    assert found.p_over_budget == 1.0


def test_a_run_that_costs_nothing_ends_at_nothing() -> None:
    free = [cost.model_copy(update={"usd": 0.0, "usd_at_cap": 0.0}) for cost in flat(10)]
    found = projected(Plan(total_steps=40, first_step=1), free, budget_usd=5.0)
    assert found.final_usd == FinalCost(p10=0, p50=0, p90=0, at_cap=0)
    assert found.p_over_budget == 0.0
    assert found.remaining_s is not None
    assert found.notes == ()


def test_a_run_of_one_step_waits_and_then_ends_at_what_it_cost() -> None:
    plan = Plan(total_steps=1)
    waiting = Projector(plan).project(spent_usd=0.0, budget_usd=None)
    assert waiting.final_usd is None
    assert waiting.notes
    cost = StepCost(step=0, usd=3.0, duration_s=60.0, response_length=500.0)
    done = after(plan, [cost]).project(spent_usd=3.0, budget_usd=None)
    assert done.final_usd is not None
    assert done.final_usd.p10 == done.final_usd.p90 == 3.0


def test_a_total_that_the_run_has_passed_leaves_nothing_to_project() -> None:
    found = projected(Plan(total_steps=10, first_step=1), flat(25), budget_usd=300)
    assert found.final_usd is not None
    assert found.final_usd.p10 == found.final_usd.p90 == 250
    assert found.p_over_budget == 0.0
    assert found.remaining_s is not None
    assert found.remaining_s.p90 == 0


@pytest.mark.parametrize("plan", [Plan(), Plan(total_steps=50, first_step=1)])
def test_a_budget_that_is_spent_is_broken_whatever_is_still_unknown(plan: Plan) -> None:
    found = projected(plan, flat(2), budget_usd=15)
    assert found.final_usd is None
    assert found.p_over_budget == 1.0


def test_a_constant_run_has_a_narrow_interval() -> None:
    found = final(Plan(total_steps=94, first_step=1), flat(10))
    assert (found.p90 - found.p10) / found.p50 <= 0.25


def test_with_the_total_unknown_nothing_is_projected_and_it_is_said_why() -> None:
    found = projected(Plan(), flat(20), budget_usd=100)
    assert found.final_usd is None
    assert found.remaining_s is None
    assert "--total-steps" in found.notes[0]


def test_the_first_steps_say_that_they_are_too_few() -> None:
    found = projected(Plan(total_steps=20, first_step=1), flat(2))
    assert found.final_usd is None
    assert "warming up" in found.notes[0]


def test_with_no_prices_time_and_length_are_still_projected() -> None:
    costs = [cost.model_copy(update={"usd": None, "usd_at_cap": None}) for cost in flat(20)]
    found = after(Plan(total_steps=40, first_step=1), costs).project(spent_usd=None, budget_usd=None)
    assert found.final_usd is None
    assert found.remaining_s is not None
    assert found.remaining_s.p50 == pytest.approx(1200)
    assert found.response_length_at_end is not None


def test_steps_done_again_after_a_restart_cost_but_are_no_progress() -> None:
    plan = Plan(total_steps=40, first_step=1)
    again = [cost.model_copy(update={"repeated": True}) for cost in flat(20)[10:]]
    assert final(plan, [*flat(20), *again]).p50 == pytest.approx(100 + 400)


def test_a_log_that_tells_every_tenth_step_is_projected_over_the_rows_to_come() -> None:
    rows = [cost.model_copy(update={"step": 10 * cost.step}) for cost in flat(10)]
    assert final(Plan(total_steps=200, first_step=1), rows).p50 == pytest.approx(200)


def test_the_budget_breaks_at_the_step_that_goes_over_it() -> None:
    plan = Plan(total_steps=100, first_step=1)
    found = projected(plan, flat(20), budget_usd=605)
    assert found.budget_breaks_at_step == 61
    assert found.p_over_budget is not None
    assert found.p_over_budget > 0.9
    assert projected(plan, flat(20), budget_usd=5000).budget_breaks_at_step is None


def test_the_probability_of_going_over_falls_as_the_budget_grows() -> None:
    run = make("wandering", 4, steps=80)
    costs = kept(run, 0.3)
    middle = final(plan_of(run), costs).p50
    over = [
        projected(plan_of(run), costs, budget_usd=share * middle).p_over_budget
        for share in (0.5, 0.9, 1.1, 3)
    ]
    assert all(value is not None for value in over)
    assert over == sorted(over, key=lambda value: -(value or 0.0))
    assert (over[0] or 0) > 0.5 > (over[-1] or 0)


def test_the_fan_starts_from_what_is_spent_never_falls_and_ends_at_the_final_cost() -> None:
    run = make("jump up", 7, steps=100)
    costs = kept(run, 0.4)
    found = projected(plan_of(run), costs)
    middles = [point.cost.p50 for point in found.fan if point.cost is not None]
    assert 1 < len(middles) <= 48
    assert middles == sorted(middles)
    assert found.fan[-1].step == 100
    assert found.final_usd is not None
    assert middles[-1] == pytest.approx(found.final_usd.p50)


anything = some.none() | some.floats()


@given(
    some.lists(some.tuples(some.integers(0, 60), anything, anything, anything, anything), max_size=40),
    some.integers(1, 80),
)
def test_no_figure_that_a_log_may_hold_stops_the_projection(
    told: list[tuple[int, float | None, float | None, float | None, float | None]], total: int
) -> None:
    projector = Projector(Plan(total_steps=total, max_tokens=512))
    for step, usd, at_cap, seconds, length in told:
        projector.observe(
            StepCost(step=step, usd=usd, usd_at_cap=at_cap, duration_s=seconds, response_length=length)
        )
    projector.project(spent_usd=1.0, budget_usd=2.0)


@pytest.mark.parametrize("odd", [5e-324, 1e-300, 1e300, float("inf"), float("nan"), -3.0, 0.0])
def test_a_figure_that_cannot_be_is_passed_over(odd: float) -> None:
    plan = Plan(total_steps=60, first_step=1)
    costs = flat(30)
    costs[9:12] = [
        cost.model_copy(update={"usd": odd, "usd_at_cap": odd, "duration_s": odd, "response_length": odd})
        for cost in costs[9:12]
    ]
    found = after(plan, costs).project(spent_usd=270.0, budget_usd=None)
    assert found.final_usd is not None
    assert found.final_usd.p50 == pytest.approx(270 + 300)
    assert found.remaining_s is not None
    assert found.remaining_s.p50 == pytest.approx(1800)


def test_real_runs_are_covered_about_as_often_as_promised(shared_data: Path) -> None:
    rows = from_json((shared_data / "series" / "real-runs.json").read_bytes())
    inside = 0
    for row in rows:
        lengths = [float(length) for length in row["response_length"]]
        run = MadeRun("real", row["max_tokens"] or 10**6, lengths, [60.0] * len(lengths))
        plan = Plan(total_steps=len(lengths), first_step=1, max_tokens=row["max_tokens"])
        found = final(plan, billed_by_tokens(run)[: len(lengths) // 2])
        inside += found.p10 <= sum(lengths) <= found.p90
    assert 0.7 <= inside / len(rows) <= 0.97


@pytest.mark.parametrize("done", [0, 1, 2, 4, 5, 6])
def test_a_projector_restored_among_the_first_steps_goes_on_exactly(done: int) -> None:
    run = make("hill", 1, steps=60)
    plan, costs = plan_of(run), billed_by_tokens(run)
    straight = after(plan, costs[:done])
    restored = Projector.restore(plan, from_json(to_json(straight.state())))
    for cost in costs[done:30]:
        straight.observe(cost)
        restored.observe(cost)
    assert restored.state() == straight.state()


def test_a_step_late_in_a_long_run_is_projected_in_next_to_no_time() -> None:
    projector = Projector(Plan(total_steps=20_000, first_step=1, max_tokens=2048))
    costs, took = flat(2200), list[float]()
    for cost in costs:
        started = process_time()
        projector.observe(cost)
        projector.project(spent_usd=10.0 * cost.step, budget_usd=None, dollars_only=True)
        took.append(process_time() - started)
    # A tenth of this is what bench/projection_speed.py measures and what is promised.
    assert median(took[2000:]) < 0.002
