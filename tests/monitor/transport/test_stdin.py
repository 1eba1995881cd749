"""Reading a pipe without ever waiting for it."""

import os
from pathlib import Path

from rltop.monitor.source import Chunk
from rltop.monitor.transport.stdin import Stdin

NOW = 1_700_000_000.0


def test_gives_what_has_come_and_never_waits() -> None:
    reading, writing = os.pipe()
    stdin = Stdin(reading)
    try:
        assert list(stdin.read(NOW)) == []
        assert stdin.state == "waiting"
        os.write(writing, b"one\n")
        assert list(stdin.read(NOW)) == [Chunk(b"one\n", NOW)]
        assert (stdin.state, stdin.settled, stdin.modified_at) == ("reading", False, NOW)
        os.write(writing, b"two")
        os.close(writing)
        assert list(stdin.read(NOW + 1)) == [Chunk(b"two", NOW + 1)]
        assert (stdin.state, stdin.settled) == ("ended", True)
        assert list(stdin.read(NOW + 2)) == []
    finally:
        os.close(reading)


def test_a_redirected_file_has_no_times(tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    log.write_bytes(b"old\n")
    fd = os.open(log, os.O_RDONLY)
    try:
        stdin = Stdin(fd)
        assert list(stdin.read(NOW)) == [Chunk(b"old\n", None)]
        assert stdin.state == "ended"
    finally:
        os.close(fd)


def test_a_keyboard_is_not_read() -> None:
    master, keyboard = os.openpty()
    try:
        stdin = Stdin(keyboard)
        assert list(stdin.read(NOW)) == []
        assert stdin.state == "denied"
        assert "pipe" in stdin.reason
    finally:
        os.close(master)
        os.close(keyboard)


def test_a_closed_standard_input_is_a_state() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    os.close(writing)
    stdin = Stdin(reading)
    assert list(stdin.read(NOW)) == []
    assert stdin.state == "denied"


def test_closing_leaves_the_descriptor_to_the_process() -> None:
    reading, writing = os.pipe()
    try:
        Stdin(reading).close()
        os.fstat(reading)
    finally:
        os.close(reading)
        os.close(writing)
