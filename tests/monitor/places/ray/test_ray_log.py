"""A copy of a log of which only the last lines can be had."""

import re
from collections.abc import Iterator
from itertools import count
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rltop.monitor.places.ray_log import ALL, ANCHOR_BYTES, LogCopy

WORDS = ["a", "same", "bar 1%\rbar 2%", "é", "step:%d " * 9, "step:%d " * 200]
"""The short ones come up to less than 4 KiB; what is longer has a number that comes once."""
LINES = st.lists(st.sampled_from(WORDS), max_size=40)


class Log:
    """A log elsewhere, and how many bytes were asked for."""

    def __init__(self) -> None:
        self.data = b""
        self.given = 0

    def ask(self, lines: int) -> Iterator[bytes]:
        kept = re.findall(rb"[^\n]*\n|[^\n]+", self.data)
        data = self.data if lines == ALL else b"".join(kept[-lines:])
        self.given += len(data)
        yield from (data[at : at + 1000] for at in range(0, len(data), 1000))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pieces=st.lists(LINES, min_size=1, max_size=6), cut=st.integers(0, 9))
def test_however_a_log_grows_its_copy_is_the_same(tmp_path: Path, pieces: list[list[str]], cut: int) -> None:
    path = tmp_path / "copy"
    path.unlink(missing_ok=True)
    log, copy, numbers = Log(), LogCopy(path), count()
    for lines in pieces:
        numbered = [line.replace("%d", str(next(numbers))) for line in lines]
        log.data += "\n".join(numbered).encode()[: -cut or None]
        list(copy.update(log.ask))
        assert path.read_bytes() == log.data


def test_a_log_written_anew_is_copied_anew(tmp_path: Path) -> None:
    log, copy = Log(), LogCopy(tmp_path / "copy")
    log.data = b"".join(b"line %d\n" % n for n in range(100))
    list(copy.update(log.ask))
    inode = copy.path.stat().st_ino
    kept = copy.path.open("rb")
    for data in (b"short\n", b"", b"other %d\n" * 50):
        log.data = data
        list(copy.update(log.ask))
        assert copy.path.read_bytes() == data
    assert copy.path.stat().st_ino != inode
    kept.close()


def test_a_growing_log_is_not_fetched_again_and_again(tmp_path: Path) -> None:
    log, copy = Log(), LogCopy(tmp_path / "copy")
    log.data = b"".join(b"step:%d - %s\n" % (n, b"x" * 500) for n in range(1000))
    list(copy.update(log.ask))
    before = log.given
    for n in range(20):
        log.data += b"step:%d - %s\n" % (1000 + n, b"x" * 500)
        list(copy.update(log.ask))
    assert copy.path.read_bytes() == log.data
    assert log.given - before < 20 * 30 * 550


def test_an_outage_of_many_lines_is_made_good(tmp_path: Path) -> None:
    log, copy = Log(), LogCopy(tmp_path / "copy")
    log.data = b"".join(b"line %d\n" % n for n in range(50))
    list(copy.update(log.ask))
    log.data += b"".join(b"line %d\n" % n for n in range(50, 30_000))
    list(copy.update(log.ask))
    assert copy.path.read_bytes() == log.data


def test_a_download_that_breaks_off_goes_on(tmp_path: Path) -> None:
    log, copy = Log(), LogCopy(tmp_path / "copy")
    log.data = bytes(range(1, 256)) * 40

    def broken(lines: int) -> Iterator[bytes]:
        yield log.data[: ANCHOR_BYTES * 3]
        raise ConnectionError

    try:
        list(copy.update(broken))
    except ConnectionError:
        list(copy.update(log.ask))
    assert copy.path.read_bytes() == log.data
