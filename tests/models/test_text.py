"""Numbers for people, and the dash for what is not known."""

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rltop.models import text

ALL: tuple[Callable[[float | None], str], ...] = (
    text.usd,
    text.usd_change,
    text.usd_per_hour,
    text.tokens,
    text.tokens_compact,
    text.tokens_unit,
    text.integer,
    text.number,
    text.ratio,
    text.percent,
    text.duration,
    text.duration_compact,
    text.ago,
)


@pytest.mark.parametrize("write", ALL)
@pytest.mark.parametrize("x", [None, math.nan, math.inf, -math.inf])
def test_what_is_not_known_is_a_dash(write: Callable[[float | None], str], x: float | None) -> None:
    assert write(x) == "–"


@pytest.mark.parametrize("write", ALL)
@given(x=st.floats(allow_nan=False, allow_infinity=False))
def test_any_number_is_written_in_a_few_characters(write: Callable[[float | None], str], x: float) -> None:
    if abs(x) < 1e15:
        assert 0 < len(write(x)) <= 28
    assert "nan" not in write(x)


@pytest.mark.parametrize(
    ("x", "written"),
    [
        (0, "$0.00"),
        (0.00001, "<$0.0001"),
        (0.0042, "$0.0042"),
        (0.00996, "$0.01"),
        (0.07, "$0.07"),
        (12.96, "$12.96"),
        (99.994, "$99.99"),
        (99.996, "$100"),
        (233.4, "$233"),
        (999.6, "$1.00k"),
        (1_240, "$1.24k"),
        (34_600, "$34.6k"),
        (999_960, "$1.00M"),
        (1_200_000, "$1.20M"),
        (-0.42, "-$0.42"),
    ],
)
def test_dollars(x: float, written: str) -> None:
    assert text.usd(x) == written


def test_a_change_in_dollars_shows_its_sign() -> None:
    assert text.usd_change(0.61) == "+$0.61"
    assert text.usd_change(61.4) == "+$61"
    assert text.usd_change(-18.2) == "-$18"
    assert text.usd_change(1_240) == "+$1.24k"


def test_a_rate_is_per_hour() -> None:
    assert text.usd_per_hour(39.83) == "$39.83/h"


@pytest.mark.parametrize(
    ("x", "full", "compact"),
    [
        (0, "0", "0"),
        (549, "549", "549"),
        (1376.4, "1 376", "1.38k"),
        (9_999.6, "10.0k", "10.0k"),
        (24_651, "24.7k", "24.7k"),
        (24_700_000, "24.7M", "24.7M"),
        (70.6e9, "70.6G", "70.6G"),
    ],
)
def test_tokens(x: float, full: str, compact: str) -> None:
    assert text.tokens(x) == full
    assert text.tokens_compact(x) == compact
    assert text.tokens_unit(x) == f"{full} tok"


@pytest.mark.parametrize(
    ("x", "written"),
    [
        (0, "0 %"),
        (0.0001, "<0.1 %"),
        (0.019, "1.9 %"),
        (0.0996, "10 %"),
        (0.44, "44 %"),
        (0.997, ">99 %"),
        (1, "100 %"),
        (1.018, "102 %"),
        (-0.32, "-32 %"),
    ],
)
def test_shares(x: float, written: str) -> None:
    assert text.percent(x) == written


@pytest.mark.parametrize(
    ("seconds", "full", "compact"),
    [
        (0, "0 s", "0s"),
        (0.8, "0.8 s", "1s"),
        (45, "45 s", "45s"),
        (59.7, "1 m", "1m"),
        (720, "12 m", "12m"),
        (4_140, "1 h 9 m", "1h 09m"),
        (8_040, "2 h 14 m", "2h 14m"),
        (3_599, "1 h 0 m", "1h 00m"),
        (86_399, "1 d 0 h", "1d 00h"),
        (273_600, "3 d 4 h", "3d 04h"),
        (-45, "-45 s", "-45s"),
    ],
)
def test_spans_of_time(seconds: float, full: str, compact: str) -> None:
    assert text.duration(seconds) == full
    assert text.duration_compact(seconds) == compact


def test_ago() -> None:
    assert text.ago(0.2) == "just now"
    assert text.ago(8_040) == "2 h 14 m ago"


@pytest.mark.parametrize(
    ("x", "written"),
    [
        (0, "0"),
        (0.79, "0.790"),
        (0.0042, "0.00420"),
        (4.2e-7, "4.2e-7"),
        (12.44, "12.4"),
        (124, "124"),
        (999.7, "1.00k"),
        (1_376, "1.38k"),
        (3e15, "3.0e15"),
        (-0.5, "-0.500"),
    ],
)
def test_plain_numbers_have_three_significant_digits(x: float, written: str) -> None:
    assert text.number(x) == written


def test_factors() -> None:
    assert text.ratio(2.51) == "×2.5"
    assert text.ratio(0.32) == "×0.32"
    assert text.ratio(12.4) == "×12"
    assert text.ratio(1_500) == "×1 500"


def test_whole_numbers_are_grouped_in_threes() -> None:
    assert text.integer(20_000) == "20 000"
    assert text.integer(1_376.4) == "1 376"
