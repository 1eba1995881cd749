"""Whether what the user wants of the screen can be had: its theme, and other keys for what keys do."""

from textual.theme import BUILTIN_THEMES

from ..models.looks import Looks
from .themes import THEMES


class LooksError(ValueError):
    """What cannot be had; `place` is where it stands below [screen], such as ("keys", "view.cost")."""

    def __init__(self, place: tuple[str, ...], problem: str) -> None:
        super().__init__(f"screen.{'.'.join(place)}: {problem}")
        self.place = place


def check(looks: Looks) -> None:
    """Nothing, where all of it can be had.

    Raises:
        LooksError: there is no such theme, no such id of what a key does, no such key, or it is taken.
    """
    themes = {*BUILTIN_THEMES, *(theme.name for theme in THEMES)}
    if looks.theme is not None and looks.theme not in themes:
        raise LooksError(("theme",), f"no theme named {looks.theme}: {', '.join(sorted(themes))}")
    if looks.keys:
        from .keymap import problem_of  # every screen, for the few who have keys of their own

        if found := problem_of(looks.keys):
            id, problem = found
            raise LooksError(("keys", id), problem)
