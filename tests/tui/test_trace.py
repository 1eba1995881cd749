"""Lines one cell high."""

from hypothesis import given
from hypothesis import strategies as st

from rltop.tui.trace import trace


def test_what_rises_rises_and_what_falls_falls() -> None:
    assert trace([1, 2, 3, 4], 2) == "⡠⠊"
    assert trace([4, 3, 2, 1], 2) == "⠑⢄"


def test_a_wobble_lies_flat() -> None:
    assert len(set(trace([320, 321, 319, 320, 322, 318], 3))) == 1


def test_nothing_is_no_line() -> None:
    assert trace([], 8) == ""
    assert trace([1.0], 0) == ""


@given(st.lists(st.floats(-1e12, 1e12), max_size=60), st.integers(0, 20))
def test_a_trace_never_takes_more_than_its_room(values: list[float], width: int) -> None:
    assert len(trace(values, width)) <= width
