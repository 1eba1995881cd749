"""The parts of a forecast: blocks, outlooks, experts and their record."""

from itertools import pairwise
from math import exp, log

import pytest
from hypothesis import given
from hypothesis import strategies as some

from rltop.monitor.projection.blocks import CAPACITY, Blocks
from rltop.monitor.projection.cap import StepCeiling, TimePower
from rltop.monitor.projection.experts import SinceChange
from rltop.monitor.projection.interval import Forecast, spread
from rltop.monitor.projection.outlook import Outlook
from rltop.monitor.projection.series import Series

from .families import calm_run, make


def fed(values: list[float], cap: float | None = None, left: int = 50) -> Series:
    series = Series()
    for value in values:
        series.observe(value, left, cap)
    return series


@given(some.lists(some.floats(1e-6, 1e9), min_size=1, max_size=700))
def test_blocks_keep_the_mean_of_everything_in_bounded_memory(values: list[float]) -> None:
    past = Blocks()
    for value in values:
        past.add(value)
    assert len(past.means) < CAPACITY
    assert past.steps == len(values)
    assert past.mean_of_last(len(values)) == pytest.approx(sum(values) / len(values))


def test_the_last_few_steps_are_remembered_one_by_one_while_a_run_is_short() -> None:
    past = Blocks()
    for value in range(1, 51):
        past.add(value)
    assert past.mean_of_last(4) == pytest.approx(48.5)


def test_the_mean_of_a_path_is_that_of_its_steps() -> None:
    outlook = Outlook(log(100), 0.02, 30)
    for cap in (None, 400.0):
        steps = [outlook.at(ahead, cap) for ahead in range(1, 61)]
        assert outlook.mean(60, cap) == pytest.approx(sum(steps) / 60, rel=2e-3)


def test_growth_slows_down_as_the_cap_comes_near_and_never_passes_it() -> None:
    outlook = Outlook(log(900), 0.1, 50)
    assert outlook.at(1, None) == pytest.approx(900 * exp(0.1), rel=0.02)
    assert outlook.at(500, 1000.0) <= 1000
    assert outlook.at(1, 1000.0) < outlook.at(1, None)


def test_a_small_fall_at_the_cap_stays_a_small_fall() -> None:
    assert Outlook(log(1000), -0.01, 5).at(100, 1000.0) > 930


def test_a_steady_rise_is_followed_and_a_flat_run_is_left_flat() -> None:
    rising = fed([100 * exp(0.01 * step) for step in range(60)]).ahead(20, None)
    assert rising.p50 > 100 * exp(0.6)
    assert fed([100.0] * 60).ahead(20, None).p50 == pytest.approx(100)


def test_a_jump_is_caught_up_with() -> None:
    after_jump = fed([100.0] * 40 + [200.0] * 20).ahead(40, None)
    assert after_jump.p50 == pytest.approx(200, rel=0.05)


@pytest.mark.parametrize("value", [1e-12, 1.0, 1e12])
def test_any_positive_size_is_projected(value: float) -> None:
    assert fed([value] * 20).ahead(20, None).p50 == pytest.approx(value)


def test_weights_add_up_to_one() -> None:
    series = fed(make("wandering", 1, steps=60).lengths)
    assert sum(series.record.weights(60, 30)) == pytest.approx(1)


def test_a_restless_run_has_a_wider_interval_than_a_calm_one() -> None:
    calm = fed(calm_run().lengths[:40]).mean_ahead(40, None)
    restless = fed([714 * (1.5 if step % 3 else 0.6) for step in range(40)]).mean_ahead(40, None)
    assert restless.above > 2 * calm.above
    assert restless.below > 2 * calm.below


def test_the_level_since_a_change_is_found_and_a_level_that_holds_is_left_whole() -> None:
    past, change = Blocks(), SinceChange()
    for value in [100.0 + step % 3 for step in range(40)] + [150.0 + step % 3 for step in range(12)]:
        past.add(value)
    assert exp(change.outlook(past).level) == pytest.approx(151, rel=0.01)
    held, whole = Blocks(), SinceChange()
    for step in range(50):
        held.add(100.0 + step % 3)
    assert exp(whole.outlook(held).level) == pytest.approx(held.mean_of_last(50))


def test_a_change_is_remembered_while_blocks_are_merged() -> None:
    past, change = Blocks(), SinceChange()
    for value in [100.0 + step % 3 for step in range(300)] + [200.0 + step % 3 for step in range(200)]:
        past.add(value)
        change.outlook(past)
    assert exp(change.outlook(past).level) == pytest.approx(201, rel=0.02)


def test_a_run_that_rises_from_a_long_level_may_fall_further_than_a_level_one() -> None:
    level = fed([100.0 + step % 3 for step in range(40)]).mean_ahead(40, None)
    risen = fed([100.0 + step % 3 for step in range(28)] + [100 * 1.06**step for step in range(12)])
    assert risen.mean_ahead(40, None).below > 2 * level.below


def test_multipliers_go_from_node_to_node_without_a_jump() -> None:
    widths: list[float] = []
    for table in ("mean", "level"):
        ends = [spread(Forecast(1.0, 0.1, 0.1), exp(at / 20), None, table) for at in range(-60, 61)]
        assert all(end.p10 < 1 < end.p90 for end in ends)
        widths += [abs(left.p90 - right.p90) for left, right in pairwise(ends)]
    assert max(widths) < 0.05


def test_the_probability_of_more_is_a_tenth_at_p90_and_nothing_at_the_cap() -> None:
    found = spread(Forecast(100.0, 0.1, 0.2), 1.0, 1000.0, "mean")
    assert found.above(found.p90) == pytest.approx(0.1, abs=1e-6)
    assert found.above(found.p10) == pytest.approx(0.9, abs=1e-6)
    assert found.above(1000.0) == 0.0
    assert found.above(0.0) == 1.0


def test_the_power_of_step_time_in_length_is_learnt() -> None:
    power = TimePower()
    assert power.exponent == 1.0
    for step in range(1, 80):
        power.observe(100.0 * step, 5 * (100.0 * step) ** 0.5)
    assert power.exponent == pytest.approx(0.5, abs=0.1)


def test_a_step_at_the_cap_by_tokens_is_taken_at_its_word() -> None:
    ceiling = StepCeiling()
    assert ceiling.usd() is None
    ceiling.observe_tokens(7.5)
    assert ceiling.usd() == 7.5
