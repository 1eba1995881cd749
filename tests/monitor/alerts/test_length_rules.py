"""Responses that grow, shrink, or are cut at the cap."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import TYPE_CHECKING

import pytest

from rltop.models.projection import FinalCost, Projection
from rltop.models.run import RunInfo
from rltop.models.settings import Settings

if TYPE_CHECKING:
    from tests.monitor.alerts.conftest import Told


def noisy(values: list[float], deviation: float, seed: int = 0) -> list[float]:
    random = Random(seed)
    return [value * (1 + random.gauss(0, deviation)) for value in values]


def test_a_clip_ratio_that_climbs_warns_and_then_turns_critical(told_with: Callable[..., Told]) -> None:
    run = told_with(info=RunInfo(first_step=1, max_tokens=2048))
    run.steps("clip_ratio", [0.02] * 10 + [0.15] * 6, clip_reliable=True)
    (alert,) = run.alerts("clip_ratio")
    assert alert.severity == "warning"
    run.steps("clip_ratio", [0.44] * 12, clip_reliable=True)
    (alert,) = run.alerts("clip_ratio")
    assert alert.severity == "critical"
    assert alert.message == "clip ratio 44 % of responses cut at 2 048"
    assert alert.advice.startswith("raise the cap or add a length term")


def test_a_clip_ratio_that_falls_back_clears(told: Told) -> None:
    told.steps("clip_ratio", [0.02] * 10 + [0.2] * 8 + [0.01] * 20, clip_reliable=True)
    (alert,) = told.alerts("clip_ratio")
    assert alert.cleared_step is not None
    assert alert.cleared_step > alert.step


def test_one_bad_batch_does_not_warn_of_clipping(told: Told) -> None:
    told.steps("clip_ratio", [0.02] * 12 + [0.2] + [0.02] * 20, clip_reliable=True)
    assert told.alerts("clip_ratio") == []


def test_a_run_that_clips_as_much_as_it_always_did_is_not_warned_of(told: Told) -> None:
    told.steps("clip_ratio", noisy([0.18] * 80, 0.05), clip_reliable=True)
    assert told.alerts("clip_ratio") == []


def test_a_clip_ratio_that_the_source_disowns_is_not_watched(told: Told) -> None:
    told.steps("clip_ratio", [0.0] * 10 + [0.9] * 20, clip_reliable=False, clip_why="measured otherwise")
    assert told.alerts("clip_ratio") == []
    assert not told.watch("clip_ratio").watched
    assert told.watch("clip_ratio").why == "measured otherwise"


def test_growing_responses_are_told_with_what_they_will_cost(told_with: Callable[..., Told]) -> None:
    run = told_with(info=RunInfo(first_step=1, total_steps=100))
    run.steps("response_length_mean", noisy([500.0] * 10, 0.02), usd=1.0)
    run.bill = run.bill.model_copy(update={"spent_usd": 30.0})
    run.projection = Projection(final_usd=FinalCost(p10=150, p50=180, p90=220))
    run.steps("response_length_mean", [500 * 1.06**n for n in range(1, 21)], usd=2.0)
    (alert,) = run.alerts("length_growth")
    assert alert.severity == "critical"
    assert alert.message == "length ×3.2 in 30 steps, still growing"
    # 180 at the end, 30 spent, and 70 steps that used to cost one dollar each.
    assert alert.advice.startswith("+$80 at this rate")


def test_growth_that_has_no_price_is_told_without_one(told: Told) -> None:
    told.steps("response_length_mean", [500.0] * 10 + [500 * 1.06**n for n in range(1, 21)])
    (alert,) = told.alerts("length_growth")
    assert "$" not in alert.advice
    assert alert.advice


@pytest.mark.parametrize("deviation", [0.015, 0.05, 0.1])
@pytest.mark.parametrize("seed", range(5))
def test_responses_that_only_vary_are_quiet(told: Told, deviation: float, seed: int) -> None:
    told.steps("response_length_mean", noisy([700.0] * 200, deviation, seed))
    assert told.alerts("length_growth") == []
    assert told.alerts("length_collapse") == []


def test_a_small_lasting_rise_is_quiet(told: Told) -> None:
    told.steps("response_length_mean", noisy([700.0] * 20 + [780.0] * 100, 0.02))
    assert told.alerts("length_growth") == []


def test_the_first_ten_steps_are_only_learnt_from(told: Told) -> None:
    told.steps("response_length_mean", [100.0, 200.0, 400.0, 380.0, 410.0])
    watch = told.watch("length_growth")
    assert watch.watched
    assert "5 of 10" in watch.why
    assert told.alerts("length_growth") == []


def test_responses_that_shrink_to_almost_nothing_are_told(told: Told) -> None:
    told.steps("response_length_mean", [500.0] * 10 + [500 * 0.7**n for n in range(1, 20)])
    (alert,) = told.alerts("length_collapse")
    assert alert.severity == "critical"


def test_learning_to_be_brief_is_no_collapse(told: Told) -> None:
    told.steps("response_length_mean", [500.0] * 10 + [max(220.0, 500 - 10 * n) for n in range(60)])
    assert told.alerts("length_collapse") == []


def test_a_length_threshold_can_be_set(told_with: Callable[..., Told]) -> None:
    run = told_with(settings=Settings(alerts={"length_growth": {"warn": 4.0, "critical": 8.0}}))
    run.steps("response_length_mean", [500.0] * 10 + [1200.0] * 10)
    assert run.alerts("length_growth") == []


@pytest.mark.parametrize("seed", range(6))
def test_a_clip_ratio_of_few_responses_that_only_jumps_warns_of_nothing(
    told_with: Callable[..., Told], seed: int
) -> None:
    run, random = told_with(), Random(seed)
    for _ in range(400):
        share = sum(random.random() < 0.2 for _ in range(16)) / 16
        run.step(clip_ratio=share, clip_reliable=True)
    assert {alert.severity for alert in run.alerts("clip_ratio")} <= {"info"}


def test_a_clip_ratio_of_few_responses_that_rises_for_good_is_critical_once(told: Told) -> None:
    random = Random(3)
    for step in range(200):
        chance = 0.05 if step < 100 else 0.8
        share = sum(random.random() < chance for _ in range(8)) / 8
        told.step(clip_ratio=share, clip_reliable=True)
    loud = [alert for alert in told.alerts("clip_ratio") if alert.severity != "info"]
    assert [alert.severity for alert in loud] == ["critical"]
    assert 100 < loud[0].step <= 110
    assert "on average" in loud[0].message
