"""Scores of evaluations: those of one size on one axis, and each legible."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rltop.tui.app import RltopApp
from rltop.tui.crosshair import crossed
from rltop.tui.lines import Line, cells
from rltop.tui.plot import Curve, Plot, draw, paint, place
from rltop.tui.sight import Sight, seen_through
from rltop.tui.widgets.evalchart import on_axes

from . import frames
from .runners import Frames, until

XS = [0.0, 10.0, 20.0]
MIXED = Plot(
    0,
    20,
    0.4,
    0.8,
    (Curve(XS, [600.0, 700.0, 900.0], "projected", name="length", right=True), Curve(XS, [0.4, 0.6, 0.8])),
    right=(600.0, 900.0),
)


def words(lines: list[Line]) -> list[str]:
    return ["".join(span.text for span in line) for line in lines]


def sides(*scores: list[float]) -> list[bool]:
    """For each score in the order told, whether it is on the axis at the right."""
    curves = tuple(reversed([Curve(XS[: len(ys)], ys, name=str(n)) for n, ys in enumerate(scores)]))
    return [curve.right for curve in reversed(on_axes(curves))]


@pytest.mark.parametrize(
    ("scores", "right"),
    [
        ([[0.4, 0.8], [600.0, 900.0]], [False, True]),
        ([[600.0, 900.0], [0.4, 0.8], [0.01]], [False, True, True]),
        ([[0.9], [0.02]], [False, False]),
        ([[-3.0, 2.0], [0.9, 1.0]], [False, False]),
        ([[300.0], [900.0], [450.0]], [False, False, False]),
        ([[0.5], [7.0], [900.0]], [False, True]),
    ],
)
def test_scores_of_one_size_share_an_axis(scores: list[list[float]], right: list[bool]) -> None:
    assert sides(*scores) == right


def test_each_axis_has_round_labels_of_its_own() -> None:
    lines = words(draw(MIXED, 60, 14))
    assert any(line.startswith("0.8 ┤") for line in lines)
    assert any(line.endswith("├900") for line in lines)
    assert lines[-2].startswith("0.4 ┼")
    assert lines[-2].endswith("┴600")


@given(width=st.integers(1, 120), height=st.integers(1, 40))
def test_a_plot_of_two_axes_fills_its_room_exactly(width: int, height: int) -> None:
    lines = draw(MIXED, width, height)
    assert len(lines) == height
    assert {cells(line) for line in lines} == {width}


def test_the_crosshair_marks_each_value_on_its_own_axis() -> None:
    placed = place(MIXED, 60, 14)
    assert placed is not None
    lines = words(crossed(paint(MIXED, placed, 60), MIXED, placed, 10.0))
    rows = [index for index, line in enumerate(lines) if "◆" in line]
    assert rows == sorted((placed.view.row(0.6), placed.view_of(MIXED.curves[0]).row(700.0)))


def test_zooming_fits_each_axis_to_what_can_be_seen() -> None:
    seen = seen_through(MIXED, Sight(low=10.0, high=20.0))
    assert seen.right == (600.0, 900.0)
    assert 0.38 < seen.y_low <= 0.4
    assert seen.y_high < 0.9


async def test_the_title_names_the_first_score_of_each_axis() -> None:
    app = RltopApp(Frames(frames.with_evals()))
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("4")
        assert "EVAL  ━ accuracy 0.704  ╌ length 900" in await until(pilot, app, "EVAL  ")
