"""What training itself shows: numbers that break, jump, fall or stand still."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import TYPE_CHECKING

import pytest

from rltop.models.money import Bill
from rltop.models.projection import FinalCost, Projection
from rltop.models.run import RunInfo
from rltop.models.step import Eval

if TYPE_CHECKING:
    from tests.monitor.alerts.conftest import Told

NAN, INF = float("nan"), float("inf")


def noisy(values: list[float], deviation: float, seed: int = 0) -> list[float]:
    random = Random(seed)
    return [value + random.gauss(0, deviation) for value in values]


@pytest.mark.parametrize(
    "name",
    [
        "loss",
        "actor/pg_loss",
        "critic/rewards/mean",
        "critic/score/mean",
        "actor/grad_norm",
        "ppo_kl",
        "actor/entropy",
        "sampling/importance_sampling_ratio/mean",
    ],
)
@pytest.mark.parametrize("value", [NAN, INF, -INF])
def test_what_is_no_number_is_critical_at_once(told: Told, name: str, value: float) -> None:
    told.step(raw={name: 1.0})
    told.step(raw={name: value})
    (alert,) = told.alerts("nan")
    assert (alert.severity, alert.step) == ("critical", 2)
    assert name in alert.message


def test_a_nan_in_a_canonical_quantity_is_told_too(told: Told) -> None:
    told.step(grad_norm=NAN)
    assert "grad_norm" in told.alerts("nan")[0].message


@pytest.mark.parametrize("name", ["critic/rewards/std", "val/reward", "critic/rewards/max", "corr_kl_loss"])
def test_a_nan_where_it_is_usual_is_quiet(told: Told, name: str) -> None:
    told.step(loss=1.0, raw={name: NAN})
    assert told.alerts("nan") == []


def test_ten_clean_steps_clear_a_nan_and_the_next_one_is_a_new_alert(told: Told) -> None:
    told.step(loss=NAN)
    told.steps("loss", [1.0] * 9)
    assert told.alerts("nan")[0].cleared_step is None
    told.step(loss=1.0)
    assert told.alerts("nan")[0].cleared_step == 11
    told.step(loss=NAN)
    assert [alert.cleared_step for alert in told.alerts("nan")] == [11, None]


def test_what_broke_later_than_its_alert_is_told_with_its_own_step(told: Told) -> None:
    told.step(raw={"loss": NAN})
    assert told.alerts("nan")[0].message == "NaN in loss"
    told.step(raw={"loss": NAN, "grad_norm": INF})
    assert told.alerts("nan")[0].message == "NaN in loss and 1 more"
    told.step(raw={"loss": 1.0, "grad_norm": INF})
    assert told.alerts("nan")[0].message == "infinity in grad_norm (from step 2)"
    told.step(raw={"loss": 1.0, "grad_norm": 1.0})
    told.step(raw={"loss": NAN})
    (alert,) = told.alerts("nan")
    assert (alert.step, alert.message) == (1, "NaN in loss (from step 5)")


@pytest.mark.parametrize(("rule", "name"), [("kl_spike", "kl"), ("grad_spike", "grad_norm")])
def test_a_quantity_that_jumps_again_and_again_warns(told: Told, rule: str, name: str) -> None:
    told.steps(name, [*noisy([1.0] * 30, 0.1), 60.0, 80.0, 60.0])
    (alert,) = told.alerts(rule)
    assert alert.severity == "warning"
    assert alert.step in (31, 32)


@pytest.mark.parametrize(("rule", "name"), [("kl_spike", "kl"), ("grad_spike", "grad_norm")])
def test_one_jump_is_told_but_not_warned_of(told: Told, rule: str, name: str) -> None:
    told.steps(name, [*noisy([1.0] * 30, 0.1), 100.0, *noisy([1.0] * 30, 0.1, 1)])
    assert [alert.severity for alert in told.alerts(rule)] == ["info"]
    assert told.alerts(rule)[0].cleared_step is not None


@pytest.mark.parametrize("name", ["kl", "grad_norm"])
def test_a_quantity_that_only_varies_does_not_spike(told: Told, name: str) -> None:
    random = Random(5)
    told.steps(name, [random.lognormvariate(0, 0.4) for _ in range(500)])
    assert told.engine.alerts == ()


def test_entropy_that_falls_to_nothing_warns(told: Told) -> None:
    told.steps("entropy", [0.6] * 10 + [0.6 * 0.8**n for n in range(1, 20)])
    assert [alert.severity for alert in told.alerts("entropy_collapse")] == ["warning"]


def test_entropy_that_falls_a_little_is_quiet(told: Told) -> None:
    told.steps("entropy", noisy([0.6 - 0.002 * n for n in range(100)], 0.02))
    assert told.alerts("entropy_collapse") == []


def test_a_reward_that_falls_below_its_start_is_critical(told: Told) -> None:
    rise = [0.4 + 0.005 * n for n in range(60)]
    fall = [0.7 - 0.03 * n for n in range(24)]
    told.steps("reward_mean", noisy(rise + fall + [0.0] * 10, 0.02))
    (alert,) = told.alerts("reward_collapse")
    assert alert.severity == "critical"
    assert 60 < alert.step < 85


@pytest.mark.parametrize("seed", range(5))
def test_a_reward_that_rises_neither_collapses_nor_stands_still(
    told_with: Callable[..., Told], seed: int
) -> None:
    run = told_with(info=RunInfo(first_step=1, total_steps=94))
    run.steps("reward_mean", noisy([0.5 + 0.3 * n / 94 for n in range(94)], 0.02, seed))
    assert run.alerts("reward_collapse") == []
    assert run.alerts("reward_plateau") == []


def test_a_reward_that_stands_still_is_told_and_not_warned_of(told_with: Callable[..., Told]) -> None:
    run = told_with(info=RunInfo(first_step=1, total_steps=200))
    run.steps("reward_mean", noisy([0.3 + 0.01 * n for n in range(40)] + [0.7] * 80, 0.005))
    (alert,) = run.alerts("reward_plateau")
    assert alert.severity == "info"


def test_once_a_flat_run_is_over_nothing_is_said_to_be_saved(told_with: Callable[..., Told]) -> None:
    run = told_with(info=RunInfo(first_step=1, total_steps=121))
    run.bill = Bill(basis="metered", spent_usd=50.0)
    run.projection = Projection(final_usd=FinalCost(p10=60, p50=70, p90=80))
    rewards = noisy([0.3 + 0.01 * n for n in range(40)] + [0.7] * 80, 0.005)
    run.steps("reward_mean", rewards[:100])
    assert run.alerts("reward_plateau")[0].advice == "stopping now saves $20.00"
    run.steps("reward_mean", rewards[100:])
    assert run.alerts("reward_plateau")[0].advice.startswith("they cost about $")
    run.tick(status="finished")
    assert run.alerts("reward_plateau")[0].advice.startswith("they cost about $")


def test_a_reward_that_stands_still_in_its_last_steps_alone_is_no_news(
    told_with: Callable[..., Told],
) -> None:
    run = told_with(info=RunInfo(first_step=1, total_steps=100))
    run.steps("reward_mean", noisy([0.3 + 0.004 * n for n in range(100)], 0.005))
    for _ in range(10):
        run.tick(status="finished")
    assert run.alerts("reward_plateau") == []


def test_groups_that_all_fail_alike_warn(told: Told) -> None:
    told.steps("zero_variance_groups", [1.0] * 6, reward_mean=0.0)
    assert [alert.severity for alert in told.alerts("zero_variance")] == ["warning"]


def test_groups_that_are_all_solved_are_only_told(told: Told) -> None:
    told.steps("zero_variance_groups", [1.0] * 6, reward_mean=1.0)
    assert [alert.severity for alert in told.alerts("zero_variance")] == ["info"]


def test_an_evaluation_below_its_best_names_the_better_checkpoint(told: Told) -> None:
    for step, score in ((10, 0.60), (20, 0.70), (30, 0.50)):
        told.steps("loss", [0.1] * 10)
        told.tell(Eval(step=step, episodes=500, scores={"accuracy": score}))
    told.step(loss=0.1)
    (alert,) = told.alerts("eval_regression")
    assert "step 20" in alert.advice


def test_an_evaluation_that_falls_within_its_error_is_quiet(told: Told) -> None:
    for score in (0.60, 0.56, 0.58, 0.55):
        told.tell(Eval(step=len(told.state.history), episodes=50, scores={"accuracy": score}))
        told.step(loss=0.1)
    assert told.alerts("eval_regression") == []


def test_a_score_of_which_less_is_better_may_fall(told: Told) -> None:
    for score in (0.9, 0.2):
        told.tell(Eval(step=len(told.state.history), episodes=500, scores={"test/loss": score}))
        told.step(loss=0.1)
    assert told.alerts("eval_regression") == []
