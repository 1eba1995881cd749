"""What closed steps come to: dollars for each, forecasts as often as a chart can show them."""

from functools import cache
from pathlib import Path

import pytest

from rltop.models.projection import Plan
from rltop.models.run import RunInfo
from rltop.models.settings import Settings
from rltop.models.step import Step
from rltop.monitor.account import DENSE_ROWS, Account
from rltop.monitor.frame import Frame
from rltop.monitor.money.book import Book
from rltop.monitor.money.pricing import resolve
from rltop.monitor.pipeline import Pipeline
from rltop.monitor.reduce import reduce
from rltop.monitor.state import RunState
from rltop.monitor.target import open_target

DEMOS = Path(__file__).parents[2] / "monitor" / "demo" / "data"
INFO = RunInfo(platform="self-hosted", gpus=8, total_steps=100_000, first_step=1)


@cache
def folded(steps: int, budget_usd: float | None = None) -> Frame:
    """A run whose steps cost a dollar each, and a thousandth more each time."""
    pipeline = Pipeline(Settings(usd_per_gpu_hour=1.0, budget_usd=budget_usd), Book.load())
    pipeline.feed(INFO, 0.0)
    for step in range(1, steps + 1):
        seconds = 450 * 1.001**step
        pipeline.feed(Step(step=step, duration_s=seconds, ended_at=1e9 + 450 * step), 0.0)
    return pipeline.frame(0.0)


def test_every_one_of_the_first_steps_has_a_forecast_of_its_own() -> None:
    at_end = folded(DENSE_ROWS).at_end
    known = [usd for usd in at_end if usd == usd]
    assert len(at_end) == DENSE_ROWS
    assert len(set(known)) == len(known) > DENSE_ROWS - 5


def test_a_long_run_has_a_forecast_for_every_few_steps_which_holds_until_the_next() -> None:
    rows = 3 * DENSE_ROWS
    at_end = list(folded(rows).at_end)
    assert len(at_end) == rows
    every = at_end[2 * DENSE_ROWS : 2 * DENSE_ROWS + 6]
    assert every[0] == every[1] != every[2] == every[3] != every[4] == every[5]


def test_the_dollars_of_a_long_run_are_counted_step_by_step() -> None:
    frame = folded(3 * DENSE_ROWS)
    assert list(frame.step_usd) == pytest.approx([1.001**step for step in range(1, 3 * DENSE_ROWS + 1)])
    assert frame.spent_usd[-1] == pytest.approx(sum(frame.step_usd))


def test_the_forecast_on_the_screen_is_of_the_newest_step_whichever_it_is() -> None:
    rows = 3 * DENSE_ROWS
    one, next_one = folded(rows).projection.final_usd, folded(rows + 1).projection.final_usd
    assert one is not None
    assert next_one is not None
    assert one.p50 != next_one.p50


def test_a_broken_budget_is_told_at_its_very_step_however_long_the_run() -> None:
    rows = 2 * DENSE_ROWS + 1
    spent = folded(rows).bill.spent_usd
    assert spent is not None
    before, after = folded(rows, spent + 0.01), folded(rows, spent - 0.01)
    assert not any("broken" in alert.message for alert in before.alerts)
    assert any("broken" in alert.message for alert in after.alerts)


@pytest.mark.parametrize("name", ["gsm8k-tinker", "math-tinker", "math-verl"])
@pytest.mark.parametrize("usd_per_gpu_hour", [None, 5.0])
def test_the_sum_alone_is_the_sum_of_the_bill(name: str, usd_per_gpu_hour: float | None) -> None:
    state, settings = RunState(), Settings(usd_per_gpu_hour=usd_per_gpu_hour)
    for source in open_target(DEMOS / name):
        for event in source.poll(0.0):
            state = reduce(state, event)
    account = Account(resolve(state.info, settings, None, Book.load()), Plan(), None)
    for index in range(len(state.history)):
        account.observe(state.history.row(index), state)
        assert account.paid_usd == account.bill.spent_usd
    assert account.bill.spent_usd is not None
