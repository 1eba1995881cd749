"""The way in: sets what Textual reads when it is imported, then shows a runner until the user leaves."""

import os
from typing import TYPE_CHECKING, Any

from ..models.looks import Looks
from .runner import Runner

if TYPE_CHECKING:
    from textual.app import App

    from ..models.comparison import Measure
    from .compareapp import Runs

PLAIN = Looks()


def show(runner: Runner, looks: Looks = PLAIN, first: str = "") -> int:
    """Run the screen, with the view `first` in the overview's place; the exit code.

    Raises:
        LooksError: there is no such theme, or its keys cannot be had. Nothing has been drawn then.
    """
    _calm()
    from .app import RltopApp  # after the settings above, and not before there is a screen to show

    return _run(RltopApp(runner, ascii_only=looks.ascii, first=first), looks)


def show_comparison(runs: "Runs", measure: "Measure", looks: Looks = PLAIN) -> int:
    """Run the screen of a comparison, as `show` does that of a run."""
    _calm()
    from .compareapp import CompareApp  # as above

    return _run(CompareApp(runs, measure, ascii_only=looks.ascii), looks)


def _calm() -> None:
    # Frames come at most four times a second; keys want an answer sooner, and nothing wants sixty.
    os.environ.setdefault("TEXTUAL_FPS", "30")
    os.environ.setdefault("TEXTUAL_ANIMATIONS", "none")


def _run(app: "App[Any]", looks: Looks) -> int:
    from .hangup import leave_with_the_terminal
    from .looks import check  # after the settings above

    check(looks)
    if looks.theme is not None:
        app.theme = looks.theme
    if looks.keys:
        app.set_keymap(looks.keys)
    leave_with_the_terminal()
    app.run(mouse=looks.mouse)
    return app.return_code or 0
