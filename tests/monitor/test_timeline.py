"""A finished run spread over its own time."""

from rltop.models.event import Ended, SourceStatus
from rltop.models.run import RunInfo
from rltop.models.step import Eval, Step
from rltop.monitor.timeline import UNTIMED_STEP_S, first_step_at, last_change, timeline


def test_steps_follow_each_other_by_their_durations() -> None:
    timed = timeline([Step(step=0, duration_s=10), Step(step=1, duration_s=30)])
    assert [item.at for item in timed] == [10, 40]


def test_a_log_without_times_ends_when_its_file_was_last_changed() -> None:
    events = [
        Step(step=0, duration_s=10),
        Step(step=1, duration_s=30),
        SourceStatus(source="console", path="x", modified_at=1000.0),
    ]
    ended_at = last_change(events)
    assert [item.at for item in timeline(events, ended_at)] == [970, 1000, 1000]


def test_times_in_the_log_win_over_durations() -> None:
    timed = timeline([Step(step=0, ended_at=1000, duration_s=5), Step(step=1, duration_s=5)])
    assert [item.at for item in timed] == [1000, 1005]


def test_what_is_told_between_steps_belongs_to_the_next_one() -> None:
    timed = timeline(
        [RunInfo(model="m"), Step(step=0, duration_s=10), Eval(step=1), Step(step=1, duration_s=30)]
    )
    assert [(item.at, item.event.kind) for item in timed] == [
        (10, "run"),
        (10, "step"),
        (40, "eval"),
        (40, "step"),
    ]


def test_a_second_part_of_a_step_takes_no_time() -> None:
    timed = timeline([Step(step=0, duration_s=10, complete=False), Step(step=0, duration_s=10)])
    assert [item.at for item in timed] == [10, 10]


def test_the_end_comes_last_and_dates_of_files_are_dropped() -> None:
    timed = timeline(
        [
            Step(step=0),
            Ended(status="finished"),
            SourceStatus(source="console", path="x", modified_at=123.0),
        ]
    )
    assert [item.event.kind for item in timed] == ["step", "source", "ended"]
    assert isinstance(timed[1].event, SourceStatus)
    assert timed[1].event.modified_at is None
    assert first_step_at(timed) == UNTIMED_STEP_S
