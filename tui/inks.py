"""What an ink looks like: a colour of the theme, on the ground of the panel or of the band.

Its one rule: inks are looked up here and are no styles of Textual's: it would work out each ink of each panel
anew whenever a screen is shown, which took longer than all else of a first picture.
"""

from collections.abc import Mapping
from functools import lru_cache

from rich.style import Style
from textual.color import Color

GROUND = "band"
"""The variable of the ground behind the inks that end in `-band`."""
_BOLD = frozenset(("title", "strong", "ours-big", "projected-big", "bad", "key", "found"))
_VARIABLES = {
    "plain": "foreground",
    "dim": "quiet",
    "title": "quiet",
    "strong": "foreground",
    "ours": "ours",
    "ours-big": "ours",
    "projected": "projected",
    "projected-big": "projected",
    "good": "success",
    "warn": "warning",
    "bad": "error",
    "budget": "warning",
    "cap": "warning",
    "axis": "faint",
    "label": "quiet",
    "mark": "quiet",
    "key": "ours",
    "found": "foreground",
    "band": "band-sign",
    "edge": "band",
    "hollow": "background",
    **{f"run{number}": f"run{number}" for number in range(1, 7)},
}
_WEIGHTY = frozenset(("bad", "warn"))
_PLAIN_WITHOUT_COLOUR = frozenset(("ours", "ours-big", "projected-big", *_WEIGHTY))
"""Without colour, weight says what hue would have said."""


def ink_style(ink: str, variables: Mapping[str, str], colourless: bool = False) -> Style:
    """The style of an ink under a theme's variables; an ink that there is none of is plain."""
    name = ink.removesuffix("-band")
    variable = _VARIABLES.get(name, "foreground")
    if colourless and name in _PLAIN_WITHOUT_COLOUR:
        variable = "foreground"
    on_band = ink == "band" or ink.endswith("-band")
    bold = name in _BOLD or (colourless and name in _WEIGHTY)
    return _style(variables[variable], variables[GROUND] if on_band else "", bold)


@lru_cache(maxsize=512)
def _style(colour: str, ground: str, bold: bool) -> Style:
    return Style(
        color=Color.parse(colour).rich_color,
        bgcolor=Color.parse(ground).rich_color if ground else None,
        bold=bold or None,
    )
