"""The way in: sets what Textual reads when it is imported, then shows a runner until the user leaves."""

import os

from .runner import Runner


def show(runner: Runner, *, ascii_only: bool = False, theme: str | None = None, mouse: bool = True) -> int:
    """Run the screen; the exit code. Raises ValueError for an unknown theme, before anything is drawn."""
    # Frames come at most four times a second; keys want an answer sooner, and nothing wants sixty.
    os.environ.setdefault("TEXTUAL_FPS", "30")
    os.environ.setdefault("TEXTUAL_ANIMATIONS", "none")
    from .app import RltopApp  # after the settings above, and not before there is a screen to show

    app = RltopApp(runner, ascii_only=ascii_only)
    if theme is not None:
        if theme not in app.available_themes:
            raise ValueError(f"no theme named {theme}: {', '.join(sorted(app.available_themes))}")
        app.theme = theme
    app.run(mouse=mouse)
    return app.return_code or 0
