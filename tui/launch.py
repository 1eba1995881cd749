"""The way in: sets what Textual reads when it is imported, then shows a runner until the user leaves."""

import os
from typing import TYPE_CHECKING, Any

from .runner import Runner

if TYPE_CHECKING:
    from textual.app import App

    from ..models.comparison import Measure
    from .compareapp import Runs


def show(
    runner: Runner, *, ascii_only: bool = False, theme: str | None = None, mouse: bool = True, first: str = ""
) -> int:
    """Run the screen, with the view `first` in the overview's place; the exit code.

    Raises:
        ValueError: there is no such theme. Nothing has been drawn then.
    """
    _calm()
    from .app import RltopApp  # after the settings above, and not before there is a screen to show

    return _run(RltopApp(runner, ascii_only=ascii_only, first=first), theme, mouse)


def show_comparison(
    runs: "Runs",
    measure: "Measure",
    *,
    ascii_only: bool = False,
    theme: str | None = None,
    mouse: bool = True,
) -> int:
    """Run the screen of a comparison, as `show` does that of a run."""
    _calm()
    from .compareapp import CompareApp  # as above

    return _run(CompareApp(runs, measure, ascii_only=ascii_only), theme, mouse)


def _calm() -> None:
    # Frames come at most four times a second; keys want an answer sooner, and nothing wants sixty.
    os.environ.setdefault("TEXTUAL_FPS", "30")
    os.environ.setdefault("TEXTUAL_ANIMATIONS", "none")


def _run(app: "App[Any]", theme: str | None, mouse: bool) -> int:
    if theme is not None:
        if theme not in app.available_themes:
            raise ValueError(f"no theme named {theme}: {', '.join(sorted(app.available_themes))}")
        app.theme = theme
    app.run(mouse=mouse)
    return app.return_code or 0
