import threading
from collections.abc import Iterator

import pytest

from rltop.models.event import Event, LogLine
from rltop.monitor.reader import Pause, Reader


def line(text: str) -> list[Event]:
    return [LogLine(text=text)]


def texts(events: list[Event]) -> list[str]:
    return [event.text for event in events if isinstance(event, LogLine)]


def read_all(reader: Reader) -> list[str]:
    """As one look does it: until no more lies waiting."""
    found = texts(reader.poll(0.0))
    while reader.more:
        found += texts(reader.poll(0.0))
    return found


def test_one_look_sees_all_that_there_is_so_far() -> None:
    go_on = threading.Event()

    def read(pause: Pause) -> Iterator[list[Event]]:
        yield line("a")
        yield line("b")
        yield []
        pause.wait()
        go_on.set()
        yield line("held back")

    reader = Reader("test", read)
    assert not reader.more
    assert read_all(reader) == ["a", "b"]
    assert not reader.over
    assert texts(reader.close()) == ["held back"]
    assert go_on.is_set()
    assert reader.over


def test_a_poll_does_not_wait_for_news() -> None:
    asked = threading.Event()

    def read(pause: Pause) -> Iterator[list[Event]]:
        yield []
        asked.wait()
        yield line("late")

    reader = Reader("test", read)
    assert read_all(reader) == []
    assert reader.poll(0.0) == []
    asked.set()
    assert texts(reader.close()) == ["late"]


def test_a_bug_is_raised_where_it_is_seen_after_all_that_was_told() -> None:
    def read(pause: Pause) -> Iterator[list[Event]]:
        yield line("before")
        raise ZeroDivisionError

    reader = Reader("test", read)
    with pytest.raises(ZeroDivisionError):
        read_all(reader)
    assert reader.over
    assert reader.close() == []


def test_what_was_never_polled_is_closed_without_a_thread() -> None:
    def read(pause: Pause) -> Iterator[list[Event]]:
        raise AssertionError("nobody asked")

    assert Reader("test", read).close() == []
