"""Colours. One hue is what was measured, one what is projected; amber and red are for alerts alone."""

from textual.color import Color
from textual.theme import Theme

DARK = Theme(
    name="rltop-dark",
    dark=True,
    primary="#5cc8e8",
    secondary="#b79bf2",
    accent="#5cc8e8",
    foreground="#d5dae3",
    background="#10141b",
    surface="#10141b",
    panel="#1a202b",
    success="#7cc98f",
    warning="#e3b053",
    error="#f0716b",
    variables={
        "ours": "#5cc8e8",
        "projected": "#b79bf2",
        "band": "#2b2742",
        "band-sign": "#383257",
        "quiet": "#8b95a7",
        "faint": "#4a5364",
        "run1": "#5cc8e8",
        "run2": "#b79bf2",
        "run3": "#8fd3a0",
        "run4": "#f09ac0",
        "run5": "#c9c08a",
        "run6": "#d5dae3",
    },
)
LIGHT = Theme(
    name="rltop-light",
    dark=False,
    primary="#0b6e99",
    secondary="#6b45b8",
    accent="#0b6e99",
    foreground="#1d232e",
    background="#fbfbf9",
    surface="#fbfbf9",
    panel="#efefeb",
    success="#2b7a3f",
    warning="#96600a",
    error="#b8261f",
    variables={
        "ours": "#0b6e99",
        "projected": "#6b45b8",
        "band": "#e4dcf5",
        "band-sign": "#d8cdf0",
        "quiet": "#5b6472",
        "faint": "#b3b8c0",
        "run1": "#0b6e99",
        "run2": "#6b45b8",
        "run3": "#2b7a3f",
        "run4": "#a8326f",
        "run5": "#6b6414",
        "run6": "#1d232e",
    },
)
COLOUR_BLIND = Theme(
    name="rltop-colour-blind",
    dark=True,
    primary="#56b4e9",
    secondary="#d8d8d8",
    accent="#56b4e9",
    foreground="#dddddd",
    background="#101418",
    surface="#101418",
    panel="#1b2129",
    # No green and no red: blue is well, orange is a warning, and the gravest is the brightest.
    success="#56b4e9",
    warning="#e69f00",
    error="#ff8f3f",
    variables={
        "ours": "#56b4e9",
        "projected": "#e0d6b8",
        "band": "#3a3629",
        "band-sign": "#464131",
        "quiet": "#929aa5",
        "faint": "#4c545e",
        "run1": "#56b4e9",
        "run2": "#e0d6b8",
        "run3": "#cc79a7",
        "run4": "#0f9d8a",
        "run5": "#f0e442",
        "run6": "#dddddd",
    },
)
HIGH_CONTRAST = Theme(
    name="rltop-high-contrast",
    dark=True,
    primary="#00e5ff",
    secondary="#ffe95c",
    accent="#00e5ff",
    foreground="#ffffff",
    background="#000000",
    surface="#000000",
    panel="#1c1c1c",
    success="#5cff7a",
    warning="#ffb000",
    error="#ff6e6e",
    text_alpha=1.0,
    variables={
        "ours": "#00e5ff",
        "projected": "#ffe95c",
        "band": "#3d3a10",
        "band-sign": "#4d4a16",
        "quiet": "#d0d0d0",
        "faint": "#8a8a8a",
        "run1": "#00e5ff",
        "run2": "#ffe95c",
        "run3": "#ff9cf5",
        "run4": "#7dff8a",
        "run5": "#ffb9a0",
        "run6": "#ffffff",
    },
)
THEMES = (DARK, LIGHT, COLOUR_BLIND, HIGH_CONTRAST)


def fallbacks(theme: Theme) -> dict[str, str]:
    """The variables of ours for a theme that is not, mixed from its own colours."""
    colours = theme.to_color_system().generate()
    ground, ink = Color.parse(colours["background"]), Color.parse(colours["foreground"])
    projected = Color.parse(colours["accent"])
    return {
        "ours": colours["primary"],
        "projected": colours["accent"],
        "band": ground.blend(projected, 0.25).hex,
        "band-sign": ground.blend(projected, 0.35).hex,
        "quiet": ground.blend(ink, 0.65).hex,
        "faint": ground.blend(ink, 0.35).hex,
        "run1": colours["primary"],
        "run2": colours["accent"],
        "run3": colours["secondary"],
        "run4": colours["success"],
        "run5": ground.blend(ink, 0.65).hex,
        "run6": colours["foreground"],
    }
