from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rltop.monitor.sources.logtime import Clock, stamp_of

LOCAL = datetime(2026, 2, 26, 3, 57, 11).timestamp()


@pytest.mark.parametrize(
    "text",
    ["2026-02-26 03:57:11", "[2026/02/26 03:57:11]", "2026-02-26T03:57:11,000 INFO", "x=2026-02-26 03:57:11"],
)
def test_local_times_are_read(text: str) -> None:
    assert stamp_of(text) == LOCAL


def test_a_printed_zone_is_heeded() -> None:
    noon = datetime(2026, 8, 15, 12, 0, 0, tzinfo=UTC).timestamp()
    assert stamp_of("2026-08-15T12:00:00.029054704Z stdout F step") == pytest.approx(noon + 0.029054)
    assert stamp_of("2026-08-15T14:00:00+02:00 step") == noon
    assert stamp_of("2026-08-15 14:00:00+0200") == noon


@pytest.mark.parametrize(
    "text", ["02-26 03:57:11", "2026-02-26", "2026-13-26 03:57:11", "v2026-02-2603:57:11"]
)
def test_what_is_no_time_with_a_year_is_none(text: str) -> None:
    assert stamp_of(text) is None


@pytest.mark.parametrize(
    "text", ["INFO 02-26 03:57:11 [abstract.py:324]", "[rank7]:W0226 03:57:11.000000 59"]
)
def test_a_time_without_a_year_needs_a_neighbour(text: str) -> None:
    assert Clock().at(text) is None
    assert Clock().at(text, near=LOCAL - 40 * 86_400) == LOCAL
    clock = Clock()
    clock.at("2026-02-26 03:54:44,244 INFO job_manager.py:531 -- set up")
    assert clock.at(text) == LOCAL


def test_the_year_turns_between_two_lines() -> None:
    clock = Clock()
    clock.at("2025-12-31 23:59:58 start")
    assert clock.at("INFO 01-01 00:00:03 [x.py:1]") == datetime(2026, 1, 1, 0, 0, 3).timestamp()


@given(st.text(alphabet="0123456789-/: TZ+.,WI", max_size=60))
def test_anything_is_borne(text: str) -> None:
    clock = Clock()
    clock.at(text)
    clock.at(text, near=0.0)
