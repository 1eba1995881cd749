"""Axes are round, tight and evenly ruled."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rltop.tui import axis

AMOUNTS = st.floats(min_value=1e-6, max_value=1e9)


@pytest.mark.parametrize(
    ("span", "count", "step"), [(100, 4, 25), (94, 5, 20), (300, 3, 100), (1, 4, 0.25), (0.003, 3, 0.001)]
)
def test_ticks_are_round_distances_apart(span: float, count: int, step: float) -> None:
    assert axis.nice_step(span, count) == pytest.approx(step)


@given(low=AMOUNTS, span=AMOUNTS, rows=st.integers(min_value=1, max_value=60))
def test_a_scale_covers_its_values(low: float, span: float, rows: int) -> None:
    scale = axis.scale(low, low + span, rows)
    assert scale.low <= low * (1 + 1e-9)
    assert scale.high >= (low + span) * (1 - 1e-9)


@given(high=AMOUNTS, rows=st.integers(min_value=3, max_value=60))
def test_ticks_lie_a_whole_number_of_rows_apart(high: float, rows: int) -> None:
    scale = axis.scale(0.0, high, rows)
    apart = scale.step / (scale.high - scale.low) * (rows * 4 - 1) / 4
    assert apart == pytest.approx(round(apart))


@given(high=AMOUNTS, rows=st.integers(min_value=5, max_value=60))
def test_a_scale_wastes_less_than_half_of_the_room(high: float, rows: int) -> None:
    scale = axis.scale(0.0, high, rows)
    assert scale.high <= 2 * high


def test_a_level_series_has_a_scale_too() -> None:
    for value in (0.0, 5.0, -3.0):
        scale = axis.scale(value, value, 6)
        assert scale.low <= value < scale.high


@pytest.mark.parametrize(
    ("value", "step", "text"),
    [(0, 50, "$0"), (150, 50, "$150"), (2.5, 2.5, "$2.50"), (1500, 500, "$1 500"), (20_000, 5000, "$20k")],
)
def test_dollars_are_written_as_people_write_them(value: float, step: float, text: str) -> None:
    assert axis.dollars(value, step) == text


@pytest.mark.parametrize(
    ("value", "step", "text"),
    [
        (0.25, 0.25, "0.25"),
        (0.5, 0.25, "0.50"),
        (2e-5, 1e-5, "2e-5"),
        (1500, 500, "1500"),
        (12_500, 2500, "12.5k"),
        (2.5e6, 5e5, "2.5M"),
    ],
)
def test_labels_tell_neighbouring_ticks_apart(value: float, step: float, text: str) -> None:
    assert axis.label(value, step) == text


def test_tokens_and_shares_have_their_own_labels() -> None:
    assert axis.token_count(1500, 500) == "1 500"
    assert axis.share(0.5, 0.25) == "50 %"
