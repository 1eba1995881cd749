"""Where the user looks: crosshair, zoom and pan, and what a chart shows of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rltop.tui.crosshair import crossed, readout, snapped, value_at
from rltop.tui.lines import Span, cells, overlaid
from rltop.tui.plot import Curve, Mark, Plot, in_decades, paint, place
from rltop.tui.sight import Sight, seen_through

XS = [float(x) for x in range(101)]
PLOT = Plot(0, 100, 0, 10, (Curve(XS, [x / 10 for x in XS]),), marks=(Mark(40.0, "✖", "bad", "kl spike"),))


def words(line: tuple[Span, ...]) -> str:
    return "".join(span.text for span in line)


def test_zooming_in_keeps_the_crosshair_where_it_is_and_out_again_shows_all() -> None:
    sight = Sight(at=40.0).zoomed(PLOT, 0.5)
    assert (sight.low, sight.high) == (20.0, 70.0)
    assert sight.zoomed(PLOT, 2.0) == Sight(at=40.0)


def test_without_a_crosshair_zooming_keeps_the_newest_in_view() -> None:
    assert Sight().zoomed(PLOT, 0.25) == Sight(None, 75.0, 100.0)


@given(
    at=st.one_of(st.none(), st.floats(0, 100)),
    factors=st.lists(st.floats(0.05, 4.0), max_size=12),
    pans=st.lists(st.floats(-300, 300), max_size=12),
)
def test_the_stretch_on_show_never_leaves_the_plot(
    at: float | None, factors: list[float], pans: list[float]
) -> None:
    sight = Sight(at)
    for factor in factors:
        sight = sight.zoomed(PLOT, factor)
    for by in pans:
        sight = sight.panned(PLOT, by)
    low, high = sight.stretch(PLOT)
    assert -1e-6 <= low < high <= 100 + 1e-6


def test_the_crosshair_moves_from_value_to_value_and_stops_at_the_ends() -> None:
    xs = [1.0, 5.0, 9.0]
    sight = Sight().moved(PLOT, xs, -1)
    assert sight.at == 9.0
    assert sight.moved(PLOT, xs, -1).at == 5.0
    assert sight.moved(PLOT, xs, 1).at == 9.0
    assert sight.moved(PLOT, xs, -5).at == 1.0


def test_the_stretch_on_show_follows_the_crosshair() -> None:
    sight = Sight(at=30.0, low=20.0, high=30.0).moved(PLOT, XS, 4)
    assert sight.at == 34.0
    low, high = sight.stretch(PLOT)
    assert low < 34.0 < high
    assert high - low == pytest.approx(10.0)


def test_zoomed_the_y_axis_fits_what_can_be_seen() -> None:
    plot = seen_through(PLOT, Sight(low=50.0, high=60.0))
    assert (plot.x_low, plot.x_high) == (50.0, 60.0)
    assert 4.8 < plot.y_low < 5.0
    assert 6.0 < plot.y_high < 6.2


def test_a_spike_is_in_view_at_every_zoom() -> None:
    ys = [0.0] * 20_000
    ys[12_345] = 7.0
    plot = Plot(0, 20_000, 0, 7, (Curve([float(x) for x in range(20_000)], ys),))
    sight = Sight(at=12_345.0)
    for _ in range(12):
        shown = seen_through(plot, sight)
        placed = place(shown, 80, 12)
        assert placed is not None
        column = placed.left + placed.view.column(12_345.0)
        high = placed.view.row(7.0)
        assert words(paint(shown, placed, 80)[high])[column] != " "
        sight = sight.zoomed(plot, 0.5)


def test_values_under_the_crosshair_are_ones_that_are_there() -> None:
    curve = Curve([0.0, 10.0, 20.0], [1.0, 2.0, 3.0])
    assert value_at(curve, 10.0) == 2.0
    assert value_at(curve, 14.9) == 2.0
    assert value_at(curve, 20.1) is None
    assert snapped(Plot(0, 20, 0, 3, (curve,)), 14.9) == 10.0
    assert snapped(Plot(0, 20, 0, 3, (curve,)), 15.1) == 20.0


def test_the_readout_names_the_place_the_value_and_what_happened() -> None:
    assert words(readout(PLOT, 40.0)) == "40  4  ✖ kl spike"
    assert words(readout(PLOT, 41.0)) == "41  4.1"


def test_the_crosshair_covers_nothing_but_empty_cells_and_marks_the_value() -> None:
    placed = place(PLOT, 60, 11)
    assert placed is not None
    before = paint(PLOT, placed, 60)
    after = crossed(before, PLOT, placed, 50.0)
    column = placed.left + placed.view.column(50.0)
    signs = [words(line)[column] for line in after[:-1]]
    assert signs.count("◆") == 1
    assert signs.count("│") == 9
    assert [cells(line) for line in after] == [60] * 11
    elsewhere = [words(line)[:column] + words(line)[column + 1 :] for line in after]
    assert elsewhere == [words(line)[:column] + words(line)[column + 1 :] for line in before]


def test_a_piece_is_laid_over_a_line_on_its_ground() -> None:
    line = (Span("abc", "dim"), Span("  ", "band"), Span("xyz", "ours"))
    laid = overlaid(line, 2, Span("1234", "strong"))
    assert words(laid) == "ab1234yz"
    assert Span("23", "strong-band") in laid
    assert overlaid(line, 0, Span("#", "mark"), over=" ") == line


@pytest.mark.parametrize(
    ("low", "high", "labels"),
    [
        (1e-5, 1e-1, ["1e-5", "0.0001", "0.001", "0.01", "0.1"]),
        (0.2, 3.0, ["0.2", "0.5", "1", "2"]),
        (0.62, 0.8, ["0.65", "0.70", "0.75", "0.80"]),
    ],
)
def test_a_logarithmic_axis_has_round_ticks_that_can_be_told_apart(
    low: float, high: float, labels: list[str]
) -> None:
    plot = in_decades(Plot(0, 1, low, high, (Curve([0.0, 1.0], [low, high]),), log=True))
    placed = place(plot, 60, 20)
    assert placed is not None
    assert [placed.labels[row] for row in sorted(placed.labels, reverse=True)] == labels


def test_what_is_not_above_zero_is_left_out_of_a_logarithmic_plot() -> None:
    plot = in_decades(Plot(0, 2, 0, 10, (Curve([0.0, 1.0, 2.0], [0.0, 1.0, 10.0]),), log=True))
    assert list(plot.curves[0].xs) == [1.0, 2.0]
    assert list(plot.curves[0].ys) == [0.0, 1.0]
