"""Before the third step: what the configuration tells, and how one or two steps take over from it."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from rltop.models.event import Event
from rltop.models.projection import Plan
from rltop.models.run import RunInfo
from rltop.models.settings import Settings, TokenRates
from rltop.models.step import Eval, Step
from rltop.models.value import Quantiles
from rltop.monitor.frame import Frame
from rltop.monitor.money.book import Book
from rltop.monitor.pipeline import Pipeline
from rltop.monitor.projection.prior import expected
from rltop.monitor.projection.projector import Projector

from .runs import after, flat

PRIOR = Quantiles(p10=2.0, p50=8.0, p90=30.0)
RATES = TokenRates(prefill=1.0, sample=3.0, train=3.0)
CONFIGURED = RunInfo(
    framework="tinker",
    platform="tinker",
    algorithm="rl",
    model="any/model",
    multi_turn=False,
    total_steps=50,
    first_step=0,
    groups=16,
    group_size=8,
    max_tokens=1000,
)


def looked_at(*events: Event, settings: Settings | None = None) -> Frame:
    pipeline = Pipeline(settings or Settings(token_rates=RATES), Book.load())
    for event in events:
        pipeline.feed(event, 0.0)
    return pipeline.frame(0.0)


def trained(step: int) -> Step:
    tokens = 16 * 8 * 300.0
    return Step(
        step=step,
        ended_at=100.0 * step,
        duration_s=100.0,
        sampled_tokens=tokens,
        prefill_tokens=16 * 8 * 100.0,
        trained_tokens=tokens + 16 * 8 * 99.0,
        response_length_mean=300.0,
    )


def test_a_configured_run_has_a_projection_before_its_first_step_that_says_what_it_is() -> None:
    found = looked_at(CONFIGURED).projection
    assert found.prior
    assert "as configured" in found.notes[0]
    assert found.final_usd is not None
    # 50 steps of 128 episodes: 150 tokens of prompt, 270 of response, each trained on and paid for again.
    assert found.final_usd.p50 == pytest.approx(50 * 128 * (150 + 3 * 270 + 3 * 419) / 1e6)
    assert found.final_usd.p90 > 5 * found.final_usd.p10
    assert found.p_over_budget is None


def test_the_first_evaluation_tells_the_lengths() -> None:
    told = Eval(step=0, episodes=100, sampled_tokens=60_000, prefill_tokens=8_000)
    blind, told_by = looked_at(CONFIGURED).projection, looked_at(CONFIGURED, told).projection
    assert blind.final_usd is not None
    assert told_by.final_usd is not None
    ratio = told_by.final_usd.p90 / told_by.final_usd.p10
    assert ratio < blind.final_usd.p90 / blind.final_usd.p10 / 2
    each = 128 * (80 + 3 * 600 + 3 * 679) / 1e6
    assert told_by.final_usd.p50 == pytest.approx(50 * each, rel=0.05)


@pytest.mark.parametrize("unknown", ["groups", "group_size", "max_tokens", "total_steps", "algorithm"])
def test_where_an_input_is_unknown_nothing_is_projected_beforehand(unknown: str) -> None:
    found = looked_at(CONFIGURED.model_copy(update={unknown: None})).projection
    assert found.final_usd is None
    assert not found.prior
    assert found.notes


@pytest.mark.parametrize("name", ["groups", "group_size"])
def test_a_configuration_that_cannot_be_tells_nothing_beforehand(name: str) -> None:
    assert looked_at(CONFIGURED.model_copy(update={name: 0})).projection.final_usd is None


def test_several_turns_and_rented_gpus_have_no_prior() -> None:
    hosted = CONFIGURED.model_copy(update={"platform": "self-hosted", "gpus": 8, "gpu_type": "B200"})
    several = CONFIGURED.model_copy(update={"multi_turn": True})
    assert looked_at(hosted, settings=Settings(usd_per_gpu_hour=5)).projection.final_usd is None
    assert looked_at(several).projection.final_usd is None


def test_the_steps_take_over_and_by_the_third_nothing_is_left_of_the_prior() -> None:
    truth = 50 * 128 * (100 + 3 * 300 + 3 * 399) / 1e6
    off: list[float] = []
    for done in range(4):
        found = looked_at(CONFIGURED, *map(trained, range(done))).projection
        assert found.prior == (done < 3)
        assert found.final_usd is not None
        assert found.final_usd.p10 <= found.final_usd.p50 <= found.final_usd.p90
        off.append(abs(found.final_usd.p50 / truth - 1))
    assert off == sorted(off, reverse=True)
    assert off[-1] < 1e-6


@given(
    some.floats(1e-6, 1e3),
    some.floats(1, 1e3),
    some.floats(1, 1e3),
    some.integers(1, 2),
    some.floats(1e-9, 1e6),
)
def test_one_step_seen_lies_between_and_is_never_less_sure(
    low: float, rise: float, further: float, seen: int, mean: float
) -> None:
    prior = Quantiles(p10=low, p50=low * rise, p90=low * rise * further)
    found = expected(prior, seen, mean)
    assert 0 < found.p10 <= found.p50 <= found.p90
    assert min(mean, prior.p50) * 0.999 <= found.p50 <= max(mean, prior.p50) * 1.001
    before = expected(prior, 0, 0.0)
    assert found.p90 / found.p10 <= before.p90 / before.p10 * 1.001


def test_a_prior_is_asked_no_more_once_three_steps_have_told() -> None:
    plan = Plan(total_steps=40, first_step=1)
    with_prior = after(plan, flat(3)).project(spent_usd=30.0, budget_usd=None, prior=PRIOR)
    assert with_prior == after(plan, flat(3)).project(spent_usd=30.0, budget_usd=None)


def test_a_prior_alone_is_all_the_steps_times_what_one_is_expected_to_cost() -> None:
    found = Projector(Plan(total_steps=10)).project(spent_usd=None, budget_usd=None, prior=PRIOR)
    assert found.final_usd is not None
    assert found.final_usd.p50 == 80.0
    assert found.final_usd.p10 < 20.0
    assert found.final_usd.p90 > 300.0
    assert found.final_usd.at_cap is None
