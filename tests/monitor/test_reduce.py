"""The fold: what each event does to what is known."""

from rltop.models.event import Ended, Event, LogLine, Progress, Restart, SourceStatus
from rltop.models.gpu import Serving
from rltop.models.run import RunInfo
from rltop.models.step import Eval, Step
from rltop.monitor.reduce import close, reduce
from rltop.monitor.state import LOGS_KEPT, RunState


def fold(*events: Event) -> RunState:
    state = RunState()
    for event in events:
        state = reduce(state, event)
    return state


def test_facts_told_piecemeal_add_up() -> None:
    state = fold(RunInfo(model="m", gpus=4), RunInfo(gpus=8), RunInfo(name="run"))
    assert (state.info.model, state.info.gpus, state.info.name) == ("m", 8, "run")


def test_configuration_is_merged_key_by_key_and_notes_are_kept_once() -> None:
    state = fold(RunInfo(config={"a": 1, "b": 2}, notes=("x",)), RunInfo(config={"b": 3}, notes=("x", "y")))
    assert state.info.config == {"a": 1, "b": 3}
    assert state.info.notes == ("x", "y")


def test_a_report_without_notes_or_configuration_takes_none_away() -> None:
    state = fold(RunInfo(config={"a": 1}, notes=("x",)), RunInfo(gpus=8, config={}, notes=()))
    assert state.info.config == {"a": 1}
    assert state.info.notes == ("x",)


def test_an_amount_below_zero_is_unknown() -> None:
    row = fold(Step(step=1, duration_s=-3.0, sampled_tokens=-2.0e9, trained_tokens=5.0)).history.row(0)
    assert [row.get(name) for name in ("duration_s", "sampled_tokens", "trained_tokens")] == [None, None, 5.0]


def test_a_complete_step_closes_its_row_and_all_before_it() -> None:
    state = fold(Step(step=1, complete=False), Step(step=2, complete=True))
    assert state.closed == 2


def test_two_steps_may_be_open_while_their_parts_come_in_turns() -> None:
    state = fold(
        Step(step=1, complete=False),
        Step(step=2, complete=False),
        Step(step=1, duration_s=5.0, complete=True),
    )
    assert state.closed == 1
    assert state.history.get("duration_s", 0) == 5.0
    assert state.amended == 0


def test_a_third_open_step_closes_the_first() -> None:
    assert fold(*(Step(step=n, complete=False) for n in range(3))).closed == 1


def test_a_late_part_of_a_closed_step_asks_for_derived_sums_to_be_made_anew() -> None:
    state = fold(Step(step=1), Step(step=2), Step(step=1, duration_s=9.0))
    assert state.amended == 1


def test_a_restart_counts_repeated_steps_once_in_progress() -> None:
    state = fold(*(Step(step=n) for n in range(4)), Restart(from_step=2, attempt=1), Step(step=2, attempt=1))
    assert state.steps_done == 3
    assert len(state.history) == 5
    assert state.attempt == 1


def test_a_step_after_the_end_means_that_the_run_went_on() -> None:
    ended = fold(Step(step=1), Ended(status="crashed"))
    assert ended.ended is not None
    assert reduce(ended, Step(step=2)).ended is None


def test_progress_keeps_what_a_later_line_leaves_out_until_a_new_attempt() -> None:
    state = fold(Progress(step=3, total_steps=9, elapsed_s=30.0), Progress(step=4))
    assert state.progress == Progress(step=4, total_steps=9, elapsed_s=30.0)
    state = reduce(state, Progress(step=1, attempt=1))
    assert state.progress == Progress(step=1, attempt=1)


def test_the_times_on_the_displays_of_all_attempts_are_added() -> None:
    state = fold(
        Progress(step=1, elapsed_s=10.0),
        Progress(step=2, elapsed_s=20.0),
        Progress(step=2, elapsed_s=7.0, attempt=1),
    )
    assert state.shown_s == 27.0


def test_the_latest_status_of_each_source_wins() -> None:
    state = fold(
        SourceStatus(source="console", path="a", lines=1),
        SourceStatus(source="console", path="a", lines=5),
        SourceStatus(source="console", path="b", lines=2),
    )
    assert [s.lines for s in state.sources.values()] == [5, 2]


def test_only_the_newest_log_lines_are_kept() -> None:
    state = fold(*(LogLine(text=str(n)) for n in range(LOGS_KEPT + 10)))
    assert len(state.logs) == LOGS_KEPT
    assert state.logs[-1].text == str(LOGS_KEPT + 9)


def test_evaluations_are_kept_apart_from_steps() -> None:
    state = fold(Eval(step=0, sampled_tokens=5.0), Step(step=0))
    assert state.steps_done == 1
    assert state.history.evals[0].sampled_tokens == 5.0


def test_closing_takes_every_step_as_it_stands() -> None:
    assert close(fold(Step(step=1, complete=False))).closed == 1


def test_the_newest_reading_of_each_inference_engine_is_kept() -> None:
    readings = [
        Serving(at=at, host=host, engine="vllm", running=n)
        for at, host, n in ((1, "a:1", 3), (1, "b:1", 4), (3, "a:1", 5))
    ]
    state = fold(*readings)
    assert {host: serving.running for host, serving in state.serving.items()} == {"a:1": 5, "b:1": 4}


def test_what_stood_in_for_a_source_is_none_once_there_is_one() -> None:
    waiting = SourceStatus(
        source="pending", path="run", state="waiting", reason="run: no such file or folder"
    )
    state = reduce(RunState(), waiting)
    assert list(state.sources) == [("pending", "run")]
    assert not reduce(state, SourceStatus(source="pending", path="run")).sources
