"""A plot is drawn into exactly the cells it is given, readable with colour and without."""

from hypothesis import given
from hypothesis import strategies as st

from rltop.tui import axis
from rltop.tui.glyphs import TO_ASCII
from rltop.tui.lines import Line, cells
from rltop.tui.plot import Curve, Fan, Plot, Rule, Tick, draw, sparkline

PLOT = Plot(
    x_low=0,
    x_high=94,
    y_low=0,
    y_high=300,
    curves=(Curve([35, 94], [50, 200], "projected", (2, 1)), Curve([0, 35], [0, 50])),
    fan=Fan([35, 94], [50, 100], [50, 300]),
    rules=(Rule(150, "budget $150", "budget"),),
    ticks=(Tick(35, "35", "strong", line=True), Tick(0, "0"), Tick(94, "94")),
    y_label=axis.dollars,
)


def text_of(lines: list[Line]) -> list[str]:
    return ["".join(span.text for span in line) for line in lines]


@given(width=st.integers(min_value=1, max_value=200), height=st.integers(min_value=1, max_value=60))
def test_a_plot_fills_its_room_exactly(width: int, height: int) -> None:
    lines = draw(PLOT, width, height)
    assert len(lines) == height
    assert {cells(line) for line in lines} == {width}


def test_levels_marks_and_ticks_are_named() -> None:
    lines = text_of(draw(PLOT, 80, 12))
    assert any("budget $150" in line for line in lines)
    assert any(line.startswith("$300 ┤") for line in lines)
    assert lines[-2].startswith("  $0 ┼")
    assert "35" in lines[-1]
    assert lines[-1].rstrip().endswith("94")


def test_the_labels_of_the_x_axis_never_touch() -> None:
    for width in range(12, 120):
        words = text_of(draw(PLOT, width, 8))[-1].split()
        assert all(len(word) <= 2 for word in words), words


def test_a_level_far_above_the_scale_is_named_at_the_top() -> None:
    plot = Plot(
        x_low=0,
        x_high=9,
        y_low=0,
        y_high=10,
        curves=(Curve([0, 9], [1, 9]),),
        rules=(Rule(90, "cap 90", "cap"),),
    )
    assert "cap 90 ↑" in text_of(draw(plot, 40, 8))[0]


def test_the_band_has_a_ground_of_its_own_and_the_line_runs_over_it() -> None:
    inks = {span.ink for line in draw(PLOT, 80, 20) for span in line}
    assert {"band", "edge", "projected-band", "budget-band"} <= inks


def test_without_colour_the_band_is_a_sign() -> None:
    lines = draw(PLOT, 80, 20, plain=True)
    assert not any(span.ink.endswith("band") for line in lines for span in line)
    assert any("░" in line for line in text_of(lines))


def test_every_sign_of_a_plot_has_an_ascii_stand_in_of_the_same_width() -> None:
    for line in text_of(draw(PLOT, 120, 30)):
        plain = line.translate(TO_ASCII)
        assert plain.isascii()
        assert len(plain) == len(line)


def test_a_sparkline_keeps_its_spike_and_its_width() -> None:
    values = [0.0] * 100
    values[37] = 1.0
    line = sparkline(values, 10)
    assert len(line) == 10
    assert line.count("█") == 1


def test_a_sparkline_of_few_or_equal_or_no_values_is_short_level_or_empty() -> None:
    assert sparkline([1, 2], 10) == "▁█"
    assert len(set(sparkline([3.0] * 5, 5))) == 1
    assert sparkline([], 5) == ""
