"""The smoothed line is an average that starts unbiased, however it is read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rltop.tui.smoothing import Smoothed


def test_a_constant_stays_what_it_is() -> None:
    assert Smoothed().read([3.0] * 5, 0.9) == pytest.approx([3.0] * 5)


def test_the_second_value_weighs_as_it_should() -> None:
    assert Smoothed().read([0.0, 1.0], 0.6)[1] == pytest.approx(1 / 1.6)


@given(st.lists(st.floats(-1e6, 1e6), max_size=60), st.sampled_from([0.6, 0.97]))
def test_read_as_it_grows_it_is_what_it_is_at_once(values: list[float], weight: float) -> None:
    growing = Smoothed()
    kept: list[float] = []
    last: list[float] = []
    for value in values:
        kept.append(value)
        last = growing.read(kept, weight)
    assert last == pytest.approx(Smoothed().read(list(values), weight))
