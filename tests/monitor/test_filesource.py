"""A file and a parser as one source."""

import gzip
import os
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rltop.models.event import Event, LogLine, SourceStatus
from rltop.monitor.filesource import FileSource
from rltop.monitor.source import Line
from rltop.monitor.transport import open_transport
from rltop.monitor.transport.local import LocalFile

NOW = 1_700_000_000.0
RESTART = LogLine(text="<restart>")


class Echo:
    """A parser that says each line again, holds back lines that end in `+`, and finds fault with `bad`."""

    source = "echo"

    def __init__(self) -> None:
        self.bad_lines = 0
        self.first_bad = ""
        self._held: list[Event] = []

    def feed(self, line: Line) -> Iterable[Event]:
        if line.text == "bad":
            self.bad_lines += 1
            self.first_bad = self.first_bad or f"line {line.number}: bad"
            return
        if line.text.endswith("+"):
            self._held.append(LogLine(text=line.text, at=line.at))
            return
        yield LogLine(text=line.text, at=line.at)

    def flush(self) -> Iterable[Event]:
        return self._held

    def restart(self) -> Iterable[Event]:
        yield RESTART


def texts(events: Iterable[Event]) -> list[str]:
    return [event.text for event in events if isinstance(event, LogLine)]


def statuses(events: Iterable[Event]) -> list[SourceStatus]:
    return [event for event in events if isinstance(event, SourceStatus)]


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def test_gives_events_and_then_how_reading_goes(tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    log.write_bytes(b"one\nbad\ntwo\nhal")
    os.utime(log, (NOW, NOW))
    source = FileSource(open_transport(log), Echo())
    assert source.poll(NOW) == [
        LogLine(text="one"),
        LogLine(text="two"),
        SourceStatus(
            source="echo",
            path=str(log),
            lines=3,
            bad_lines=1,
            first_bad="line 2: bad",
            modified_at=NOW,
        ),
    ]
    assert source.poll(NOW + 1) == []
    append(log, b"f\n")
    os.utime(log, (NOW + 2, NOW + 2))
    half, status = source.poll(NOW + 2)
    assert half == LogLine(text="half", at=NOW + 2)
    assert isinstance(status, SourceStatus)
    assert (status.lines, status.modified_at) == (4, NOW + 2)
    source.close()


def test_says_once_that_it_waits(tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    source = FileSource(open_transport(log), Echo())
    (status,) = statuses(source.poll(NOW))
    assert (status.state, status.reason) == ("waiting", "not there yet")
    assert source.poll(NOW + 1) == []
    log.write_bytes(b"one\n")
    events = source.poll(NOW + 2)
    assert texts(events) == ["one"]
    assert statuses(events)[0].state == "reading"
    source.close()


def test_a_poll_is_bounded_and_says_that_more_is_waiting(tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    written = [f"line {number}" for number in range(100_000)]
    log.write_bytes("".join(line + "\n" for line in written).encode())
    source = FileSource(open_transport(log), Echo(), poll_bytes=200_000)
    found = texts(source.poll(NOW))
    assert source.more
    assert 0 < len(found) < len(written) / 2
    while source.more:
        found += texts(source.poll(NOW))
    assert found == written
    source.close()


def test_a_file_written_anew_restarts_the_parser_and_counts_all_lines(tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    log.write_bytes(b"one\ntwo\nhalf of a void li")
    source = FileSource(open_transport(log), Echo())
    source.poll(NOW)
    log.write_bytes(b"new\n")
    events = source.poll(NOW)
    assert texts(events) == ["<restart>", "new"]
    assert statuses(events)[0].lines == 3
    source.close()


def test_a_settled_tail_is_taken_once(tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    log.write_bytes(b"one\ntail")
    os.utime(log, (NOW, NOW))
    source = FileSource(open_transport(log), Echo())
    assert texts(source.poll(NOW + 1)) == ["one"]
    events = source.poll(NOW + 100)
    assert texts(events) == ["tail"]
    assert statuses(events)[0].lines == 2
    assert source.poll(NOW + 200) == []
    assert source.close() == []


def test_closing_gives_the_tail_and_what_the_parser_held_back(tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    log.write_bytes(b"held+\ntail")
    os.utime(log, (NOW, NOW))
    source = FileSource(open_transport(log), Echo())
    assert texts(source.poll(NOW)) == []
    events = source.close()
    assert texts(events) == ["tail", "held+"]
    assert statuses(events)[-1] is events[-1]


def test_a_finished_stream_gives_up_everything_without_being_closed(tmp_path: Path) -> None:
    log = tmp_path / "run.log.gz"
    log.write_bytes(gzip.compress(b"held+\ntail"))
    source = FileSource(open_transport(log), Echo())
    events = source.poll(NOW)
    assert texts(events) == ["tail", "held+"]
    assert statuses(events)[0].state == "ended"
    assert source.poll(NOW) == []
    assert source.close() == []


def test_damage_is_told_beside_what_could_be_read(tmp_path: Path) -> None:
    log = tmp_path / "run.log.gz"
    log.write_bytes(gzip.compress(b"one\ntwo\n")[:-8])
    source = FileSource(open_transport(log), Echo())
    events = source.poll(NOW)
    assert texts(events) == ["one", "two"]
    assert statuses(events)[0].reason == "cut off in the middle"
    source.close()


@given(
    writes=st.lists(st.binary(max_size=80) | st.text("ab\r\n步", max_size=20).map(str.encode), max_size=12)
)
def test_polling_between_writes_gives_the_same_lines_as_reading_once(
    tmp_path_factory: pytest.TempPathFactory, writes: list[bytes]
) -> None:
    log = tmp_path_factory.mktemp("run") / "run.log"
    log.touch()
    followed = FileSource(LocalFile(log), Echo())
    events: list[Event] = []
    for data in writes:
        append(log, data)
        events += followed.poll(NOW)
    events += followed.close()
    once = FileSource(LocalFile(log), Echo())
    assert texts(events) == texts([*once.poll(NOW), *once.close()])
