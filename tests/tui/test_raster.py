"""Curves and bands land on the right dots, and decimation loses no spike."""

import math

from hypothesis import given
from hypothesis import strategies as st

from rltop.tui.glyphs import BRAILLE_BITS
from rltop.tui.raster import View, band, curve, extents

VIEW = View(x_low=0, x_high=7, y_low=0, y_high=7, width=4, height=2)


def dots(masks: bytearray, view: View) -> set[tuple[int, int]]:
    """(dot column, dot row) of every dot that is set."""
    return {
        (index % view.width * 2 + x, index // view.width * 4 + y)
        for index, mask in enumerate(masks)
        for x in range(2)
        for y in range(4)
        if mask & BRAILLE_BITS[x][y]
    }


def test_a_diagonal_is_a_diagonal() -> None:
    drawn = dots(curve(range(8), range(8), VIEW), VIEW)
    assert {(x, 7 - x) for x in range(8)} <= drawn
    assert all(abs(7 - x - y) <= 1 for x, y in drawn)


def test_points_far_apart_are_joined() -> None:
    columns = {x for x, _ in dots(curve([0, 7], [0, 7], VIEW), VIEW)}
    assert columns == set(range(8))


def test_a_single_point_is_a_single_dot() -> None:
    assert dots(curve([7], [0], VIEW), VIEW) == {(7, 7)}


def test_a_dashed_line_has_gaps() -> None:
    columns = {x for x, _ in dots(curve(range(8), [3] * 8, VIEW, (2, 1)), VIEW)}
    assert columns == {0, 1, 3, 4, 6, 7}


def test_values_off_the_scale_are_left_out_and_never_wrap() -> None:
    assert dots(curve([0, 1], [-50, -40], VIEW), VIEW) == set()
    assert all(y == 0 or x < 4 for x, y in dots(curve(range(8), [3] * 4 + [70] * 4, VIEW), VIEW))


@given(
    at=st.integers(min_value=0, max_value=19_999),
    spike=st.sampled_from([-1.0, 1.0]),
)
def test_a_spike_of_one_step_in_twenty_thousand_is_drawn_to_its_tip(at: int, spike: float) -> None:
    view = View(x_low=0, x_high=19_999, y_low=-1, y_high=1, width=120, height=20)
    ys = [0.0] * 20_000
    ys[at] = spike
    tip = 0 if spike > 0 else view.height * 4 - 1
    assert any(y == tip for _, y in dots(curve(range(20_000), ys, view), view))


@given(st.lists(st.floats(min_value=0, max_value=7), min_size=1, max_size=300))
def test_each_column_spans_all_of_its_values(ys: list[float]) -> None:
    view = View(x_low=0, x_high=max(len(ys) - 1, 1), y_low=0, y_high=7, width=4, height=2)
    found = extents(range(len(ys)), ys, view)
    for index, y in enumerate(ys):
        column = view.dot_x(index)  # one that lies between two columns may go to either
        near = (found[math.floor(column)], found[math.ceil(column)])
        assert any(extent and extent[0] - 1e-9 <= y <= extent[1] + 1e-9 for extent in near)


def test_a_band_covers_what_lies_between_its_lines() -> None:
    view = View(x_low=0, x_high=7, y_low=0, y_high=4, width=4, height=4)
    grid = band([0, 7], [1, 1], [2.5, 2.5], view)
    column = [row[1] for row in grid]
    assert column[0] is None
    assert column[3] is None
    assert column[1] is not None
    assert (column[1].low, column[1].high) == (0, 4)
    assert column[2] is not None
    assert column[2].eighths == 8


def test_a_band_reaches_only_as_far_as_its_points() -> None:
    view = View(x_low=0, x_high=7, y_low=0, y_high=4, width=4, height=4)
    grid = band([4, 7], [1, 1], [4, 4], view)
    assert [cover is not None for cover in grid[0]] == [False, False, True, True]


def test_a_band_thinner_than_a_cell_is_left_to_the_line() -> None:
    view = View(x_low=0, x_high=7, y_low=0, y_high=4, width=4, height=4)
    assert all(cover is None for row in band([0, 7], [1, 1], [1.4, 1.4], view) for cover in row)
