"""Inks have the colours of the theme, and weight where there is no colour."""

import pytest

from rltop.tui.inks import ink_style
from rltop.tui.themes import THEMES, fallbacks

KNOWN = (
    "plain",
    "dim",
    "strong",
    "ours",
    "projected",
    "bad",
    "warn",
    "band",
    "edge",
    "found-band",
    "run6",
    "mark-band",
)


def variables_of(index: int) -> dict[str, str]:
    theme = THEMES[index]
    return {**fallbacks(theme), **theme.to_color_system().generate(), **theme.variables}


@pytest.mark.parametrize("index", range(len(THEMES)))
def test_every_theme_has_a_colour_for_every_ink(index: int) -> None:
    variables = variables_of(index)
    for ink in KNOWN:
        style = ink_style(ink, variables)
        assert style.color is not None
        assert (style.bgcolor is not None) == (ink == "band" or ink.endswith("-band"))


def test_without_colour_an_alert_is_told_by_its_weight() -> None:
    variables = variables_of(0)
    assert ink_style("bad", variables, colourless=True) == ink_style("strong", variables)
    assert ink_style("warn", variables, colourless=True).bold


def test_an_unknown_ink_is_plain() -> None:
    assert ink_style("no such", variables_of(0)) == ink_style("plain", variables_of(0))
