"""Compressed logs, whole and damaged, and how a transport is chosen."""

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rltop.monitor.transport import open_transport
from rltop.monitor.transport.gzip import CHUNK_BYTES, PACKED_BYTES, GzipFile
from rltop.monitor.transport.local import LocalFile

NOW = 1_700_000_000.0
LOG = b"".join(b"step:%d - actor/loss:%d.5\n" % (i, i * 7919 % 1009) for i in range(20_000))


def read(path: Path) -> tuple[bytes, GzipFile]:
    transport = GzipFile(path)
    data = b"".join(chunk.data for chunk in transport.read(NOW))
    transport.close()
    return data, transport


def test_gives_the_text_in_bounded_chunks_without_times_and_ends(tmp_path: Path) -> None:
    path = tmp_path / "run.log.gz"
    path.write_bytes(gzip.compress(LOG))
    transport = GzipFile(path)
    chunks = list(transport.read(NOW))
    assert b"".join(chunk.data for chunk in chunks) == LOG
    assert len(chunks) > 1
    assert max(len(chunk.data) for chunk in chunks) <= CHUNK_BYTES
    assert {chunk.at for chunk in chunks} == {None}
    assert (transport.state, transport.reason, transport.settled) == ("ended", "", True)
    assert transport.modified_at == path.stat().st_mtime
    assert list(transport.read(NOW)) == []


def test_a_reader_may_stop_and_go_on(tmp_path: Path) -> None:
    path = tmp_path / "run.log.gz"
    path.write_bytes(gzip.compress(LOG))
    transport = GzipFile(path)
    data = b""
    while not transport.settled:
        for chunk in transport.read(NOW):
            data += chunk.data
            break
    assert data == LOG


def test_what_expands_a_thousandfold_is_not_unpacked_in_one_go(tmp_path: Path) -> None:
    path = tmp_path / "bomb.gz"
    path.write_bytes(gzip.compress(b"\0" * 10_000_000))
    transport = GzipFile(path)
    sizes = [len(chunk.data) for chunk in transport.read(NOW)]
    assert sum(sizes) == 10_000_000
    assert max(sizes) <= CHUNK_BYTES


@given(parts=st.lists(st.binary(max_size=300), min_size=1, max_size=5), padding=st.integers(0, 600))
def test_several_members_with_padding_between_are_one_stream(
    tmp_path_factory: pytest.TempPathFactory, parts: list[bytes], padding: int
) -> None:
    path = tmp_path_factory.mktemp("run") / "run.log.gz"
    path.write_bytes((b"\0" * padding).join(gzip.compress(part) for part in parts))
    data, transport = read(path)
    assert data == b"".join(parts)
    assert (transport.state, transport.reason) == ("ended", "")


@pytest.mark.parametrize("before_border", [-1, 0, 1])
def test_a_member_may_begin_at_the_border_of_a_read(tmp_path: Path, before_border: int) -> None:
    packed = gzip.compress(LOG[:1000])
    tail = gzip.compress(b"end\n")
    filler = PACKED_BYTES - len(packed) - before_border
    path = tmp_path / "run.log.gz"
    path.write_bytes(packed + b"\0" * filler + tail)
    data, transport = read(path)
    assert data == LOG[:1000] + b"end\n"
    assert transport.reason == ""


@given(share=st.floats(0.05, 0.95))
def test_a_file_cut_off_gives_what_is_there_and_says_so(
    tmp_path_factory: pytest.TempPathFactory, share: float
) -> None:
    path = tmp_path_factory.mktemp("run") / "run.log.gz"
    packed = gzip.compress(LOG, 1)
    path.write_bytes(packed[: int(len(packed) * share)])
    data, transport = read(path)
    assert LOG.startswith(data)
    assert len(data) > len(LOG) * (share - 0.05) * 0.8
    assert (transport.state, transport.reason) == ("ended", "cut off in the middle")


def test_a_damaged_file_gives_what_comes_before_the_damage(tmp_path: Path) -> None:
    path = tmp_path / "run.log.gz"
    packed = bytearray(gzip.compress(LOG))
    packed[-8:-4] = b"\0\0\0\0"  # the check sum: every byte of text is sound
    path.write_bytes(packed)
    data, transport = read(path)
    assert data == LOG
    assert transport.state == "ended"
    assert transport.reason.startswith("damaged: ")


@given(place=st.integers(10, 2000), flip=st.integers(1, 255))
def test_no_damage_raises(tmp_path_factory: pytest.TempPathFactory, place: int, flip: int) -> None:
    path = tmp_path_factory.mktemp("run") / "run.log.gz"
    packed = bytearray(gzip.compress(LOG[:10_000]))
    packed[place % len(packed)] ^= flip
    path.write_bytes(packed)
    _, transport = read(path)
    assert transport.state == "ended"


def test_what_follows_the_last_member_is_named(tmp_path: Path) -> None:
    path = tmp_path / "run.log.gz"
    path.write_bytes(gzip.compress(b"one\n") + b"plain text")
    data, transport = read(path)
    assert data == b"one\n"
    assert transport.reason == "followed by bytes that are not gzip"


def test_a_file_that_is_gone_or_no_file_is_a_state(tmp_path: Path) -> None:
    _, gone = read(tmp_path / "gone.gz")
    assert gone.reason == "the file is gone"
    _, folder = read(tmp_path)
    assert folder.reason


def test_the_transport_is_chosen_by_the_first_bytes_and_not_by_the_name(tmp_path: Path) -> None:
    packed, plain = tmp_path / "run.log", tmp_path / "run.log.gz"
    packed.write_bytes(gzip.compress(b"x\n"))
    plain.write_bytes(b"x\n")
    assert isinstance(open_transport(packed), GzipFile)
    assert isinstance(open_transport(plain), LocalFile)
    assert isinstance(open_transport(tmp_path / "not-there.gz"), LocalFile)
    assert isinstance(open_transport(tmp_path), LocalFile)
