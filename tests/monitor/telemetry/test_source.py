"""The local GPUs as a source of a session."""

from collections.abc import Callable
from typing import Any

Play = Callable[..., list[Any]]


def test_each_sample_is_told_once(play: Play) -> None:
    first, again, second = play("follow", "poll", "*.util=99", "follow")
    assert again == []
    assert [event["kind"] for event in (*first, *second)] == ["gpu", "gpu"]
    assert second[0]["at"] - first[0]["at"] == 2
    assert {gpu["util"] for gpu in second[0]["gpus"]} == {99}
    assert second[0]["host"] == "node-1"


def test_the_first_frame_of_a_session_is_not_held_up_by_the_driver(play: Play) -> None:
    first, calls, second = play("poll", "calls:nvmlInitWithFlags", "follow")
    assert (first, calls) == ([], 0)
    assert len(second) == 1


def test_a_hanging_driver_is_told_of_by_the_last_sample(play: Play) -> None:
    first, asked, stale = play(
        "follow", "0.hang.nvmlDeviceGetPowerUsage=1", "wait:2", "poll", "wait:10", "poll"
    )
    assert asked == []
    assert [(event["at"], event["note"]) for event in stale] == [
        (first[0]["at"], "stale 12 s: the NVIDIA driver does not answer")
    ]
    assert stale[0]["gpus"] == first[0]["gpus"]


def test_where_there_is_no_driver_nothing_is_told(play: Play) -> None:
    told = play(
        "sys.error.nvmlInitWithFlags=9", "poll", "poll", "until:nvmlInitWithFlags", "wait:2", "poll", "poll"
    )
    assert told == [[]] * 4
