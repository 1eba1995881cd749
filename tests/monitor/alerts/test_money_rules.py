"""The budget, throughput, and time in which nothing happens."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import TYPE_CHECKING

from rltop.models.money import Bill, Meter
from rltop.models.projection import FinalCost, Projection
from rltop.models.run import RunInfo
from rltop.models.settings import Settings

if TYPE_CHECKING:
    from tests.monitor.alerts.conftest import Told


def budgeted(told_with: Callable[..., Told], budget_usd: float = 150.0) -> Told:
    run = told_with(info=RunInfo(first_step=1, total_steps=100), settings=Settings(budget_usd=budget_usd))
    run.bill = Bill(basis="metered", spent_usd=20.0)
    return run


def projected(p_over: float) -> Projection:
    return Projection(
        final_usd=FinalCost(p10=180, p50=233, p90=290), p_over_budget=p_over, budget_breaks_at_step=61
    )


def test_a_budget_that_will_likely_break_is_amber_after_two_steps(told_with: Callable[..., Told]) -> None:
    run = budgeted(told_with)
    run.projection = projected(0.87)
    run.step(usd=1.0)
    assert run.alerts("budget") == []
    run.step(usd=1.0)
    (alert,) = run.alerts("budget")
    assert alert.severity == "warning"
    assert "$150" in alert.message
    assert "87 %" in alert.message
    assert "$233 at the end" in f"{alert.message} {alert.advice}"
    assert "breaks at step 61" in alert.advice


def test_a_budget_that_will_almost_surely_break_is_red(told_with: Callable[..., Told]) -> None:
    run, spent = budgeted(told_with, budget_usd=225.0), 0.0
    for step in range(30):
        usd = 2.0 + 0.1 * max(0, step - 10)
        spent += usd
        run.bill = Bill(basis="metered", spent_usd=spent)
        run.projection = projected(0.95 if step > 25 else 0.1)
        run.step(usd=usd)
    (alert,) = run.alerts("budget")
    assert (alert.severity, alert.step) == ("critical", 28)
    assert alert.threshold == 0.9


def test_a_budget_that_holds_if_the_steps_mend_as_fast_as_they_rose_stays_amber(
    told_with: Callable[..., Told],
) -> None:
    run = budgeted(told_with)
    costs = [0.5] * 15 + [0.5 + 0.25 * n for n in range(10)] + [2.75 - 0.25 * n for n in range(10)]
    run.projection = projected(0.1)
    for step, usd in enumerate(costs):
        run.projection = projected(1.0 if step > 20 else 0.1)
        run.step(usd=usd)
        run.bill = Bill(basis="metered", spent_usd=sum(costs[: step + 1]))
    assert [alert.severity for alert in run.alerts("budget")] == ["warning"]
    # It does not mend after all.
    for _ in range(60):
        run.step(usd=3.0)
        run.bill = Bill(basis="metered", spent_usd=(run.bill.spent_usd or 0.0) + 3.0)
        if run.alerts("budget")[0].severity == "critical":
            break
    assert (run.bill.spent_usd or 0.0) < 100


def test_a_budget_that_comes_within_reach_again_clears(told_with: Callable[..., Told]) -> None:
    run = budgeted(told_with)
    for p_over, steps in ((0.7, 4), (0.45, 6), (0.2, 5)):
        run.projection = projected(p_over)
        for _ in range(steps):
            run.step(usd=1.0)
        if p_over == 0.45:
            # Below the limit, but not yet below the level at which it clears.
            assert run.alerts("budget")[0].cleared_step is None
    assert run.alerts("budget")[0].cleared_step == 15


def test_a_budget_that_cannot_hold_even_at_the_cheapest_step_is_red(told_with: Callable[..., Told]) -> None:
    run = budgeted(told_with)
    run.projection = projected(0.2)
    for _ in range(4):
        run.step(usd=2.0)
    (alert,) = run.alerts("budget")
    assert alert.severity == "critical"
    assert alert.value > 150


def test_a_broken_budget_is_red_at_once_even_between_steps(told_with: Callable[..., Told]) -> None:
    run = budgeted(told_with)
    run.projection = projected(0.1)
    run.step(usd=0.1)
    run.bill = Bill(basis="gpu-hours", spent_usd=150.01)
    run.tick(silent_s=100.0)
    run.tick(silent_s=100.0)
    (alert,) = run.alerts("budget")
    assert (alert.severity, alert.value, alert.threshold) == ("critical", 150.01, 150.0)


def test_without_a_budget_or_a_price_the_budget_is_not_watched(told_with: Callable[..., Told]) -> None:
    run = told_with()
    run.step(usd=1.0)
    assert "no budget" in run.watch("budget").why
    run = told_with(settings=Settings(budget_usd=1.0))
    run.step()
    assert "no price" in run.watch("budget").why


def test_throughput_that_falls_is_told_against_its_first_steps(told: Told) -> None:
    for _ in range(14):
        told.step(mfu_whole_step=0.30, duration_s=60.0)
    for _ in range(12):
        told.step(mfu_whole_step=0.18, duration_s=100.0)
    (alert,) = told.alerts("mfu_drop")
    assert alert.severity == "warning"
    assert alert.message == "MFU down 40 % from steps 3–12"


def test_where_there_is_no_mfu_tokens_per_second_are_watched_and_named(told: Told) -> None:
    for _ in range(14):
        told.step(tokens_per_s=20_000.0, duration_s=60.0)
    for _ in range(12):
        told.step(tokens_per_s=6_000.0, duration_s=200.0)
    (alert,) = told.alerts("mfu_drop")
    assert alert.severity == "critical"
    assert alert.message.startswith("throughput down 70 %")


def test_zero_and_infinite_throughput_are_missing_not_low(told: Told) -> None:
    for _ in range(40):
        told.step(mfu_whole_step=0.0, tokens_per_s=float("inf"), duration_s=60.0)
    assert told.alerts("mfu_drop") == told.alerts("mfu_low") == []
    assert not told.watch("mfu_drop").watched
    assert not told.watch("mfu_low").watched


def test_throughput_that_only_varies_is_quiet(told: Told) -> None:
    random = Random(4)
    for _ in range(300):
        told.step(mfu_whole_step=0.3 * (1 + random.gauss(0, 0.08)), duration_s=60 * random.uniform(0.9, 1.1))
    assert told.alerts("mfu_drop") == []


def test_shorter_steps_that_fill_a_gpu_less_are_no_drop(told: Told) -> None:
    for _ in range(14):
        told.step(mfu_whole_step=0.3, duration_s=60.0)
    for _ in range(30):
        told.step(mfu_whole_step=0.15, duration_s=30.0)
    assert told.alerts("mfu_drop") == []


def test_mfu_that_is_low_in_itself_is_told(told: Told) -> None:
    told.steps("mfu_whole_step", [0.017] * 5)
    (alert,) = told.alerts("mfu_low")
    assert alert.step == 5
    assert "1.7 %" in alert.message


def test_silence_for_longer_than_steps_have_ever_taken_is_a_stall(told: Told) -> None:
    told.steps("duration_s", [100.0] * 10)
    told.tick(silent_s=299.0)
    assert told.alerts("stall") == []
    told.tick(status="stalled", silent_s=301.0)
    (alert,) = told.alerts("stall")
    assert alert.severity == "warning"
    assert "no step for 5 m" in alert.message


def test_looking_at_a_stall_often_raises_it_once(told: Told) -> None:
    told.steps("duration_s", [100.0] * 10)
    for silent_s in range(250, 500):
        told.tick(status="stalled", silent_s=float(silent_s))
        told.tick(status="stalled", silent_s=float(silent_s))
    assert len(told.alerts("stall")) == 1


def test_the_next_step_in_time_ends_a_stall(told: Told) -> None:
    told.steps("duration_s", [100.0] * 10)
    told.tick(status="stalled", silent_s=400.0)
    told.steps("duration_s", [100.0] * 2)
    assert told.alerts("stall")[0].cleared_step is not None


def test_short_steps_are_given_two_minutes_and_untimed_ones_half_an_hour(
    told_with: Callable[..., Told],
) -> None:
    short = told_with()
    short.steps("duration_s", [1.0] * 10)
    short.tick(silent_s=119.0)
    assert short.alerts("stall") == []
    short.tick(status="stalled", silent_s=121.0)
    assert len(short.alerts("stall")) == 1
    fresh = told_with()
    fresh.steps("duration_s", [1.0] * 2)
    fresh.tick(silent_s=1799.0)
    assert fresh.alerts("stall") == []
    fresh.tick(status="stalled", silent_s=1801.0)
    assert len(fresh.alerts("stall")) == 1


def test_an_evaluation_that_is_due_is_no_stall(told_with: Callable[..., Told]) -> None:
    run = told_with(info=RunInfo(first_step=1, eval_every=10))
    run.steps("duration_s", [100.0] * 10)
    run.tick(silent_s=400.0)
    assert run.alerts("stall") == []


def test_a_finished_run_does_not_stall(told: Told) -> None:
    told.steps("duration_s", [100.0] * 10)
    told.tick(status="finished", silent_s=9000.0)
    assert told.alerts("stall") == []


def test_without_times_a_stall_is_not_watched(told: Told) -> None:
    told.steps("reward_mean", [0.5] * 30)
    for _ in range(30):
        told.tick()
    assert told.alerts("stall") == []
    assert "no times" in told.watch("stall").why


def test_a_stall_on_gpus_paid_by_the_hour_says_what_it_costs(told_with: Callable[..., Told]) -> None:
    run = told_with(info=RunInfo(first_step=1, gpus=8))
    gpu = Meter(name="gpu", hours=10.0, usd=50.0)
    run.bill = Bill(basis="gpu-hours", spent_usd=50.0, meters=(gpu,))
    run.steps("duration_s", [60.0] * 10)
    run.tick(status="stalled", silent_s=3600.0)
    assert "$40.00" in run.alerts("stall")[0].advice
