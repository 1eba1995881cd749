"""Where `:` leads."""

from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rltop.tui.destination import Destination, destination, moment, step_at

from . import demos


@pytest.mark.parametrize(
    ("words", "place"),
    [
        ("35", Destination("step", 35)),
        (":35", Destination("step", 35)),
        ("step 35", Destination("step", 35)),
        ("50%", Destination("share", 0.5)),
        ("12.5 %", Destination("share", 0.125)),
        ("14:30", Destination("time", 52_200)),
        ("0:00:07", Destination("time", 7)),
        ("120%", None),
        ("14:75", None),
        ("soon", None),
        ("", None),
    ],
)
def test_words_mean_a_place_or_nothing(words: str, place: Destination | None) -> None:
    assert destination(words) == place


@given(st.text(max_size=20))
def test_no_words_are_too_odd(words: str) -> None:
    destination(words)


def test_a_time_of_day_is_the_first_such_in_the_run() -> None:
    start = datetime(2026, 3, 5, 22, 15).timestamp()
    assert datetime.fromtimestamp(moment(23 * 3600, start)) == datetime(2026, 3, 5, 23, 0)
    assert datetime.fromtimestamp(moment(3600, start)) == datetime(2026, 3, 6, 1, 0)
    assert datetime.fromtimestamp(moment(22 * 3600 + 15 * 60, start)) == datetime(2026, 3, 5, 22, 15)


def test_without_a_clock_times_count_from_the_start() -> None:
    assert moment(5400, 0.0) == 5400


def test_a_share_is_of_the_steps_that_are_done() -> None:
    frame = demos.at_step("math-verl", 35)
    assert step_at(frame, Destination("share", 0.0)) == 1
    assert step_at(frame, Destination("share", 1.0)) == 35
    assert step_at(frame, Destination("step", 12)) == 12
