"""Following a file: growth, rotation, truncation and all that keeps it from being read."""

import os
import random
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rltop.monitor.source import Chunk
from rltop.monitor.transport.local import CHUNK_BYTES, LocalFile

NOW = 1_700_000_000.0


@contextmanager
def following(path: Path) -> Generator[LocalFile]:
    transport = LocalFile(path)
    try:
        yield transport
    finally:
        transport.close()


@contextmanager
def unprivileged() -> Generator[None]:
    """Root may read everything: become nobody for a moment. Others stay who they are."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def text(chunks: list[Chunk]) -> bytes:
    return b"".join(chunk.data for chunk in chunks)


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def test_gives_what_is_there_without_a_time_and_what_comes_later_with_one(tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    log.write_bytes(b"old\n")
    with following(log) as transport:
        assert list(transport.read(NOW)) == [Chunk(b"old\n", None)]
        assert list(transport.read(NOW + 1)) == []
        append(log, b"new\n")
        assert list(transport.read(NOW + 2)) == [Chunk(b"new\n", NOW + 2)]
        assert transport.state == "reading"


def test_bytes_that_come_while_the_old_ones_are_still_being_read_have_a_time(tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    log.write_bytes(b"a" * (CHUNK_BYTES + 10))
    with following(log) as transport:
        first = next(iter(transport.read(NOW)))
        append(log, b"b" * 5)
        rest = list(transport.read(NOW + 1))
    assert first == Chunk(b"a" * CHUNK_BYTES, None)
    assert rest == [Chunk(b"a" * 10, None), Chunk(b"b" * 5, NOW + 1)]


def test_waits_for_a_file_that_is_not_there_yet(tmp_path: Path) -> None:
    log = tmp_path / "later" / "run.log"
    with following(log) as transport:
        assert list(transport.read(NOW)) == []
        assert (transport.state, transport.reason) == ("waiting", "not there yet")
        log.parent.mkdir()
        log.write_bytes(b"first\n")
        assert list(transport.read(NOW + 1)) == [Chunk(b"first\n", NOW + 1)]
        assert (transport.state, transport.reason) == ("reading", "")


def test_says_when_it_may_not_read_and_reads_once_it_may(tmp_path: Path) -> None:
    folder = tmp_path / "closed"
    folder.mkdir()
    log = folder / "run.log"
    log.write_bytes(b"x\n")
    with following(log) as transport:
        log.chmod(0)
        folder.chmod(0)
        with unprivileged():
            assert list(transport.read(NOW)) == []
        assert (transport.state, transport.reason) == ("denied", "no permission to read it")
        folder.chmod(0o700)
        log.chmod(0o600)
        assert list(transport.read(NOW + 1)) == [Chunk(b"x\n", None)]


@pytest.mark.parametrize(("kind", "word"), [("folder", "folder"), ("pipe", "`-`"), ("device", "device")])
def test_does_not_open_what_is_not_a_file(tmp_path: Path, kind: str, word: str) -> None:
    path = tmp_path / kind
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path = Path("/dev/null")
    with following(path) as transport:
        assert list(transport.read(NOW)) == []
        assert transport.state == "denied"
        assert word in transport.reason


def test_a_name_too_long_for_any_file_is_a_state(tmp_path: Path) -> None:
    with following(tmp_path / ("x" * 5000)) as transport:
        assert list(transport.read(NOW)) == []
        assert transport.state == "denied"
        assert transport.reason


def test_a_name_that_is_not_utf8_can_be_shown(tmp_path: Path) -> None:
    with following(Path(os.fsdecode(bytes(tmp_path) + b"/run\xff.log"))) as transport:
        assert transport.path.endswith("run\ufffd.log")
        transport.path.encode()


def test_goes_on_where_it_was_when_a_lost_file_comes_back_grown(tmp_path: Path) -> None:
    log, away = tmp_path / "run.log", tmp_path / "away"
    log.write_bytes(b"one\n")
    with following(log) as transport:
        list(transport.read(NOW))
        log.rename(away)
        assert list(transport.read(NOW)) == []
        assert (transport.state, transport.reason) == ("lost", "the file is gone")
        append(away, b"two\n")
        away.rename(log)
        assert list(transport.read(NOW + 1)) == [Chunk(b"two\n", NOW + 1)]
        assert transport.state == "reading"


def test_a_handle_gone_stale_is_replaced_without_a_break(tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    log.write_bytes(b"one\n")
    with following(log) as transport:
        list(transport.read(NOW))
        transport.close()
        append(log, b"two\n")
        assert list(transport.read(NOW + 1)) == [Chunk(b"two\n", NOW + 1)]


def test_follows_the_old_file_while_the_path_is_gone(tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    log.write_bytes(b"one\n")
    with following(log) as transport:
        list(transport.read(NOW))
        with log.open("ab") as writer:
            log.unlink()
            writer.write(b"last words\n")
        assert text(list(transport.read(NOW + 1))) == b"last words\n"
        assert transport.state == "lost"


def test_reads_a_rotated_file_to_its_end_before_the_new_one(tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    log.write_bytes(b"one\n")
    with following(log) as transport:
        list(transport.read(NOW))
        append(log, b"two\n")
        log.rename(tmp_path / "run.log.1")
        log.write_bytes(b"three\n")
        assert list(transport.read(NOW + 1)) == [
            Chunk(b"two\n", NOW + 1),
            Chunk(b"three\n", NOW + 1, restarted=True),
        ]


def test_stays_with_the_old_file_while_the_new_one_is_empty(tmp_path: Path) -> None:
    log, old = tmp_path / "run.log", tmp_path / "run.log.1"
    log.write_bytes(b"one\n")
    with following(log) as transport:
        list(transport.read(NOW))
        log.rename(old)
        log.touch()
        assert list(transport.read(NOW)) == []
        append(old, b"two\n")
        assert text(list(transport.read(NOW))) == b"two\n"
        append(old, b"three\n")
        append(log, b"four\n")
        assert [(c.data, c.restarted) for c in transport.read(NOW)] == [
            (b"three\n", False),
            (b"four\n", True),
        ]


def test_a_reader_that_stops_amid_the_rotated_file_loses_nothing(tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    log.write_bytes(b"0")
    with following(log) as transport:
        list(transport.read(NOW))
        append(log, b"1" * CHUNK_BYTES + b"2")
        log.rename(tmp_path / "run.log.1")
        log.write_bytes(b"3")
        first = next(iter(transport.read(NOW)))
        rest = list(transport.read(NOW))
    assert text([first, *rest]) == b"1" * CHUNK_BYTES + b"23"
    assert [chunk.restarted for chunk in rest] == [False, True]


def test_a_truncated_file_is_read_from_its_start(tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    log.write_bytes(b"one\ntwo\n")
    with following(log) as transport:
        list(transport.read(NOW))
        log.write_bytes(b"")
        assert list(transport.read(NOW)) == []
        append(log, b"new\n")
        assert list(transport.read(NOW)) == [Chunk(b"new\n", NOW, restarted=True)]


def test_copytruncate_is_seen_even_when_the_file_has_outgrown_the_offset(tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    log.write_bytes(b"one\n")
    with following(log) as transport, log.open("ab") as writer:
        list(transport.read(NOW))
        os.truncate(log, 0)
        writer.write(b"longer than before\n")
        writer.flush()
        assert list(transport.read(NOW)) == [Chunk(b"longer than before\n", NOW, restarted=True)]


def test_a_writer_that_keeps_its_place_after_copytruncate_leaves_a_hole_that_is_read_over(
    tmp_path: Path,
) -> None:
    log = tmp_path / "run.log"
    with following(log) as transport, log.open("wb", buffering=0) as writer:
        writer.write(b"one\n")
        list(transport.read(NOW))
        os.truncate(log, 0)
        writer.write(b"two\n")
        (chunk,) = transport.read(NOW)
    assert chunk == Chunk(b"\0\0\0\0two\n", NOW, restarted=True)


def test_other_content_of_the_same_size_under_the_same_inode_is_a_new_file(tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    log.write_bytes(b"step 1\n")
    inode = log.stat().st_ino
    with following(log) as transport:
        list(transport.read(NOW))
        log.write_bytes(b"step 9\n")
        assert log.stat().st_ino == inode
        assert list(transport.read(NOW)) == [Chunk(b"step 9\n", NOW, restarted=True)]


def test_a_file_written_anew_is_told_by_more_than_its_last_few_bytes(tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    log.write_bytes(b"step 1\n")
    with following(log) as transport:
        list(transport.read(NOW))
        append(log, b"\n")
        list(transport.read(NOW))
        log.write_bytes(b"step 9\n\n")
        assert list(transport.read(NOW)) == [Chunk(b"step 9\n\n", NOW, restarted=True)]


def test_the_same_content_written_again_in_place_is_no_news(tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    log.write_bytes(b"step 1\n")
    with following(log) as transport:
        list(transport.read(NOW))
        log.write_bytes(b"step 1\nstep 2\n")
        assert list(transport.read(NOW)) == [Chunk(b"step 2\n", NOW)]


def test_a_grown_copy_put_in_the_place_of_the_one_before_is_read_on(tmp_path: Path) -> None:
    log, copy = tmp_path / "run.log", tmp_path / ".run.log.x7Yz"
    log.write_bytes(b"step 1\n" * 50_000)
    with following(log) as transport:
        list(transport.read(NOW))
        copy.write_bytes(b"step 1\n" * 50_000 + b"step 2\n")
        copy.rename(log)  # as rsync does
        assert list(transport.read(NOW + 1)) == [Chunk(b"step 2\n", NOW + 1)]


@pytest.mark.parametrize("content", [b"step 0\nstep 9\nstep 2\n", b"step 1\n"])
def test_a_copy_that_differs_or_is_shorter_is_read_from_its_start(tmp_path: Path, content: bytes) -> None:
    log, copy = tmp_path / "run.log", tmp_path / ".run.log.x7Yz"
    log.write_bytes(b"step 1\nstep 9\n")
    with following(log) as transport:
        list(transport.read(NOW))
        copy.write_bytes(content)
        copy.rename(log)
        assert list(transport.read(NOW + 1)) == [Chunk(content, NOW + 1, restarted=True)]


def test_a_folder_in_place_of_the_file_is_a_state_and_passes(tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    log.write_bytes(b"one\n")
    with following(log) as transport:
        list(transport.read(NOW))
        log.unlink()
        log.mkdir()
        assert list(transport.read(NOW)) == []
        assert transport.state == "denied"
        log.rmdir()
        log.write_bytes(b"two\n")
        assert list(transport.read(NOW)) == [Chunk(b"two\n", NOW, restarted=True)]


def test_a_link_moved_to_the_next_run_starts_that_run(tmp_path: Path) -> None:
    (tmp_path / "run1").write_bytes(b"one\n")
    (tmp_path / "run2").write_bytes(b"two\n")
    latest = tmp_path / "latest"
    latest.symlink_to("run1")
    with following(latest) as transport:
        list(transport.read(NOW))
        latest.unlink()
        latest.symlink_to("run2")
        assert list(transport.read(NOW)) == [Chunk(b"two\n", NOW, restarted=True)]


def test_chunks_are_bounded(tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    log.write_bytes(b"x" * (3 * CHUNK_BYTES + 1))
    with following(log) as transport:
        assert [len(c.data) for c in transport.read(NOW)] == [CHUNK_BYTES] * 3 + [1]


def test_a_file_is_settled_after_a_minute_of_silence(tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    log.write_bytes(b"half a li")
    os.utime(log, (NOW, NOW))
    with following(log) as transport:
        assert not transport.settled
        list(transport.read(NOW + 59))
        assert not transport.settled
        assert transport.modified_at == NOW
        list(transport.read(NOW + 61))
        assert transport.settled


def test_a_file_is_not_settled_before_all_of_it_is_read(tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    log.write_bytes(b"x" * (2 * CHUNK_BYTES))
    os.utime(log, (NOW, NOW))
    with following(log) as transport:
        next(iter(transport.read(NOW + 600)))
        assert not transport.settled
        list(transport.read(NOW + 600))
        assert transport.settled


def test_a_file_that_we_saw_grow_is_not_settled_by_a_server_clock_that_is_slow(tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    log.write_bytes(b"")
    with following(log) as transport:
        list(transport.read(NOW))
        append(log, b"half")
        os.utime(log, (NOW - 3600, NOW - 3600))
        list(transport.read(NOW + 1))
        assert not transport.settled
        list(transport.read(NOW + 62))
        assert transport.settled


def test_what_was_held_of_a_truncated_file_is_not_settled_but_void(tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    log.write_bytes(b"half a li")
    with following(log) as transport:
        list(transport.read(NOW))
        log.write_bytes(b"")
        os.utime(log, (NOW, NOW))
        list(transport.read(NOW + 600))
        assert not transport.settled


MOVES = st.one_of(
    st.tuples(st.just("append"), st.binary(max_size=200)),
    st.tuples(st.just("rotate"), st.binary(min_size=1, max_size=200)),
    st.tuples(st.just("poll"), st.just(b"")),
)


@given(moves=st.lists(MOVES, max_size=25))
def test_appending_and_rotating_gives_every_byte_once(
    tmp_path_factory: pytest.TempPathFactory, moves: list[tuple[str, bytes]]
) -> None:
    """At most one rotation lies between two looks: what was rotated twice has no name to be found by."""
    folder = tmp_path_factory.mktemp("run")
    log = folder / "run.log"
    log.touch()
    written, files, given = b"", 1, b""
    restarts = rotations = 0
    with following(log) as transport:

        def poll() -> None:
            nonlocal given, restarts
            for chunk in transport.read(NOW):
                given += chunk.data
                restarts += chunk.restarted

        poll()
        for move, data in moves:
            if move == "append":
                append(log, data)
                written += data
            elif move == "rotate":
                poll()
                rotations += log.stat().st_size > 0
                log.rename(folder / f"run.log.{files}")
                files += 1
                log.write_bytes(data)
                written += data
            else:
                poll()
        poll()
    assert given == written
    assert restarts == rotations


WRITER = """
import sys
content = open(sys.argv[1], "rb").read()
with open(sys.argv[2], "ab", buffering=0) as log:
    start = 0
    for size in map(int, sys.argv[3].split(",")):
        log.write(content[start : start + size])
        start += size
"""


def test_a_process_that_writes_at_random_byte_boundaries_is_read_exactly(tmp_path: Path) -> None:
    seed = random.Random(7)
    sizes = [seed.choice([1, 3, 64, 999, 4096]) for _ in range(2000)]
    content, log = tmp_path / "content", tmp_path / "run.log"
    content.write_bytes(seed.randbytes(sum(sizes)))
    given = b""
    arguments = [sys.executable, "-I", "-S", "-c", WRITER, content, log, ",".join(map(str, sizes))]
    with following(log) as transport, subprocess.Popen(arguments) as writer:
        running = True
        while running:
            running = writer.poll() is None
            given += text(list(transport.read(NOW)))
    assert writer.returncode == 0
    assert given == content.read_bytes()
