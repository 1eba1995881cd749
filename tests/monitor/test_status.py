"""Running, finished, stalled: told from signs of life."""

import pytest

from rltop.models.event import Ended, Event, SourceStatus
from rltop.models.run import RunInfo
from rltop.models.step import Step
from rltop.monitor.reduce import reduce
from rltop.monitor.state import RunState
from rltop.monitor.status import patience_s, status_of


def state_of(*events: Event) -> RunState:
    state = RunState()
    for event in events:
        state = reduce(state, event)
    return state


def test_without_any_sign_of_life_the_state_is_unknown() -> None:
    assert status_of(state_of(Step(step=1)), RunInfo(), 100.0) == "unknown"


def test_a_run_is_running_while_its_file_is_fresh_and_stalled_afterwards() -> None:
    state = state_of(
        *(Step(step=n, duration_s=100.0) for n in range(5)),
        SourceStatus(source="console", path="x", modified_at=1000.0),
    )
    assert status_of(state, RunInfo(), 1290.0) == "running"
    assert status_of(state, RunInfo(), 1310.0) == "stalled"


@pytest.mark.parametrize(
    ("first", "last", "status"), [(0, 9, "finished"), (1, 9, "stalled"), (1, 10, "finished")]
)
def test_a_run_is_finished_at_its_last_step_wherever_it_counts_from(
    first: int, last: int, status: str
) -> None:
    state = state_of(*(Step(step=n, duration_s=1.0, ended_at=10.0) for n in range(first, last + 1)))
    assert status_of(state, RunInfo(total_steps=10, first_step=first), 1e6) == status


def test_what_the_log_says_of_its_end_wins() -> None:
    assert status_of(state_of(Step(step=1), Ended(status="crashed")), RunInfo(), 0.0) == "crashed"


def test_a_run_of_slow_steps_is_given_more_time() -> None:
    slow = state_of(*(Step(step=n, duration_s=600.0) for n in range(9)))
    fast = state_of(*(Step(step=n, duration_s=2.0) for n in range(9)))
    assert patience_s(slow) == 1800.0
    assert patience_s(fast) == 120.0


def test_a_log_copied_long_after_its_run_is_not_running() -> None:
    told = [Step(step=n, duration_s=60.0, ended_at=1000.0 + 60 * n) for n in range(5)]
    copied = SourceStatus(source="tensorboard", path="x", modified_at=1e9)
    written = SourceStatus(source="tensorboard", path="x", modified_at=1000.0 + 3600)
    assert status_of(state_of(*told, copied), RunInfo(), 1e9 + 1) == "stalled"
    assert status_of(state_of(*told, written), RunInfo(), 1000.0 + 3601) == "running"
