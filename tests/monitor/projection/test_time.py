"""Time to go: pauses apart, evaluations and checkpoints where they fall."""

from itertools import pairwise
from pathlib import Path
from statistics import median

import pytest
from pydantic_core import from_json

from rltop.models.money import StepCost
from rltop.models.projection import Plan, Projection
from rltop.monitor.projection.cadence import Cadence
from rltop.monitor.projection.eta import PauseFilter
from rltop.monitor.projection.projector import Projector

from .runs import after, final, flat, projected


def remaining(plan: Plan, costs: list[StepCost], since: float | None = None) -> float:
    found = after(plan, costs).project(spent_usd=0.0, budget_usd=None, since_last_step_s=since)
    assert found.remaining_s is not None
    assert found.remaining_s.p10 <= found.remaining_s.p50 <= found.remaining_s.p90
    return found.remaining_s.p50


def with_evals(steps: int, every: int, first: int = 0) -> list[StepCost]:
    return [
        cost.model_copy(update={"eval_usd": 50.0, "eval_s": 300.0}) if cost.step % every == first else cost
        for cost in flat(steps)
    ]


def test_a_pause_does_not_bend_the_time_to_go() -> None:
    plan = Plan(total_steps=60, first_step=1)
    paused = flat(30)
    paused[14] = paused[14].model_copy(update={"duration_s": 36_459.0})
    assert remaining(plan, paused) == pytest.approx(remaining(plan, flat(30)), rel=0.02)


def test_a_pause_on_rented_gpus_does_not_bend_the_cost_to_come() -> None:
    plan = Plan(total_steps=60, first_step=1, usd_per_hour=36.0)
    costs = [cost.model_copy(update={"usd": 0.6, "usd_at_cap": 2.4}) for cost in flat(30)]
    costs[14] = costs[14].model_copy(update={"duration_s": 36_000.0, "usd": 360.0, "usd_at_cap": 1440.0})
    assert final(plan, costs).p50 == pytest.approx(29 * 0.6 + 360 + 30 * 0.6, rel=0.02)


def test_three_long_steps_in_a_row_are_how_the_run_goes_now() -> None:
    seen = PauseFilter()
    shares = [seen.work_share(seconds) for seconds in [60.0] * 6 + [600.0] * 4]
    assert shares[:6] == [1.0] * 6
    assert shares[6] == pytest.approx(0.1)
    assert shares[8:] == [1.0, 1.0]
    assert seen.pauses == 0


def test_a_step_under_way_counts_for_what_is_done_of_it_and_never_for_more_than_itself() -> None:
    plan = Plan(total_steps=40, first_step=1)
    assert remaining(plan, flat(20), since=30) == pytest.approx(1170)
    assert remaining(plan, flat(20), since=5000) == pytest.approx(1140)


def test_evaluations_are_projected_by_the_cadence_of_the_log() -> None:
    plan = Plan(total_steps=60, first_step=1)
    assert final(plan, with_evals(30, every=10)).p50 == pytest.approx(600 + 6 * 50)


def test_evaluations_do_not_lengthen_the_ordinary_steps() -> None:
    plan = Plan(total_steps=60, first_step=1)
    assert remaining(plan, with_evals(30, every=10)) == pytest.approx(30 * 60 + 3 * 300)


def test_the_log_beats_the_plan_once_two_gaps_agree() -> None:
    plan = Plan(total_steps=60, first_step=1, eval_every=5)
    assert final(plan, with_evals(30, every=10)).p50 == pytest.approx(600 + 6 * 50)
    assert final(plan, with_evals(10, every=10)).p50 == pytest.approx(600 + 50 + 10 * 50)


def test_a_plan_that_the_log_contradicts_is_told() -> None:
    seen = Cadence()
    for step in (10, 20, 30):
        seen.observe(step, 1.0, None, None)
    assert seen.contradicts(5)
    assert not seen.contradicts(10)
    assert not seen.contradicts(None)


def test_a_plan_that_the_log_contradicts_is_named_in_the_projection() -> None:
    costs = with_evals(30, every=10)
    kept = projected(Plan(total_steps=60, first_step=1, eval_every=10), costs)
    broken = projected(Plan(total_steps=60, first_step=1, eval_every=5), costs)
    assert kept.notes == ()
    assert broken.notes == ("evaluations come every 10 steps, not every 5 as configured",)


def test_an_evaluation_at_the_end_is_counted_once() -> None:
    seen = Cadence()
    for step in (10, 20, 30):
        seen.observe(step, 1.0, None, None)
    assert seen.to_come(after=30, last=60, planned=None, at_end=True) == 3
    assert seen.to_come(after=30, last=65, planned=None, at_end=True) == 4
    assert seen.to_come(after=60, last=60, planned=None, at_end=True) == 0


def test_what_is_still_to_come_adds_up_wherever_it_is_cut() -> None:
    seen = Cadence(last_step=7, gaps=[7, 7])
    cuts = [7, 9, 14, 15, 40, 41, 100]
    parts = [seen.to_come(start, end, None, None) for start, end in pairwise(cuts)]
    assert sum(parts) == seen.to_come(7, 100, None, None) == 13


def test_checkpoints_are_projected_as_they_were_saved() -> None:
    saved = [
        cost.model_copy(update={"checkpoint_usd": 3.0}) if cost.step % 10 == 0 else cost for cost in flat(30)
    ]
    found = projected(Plan(total_steps=50, first_step=1, save_every=10), saved)
    assert found.final_usd is not None
    assert found.final_usd.p50 == pytest.approx(500 + 5 * 3)


def test_the_last_batch_of_a_data_set_may_be_short() -> None:
    whole, short = (Plan(total_steps=20, last_batch_may_be_short=may) for may in (False, True))
    ends: list[Projection] = []
    for plan in (whole, short):
        projector = Projector(plan)
        for step in range(10):
            projector.observe(StepCost(step=step, usd=1.0, duration_s=60.0, response_length=500.0))
        ends.append(projector.project(spent_usd=10.0, budget_usd=None))
    usd = [end.final_usd for end in ends if end.final_usd is not None]
    left = [end.remaining_s for end in ends if end.remaining_s is not None]
    assert usd[0].p50 == usd[1].p50
    assert usd[0].p10 - usd[1].p10 == pytest.approx(0.9, abs=0.1)
    assert left[0].p10 - left[1].p10 == pytest.approx(54, abs=6)


def test_time_that_is_paid_by_the_hour_is_bounded_like_its_dollars() -> None:
    projector = Projector(Plan(total_steps=94, max_tokens=2000, usd_per_hour=36.0))
    for step in range(30):
        length = 500.0 * 1.04**step
        seconds = 100.0 * 1.04**step
        usd = seconds / 100
        projector.observe(
            StepCost(
                step=step, usd=usd, usd_at_cap=usd * 2000 / length, duration_s=seconds, response_length=length
            )
        )
    told = projector.project(spent_usd=60.0, budget_usd=None)
    assert told.final_usd is not None
    assert told.remaining_s is not None
    dollars_left = told.final_usd.p90 - 60.0
    assert told.remaining_s.p90 == pytest.approx(dollars_left / 36.0 * 3600, rel=0.15)


@pytest.mark.parametrize("at", [{0}, {1}, {2}, {0, 1}, {1, 3}, {2, 9}])
def test_a_pause_within_the_first_steps_does_not_bend_the_time_to_go(at: set[int]) -> None:
    plan = Plan(total_steps=60, first_step=1)
    seconds = [36_459.0 if step in at else 290.0 + step % 3 for step in range(30)]
    costs = [
        cost.model_copy(update={"duration_s": took}) for cost, took in zip(flat(30), seconds, strict=True)
    ]
    for done in (3, 4, 5, 8, 30):
        if len(at & set(range(done))) * 2 < done:
            assert remaining(plan, costs[:done]) == pytest.approx((60 - done) * 291, rel=0.02)


def test_steps_that_grow_evenly_longer_are_no_pauses() -> None:
    seen = PauseFilter.over([60.0, 90.0, 140.0, 200.0, 300.0])
    assert [seen.work_share(seconds) for seconds in (60.0, 90.0, 140.0, 200.0, 300.0)] == [1.0] * 5


def test_a_first_step_that_was_the_short_one_is_no_measure_of_the_others() -> None:
    plan = Plan(total_steps=60, first_step=1)
    costs = flat(12, seconds=600.0)
    costs[0] = costs[0].model_copy(update={"duration_s": 20.0})
    assert remaining(plan, costs) == pytest.approx(48 * 600, rel=0.1)


def test_pauses_of_real_step_times_do_not_bend_the_time_to_go(shared_data: Path) -> None:
    rows = from_json((shared_data / "series" / "real-runs.json").read_bytes())
    timed = [row["step_time_s"] for row in rows if row["step_time_s"]]
    assert timed
    for seconds in timed:
        plan, usual = Plan(total_steps=len(seconds), first_step=1), median(seconds)
        costs = [StepCost(step=step, duration_s=min(took, 5 * usual)) for step, took in enumerate(seconds, 1)]
        half = len(costs) // 2
        paused = list(costs)
        for at in (1, half // 2):
            paused[at] = paused[at].model_copy(update={"duration_s": 126 * usual})
        assert remaining(plan, paused[:half]) == pytest.approx(remaining(plan, costs[:half]), rel=0.15)
