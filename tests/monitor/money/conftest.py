"""From a few events to a bill."""

from collections.abc import Callable, Sequence

import pytest

from rltop.models.event import Event
from rltop.models.money import Bill, StepCost
from rltop.models.run import RunInfo
from rltop.models.settings import Settings
from rltop.monitor.money.book import Book
from rltop.monitor.money.ledger import Ledger
from rltop.monitor.money.pricing import resolve
from rltop.monitor.reduce import close, reduce
from rltop.monitor.state import RunState


def _bill(
    info: RunInfo,
    events: Sequence[Event],
    *,
    settings: Settings | None = None,
    at: float | None = 1_767_700_000.0,
    elapsed_s: float | None = None,
) -> tuple[Bill, list[StepCost]]:
    state = RunState(info=info)
    for event in events:
        state = reduce(state, event)
    state = close(state)
    ledger = Ledger(resolve(state.info, settings or Settings(), at, Book.load()))
    for evaluation in state.history.evals:
        ledger.add_eval(evaluation)
    costs = [ledger.add_step(state.history.row(index)) for index in range(state.closed)]
    return ledger.bill(state, elapsed_s), costs


@pytest.fixture(scope="session")
def bill_of() -> Callable[..., tuple[Bill, list[StepCost]]]:
    """Fold the events, price the run (on 2026-01-06 unless told otherwise), bill every row."""
    return _bill
