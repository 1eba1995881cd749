"""Cutting bytes into lines, whatever the bytes and wherever they were cut."""

from itertools import pairwise
from time import process_time

from hypothesis import given
from hypothesis import strategies as st

from rltop.monitor.lines import Lines
from rltop.monitor.source import Chunk, Line

BYTES = st.lists(
    st.sampled_from(
        [b"\n", b"\r", b"\r\n", b"\0", b"a", b"\xef\xbb\xbf", "é".encode(), "步".encode(), b"\xff"]
    )
).map(b"".join)


def texts(*chunks: bytes, longest: int | None = None) -> list[str]:
    """The lines of a stream that came in these chunks, the last one without an end too."""
    lines = Lines() if longest is None else Lines(longest)
    found = [line for chunk in chunks for line in lines.feed(Chunk(chunk, None))]
    return [line.text for line in (*found, *lines.flush())]


def cut(data: bytes, places: list[int]) -> list[bytes]:
    """The data, cut at these places."""
    edges = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[start:end] for start, end in pairwise(edges)]


@given(data=BYTES | st.binary(), places=st.lists(st.integers(0, 10_000)))
def test_lines_do_not_depend_on_how_the_bytes_were_cut(data: bytes, places: list[int]) -> None:
    assert texts(*cut(data, places)) == texts(data)


@given(data=BYTES | st.binary(), places=st.lists(st.integers(0, 10_000)), longest=st.integers(1, 12))
def test_nor_do_lines_that_are_cut_short(data: bytes, places: list[int], longest: int) -> None:
    assert texts(*cut(data, places), longest=longest) == texts(data, longest=longest)


@given(written=st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\n\r\0\ufeff"), min_size=1)))
def test_gives_back_what_was_written(written: list[str]) -> None:
    assert texts("".join(line + "\n" for line in written).encode()) == written


def test_carries_the_time_of_the_chunk_that_ends_a_line_and_counts_from_one() -> None:
    lines = Lines()
    assert list(lines.feed(Chunk(b"one\ntw", None))) == [Line("one", None, 1)]
    assert list(lines.feed(Chunk(b"o\nthree\nfour", 7.0))) == [Line("two", 7.0, 2), Line("three", 7.0, 3)]
    assert list(lines.feed(Chunk(b"\n", 9.0))) == [Line("four", 9.0, 4)]


def test_a_character_split_over_chunks_is_whole() -> None:
    assert texts(b"\xe6\xad", b"\xa5\n") == ["步"]


def test_invalid_bytes_are_replaced_and_do_not_eat_the_end_of_the_line() -> None:
    assert texts(b"a\xe6\xad\nb\n") == ["a\ufffd", "b"]


def test_only_a_carriage_return_at_the_end_is_dropped() -> None:
    assert texts(b"10%\r20%\r\nend\r\n") == ["10%\r20%", "end"]


def test_other_line_breaks_of_unicode_end_no_line() -> None:
    assert texts("a\u2028b\x0bc\x85d\n".encode()) == ["a\u2028b\x0bc\x85d"]


def test_a_byte_order_mark_is_dropped_at_the_start_only() -> None:
    assert texts(b"\xef\xbb\xbfone\n\xef\xbb\xbftwo\n") == ["one", "\ufefftwo"]


def test_a_hole_of_nuls_is_skipped_and_does_not_make_the_next_line_too_long() -> None:
    assert texts(*[b"\0" * 1000] * 5, b"step\n", longest=10) == ["step"]


def test_a_line_too_long_is_cut_and_counted() -> None:
    lines = Lines(longest=4)
    found = list(lines.feed(Chunk(b"abcdefg\nabcd\nab", None)))
    found += lines.feed(Chunk(b"cde\n", None))
    found += lines.feed(Chunk(b"a", None))
    found += lines.feed(Chunk(b"b\n", None))
    assert [line.text for line in found] == ["abcd", "abcd", "abcd", "ab"]
    assert lines.overlong == 2


def test_a_restart_drops_the_unfinished_line_and_counts_anew() -> None:
    lines = Lines()
    assert len(list(lines.feed(Chunk(b"one\nhalf", None)))) == 1
    lines.restart()
    assert list(lines.feed(Chunk(b"first\n", 1.0, restarted=True))) == [Line("first", 1.0, 1)]


def test_the_tail_is_given_once() -> None:
    lines = Lines()
    list(lines.feed(Chunk(b"one\ntail", 5.0)))
    assert list(lines.flush()) == [Line("tail", 5.0, 2)]
    assert list(lines.flush()) == []
    assert list(lines.feed(Chunk(b"\r\nnext\n", 6.0))) == [Line("next", 6.0, 3)]


def test_a_tail_that_goes_on_after_all_is_given_whole_under_the_same_number() -> None:
    lines = Lines()
    list(lines.feed(Chunk(b'{"step": 1', 5.0)))
    assert list(lines.flush()) == [Line('{"step": 1', 5.0, 1)]
    assert list(lines.feed(Chunk(b"2}\n", 6.0))) == [Line('{"step": 12}', 6.0, 1)]


def test_a_line_of_ten_megabytes_takes_linear_time() -> None:
    """Joined anew at each of the 20,000 chunks it would copy 100 GB; a second is ample for 10 MB."""
    lines, chunk_bytes = Lines(), 512
    chunk = Chunk(b"x" * chunk_bytes, None)
    started = process_time()
    for _ in range(10_000_000 // chunk_bytes):
        assert not list(lines.feed(chunk))
    (line,) = lines.feed(Chunk(b"\n", None))
    assert len(line.text) == 10_000_000 // chunk_bytes * chunk_bytes
    assert process_time() - started < 1.0
