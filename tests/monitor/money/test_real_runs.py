"""Real runs through their parsers, the fold and the ledger."""

from collections.abc import Callable
from pathlib import Path

import pytest

from rltop.models.money import Bill, StepCost
from rltop.models.settings import Settings, TokenRates
from rltop.monitor.money.book import Book
from rltop.monitor.money.ledger import Ledger
from rltop.monitor.money.pricing import resolve
from rltop.monitor.reduce import close, reduce
from rltop.monitor.state import RunState
from rltop.monitor.target import open_target

NOW = 1_790_000_000.0
JANUARY_6 = 1_767_700_000.0
QWEN_8B_OF_JULY = TokenRates(prefill=0.195, prefill_cached=0.039, sample=0.6, train=0.44)


def state_of(path: Path) -> RunState:
    state = RunState()
    for source in open_target(path):
        while events := list(source.poll(NOW)):
            for event in events:
                state = reduce(state, event)
    return close(state)


@pytest.fixture
def opened(shared_data: Path) -> Callable[[str, Settings], tuple[RunState, Bill, list[StepCost]]]:
    def run(name: str, settings: Settings) -> tuple[RunState, Bill, list[StepCost]]:
        state = state_of(shared_data / name)
        ledger = Ledger(resolve(state.info, settings, JANUARY_6, Book.load()))
        for evaluation in state.history.evals:
            ledger.add_eval(evaluation)
        costs = [ledger.add_step(state.history.row(index)) for index in range(state.closed)]
        return state, ledger.bill(state, None), costs

    return run


Opened = Callable[[str, Settings], tuple[RunState, Bill, list[StepCost]]]


def test_a_run_that_logs_its_own_cost_agrees_with_it_to_a_thousandth(opened: Opened) -> None:
    settings = Settings(token_rates=QWEN_8B_OF_JULY)
    state, bill, costs = opened("tinker/format-061-sync-priced", settings)
    assert state.totals is not None
    theirs = state.totals.spent_usd
    assert bill.basis == "logged"
    assert sum(cost.usd or 0.0 for cost in costs) == pytest.approx(theirs, rel=1e-3)
    work = sum(meter.usd or 0.0 for meter in bill.meters if not meter.name.startswith("eval"))
    assert work == pytest.approx(theirs, rel=1e-3)
    assert any("(0.00 % off)" in note for note in bill.notes)


@pytest.mark.parametrize(("name", "usd"), [("tinker/math-rubric-7", 6.1), ("tinker/math-rubric-57", 48.7)])
def test_real_runs_come_to_their_list_price(opened: Opened, name: str, usd: float) -> None:
    _, bill, costs = opened(name, Settings())
    assert bill.basis == "metered"
    assert bill.spent_usd == pytest.approx(usd, abs=0.1)
    by_step = sum((cost.usd or 0.0) + (cost.eval_usd or 0.0) for cost in costs)
    assert by_step == pytest.approx(bill.spent_usd, abs=0.01)


def test_a_loop_that_counts_no_tokens_is_not_given_a_price(opened: Opened) -> None:
    _, bill, _ = opened("tinker/custom-loop-111", Settings())
    assert (bill.basis, bill.spent_usd) == ("unpriced", None)
