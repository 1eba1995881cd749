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
            Step(step=0, duration_s=1.0),
            Ended(status="finished"),
            SourceStatus(source="console", path="x", modified_at=123.0),
        ]
    )
    assert [item.event.kind for item in timed] == ["step", "source", "ended"]
    assert isinstance(timed[1].event, SourceStatus)
    assert timed[1].event.modified_at is None
    assert first_step_at(timed) == 1.0


def test_where_some_steps_have_no_time_none_is_given_any() -> None:
    events = [Step(step=0), Step(step=1, duration_s=2.0), SourceStatus(source="bar", path="x")]
    timed = timeline(events)
    assert [(item.at, item.event.kind) for item in timed] == [
        (UNTIMED_STEP_S, "source"),
        (UNTIMED_STEP_S, "step"),
        (62.0, "source"),
        (62.0, "step"),
        (62.0, "source"),
    ]
    assert [item.event.ended_at for item in timed if isinstance(item.event, Step)] == [None, None]
    signs = [item.event.modified_at for item in timed if isinstance(item.event, SourceStatus)]
    assert signs == [60.0, 62.0, None]


def test_a_step_without_time_in_a_log_with_a_clock_is_of_the_moment_of_those_beside_it() -> None:
    events = [Step(step=0), Step(step=1, ended_at=1000.0), Step(step=2), Step(step=3, ended_at=1100.0)]
    assert [item.at for item in timeline(events, ended_at=5000.0)] == [1000.0, 1000.0, 1000.0, 1100.0]


def test_a_step_that_is_told_in_parts_has_its_time_in_each() -> None:
    told = [Step(step=1, duration_s=5.0), Step(step=1, raw={"loss": 1.0}), Step(step=2, duration_s=5.0)]
    timed = timeline(told)
    assert [item.event.ended_at for item in timed if isinstance(item.event, Step)] == [5.0, 5.0, 10.0]
