"""The keys that work here."""

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen

from .. import bindings
from ..widgets.helptext import HelpText


class HelpScreen(ModalScreen[None]):
    """A window over whatever was on screen; the keys that open help and those that leave things close it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,question_mark,f1,q", "dismiss", "close", id="help.close", key_display="esc"),
    ]

    def __init__(self, here: Sequence[Binding], replay: Sequence[Binding], *, screens: bool = True) -> None:
        """`here` are the keys of the screen below, `replay` those of the replay if there is one.

        `screens` says whether there are others to go to."""
        super().__init__()
        self._here = here
        self._replay = replay
        self._keys = (*bindings.SCREENS, *bindings.GENERAL) if screens else bindings.ANYWHERE

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="help"):
            yield HelpText(self._here, self._keys, self._replay)
