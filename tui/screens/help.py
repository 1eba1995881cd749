"""The keys that work here."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from .. import bindings

LEGEND = (
    ("●", "ours", "measured"),
    ("░", "projected", "80 % of the outcomes that the run so far makes likely"),
    ("✖", "bad", "critical: act now"),
    ("▲", "warn", "warning: have a look"),
    ("–", "dim", "not known; never 0 and never a guess"),
)


class HelpScreen(ModalScreen[None]):
    """A window over whatever was on screen; the keys that open help and those that leave things close it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,question_mark,f1,q", "dismiss", "close", id="help.close", key_display="esc"),
    ]

    def __init__(self, *, replay: bool) -> None:
        super().__init__()
        self._replay = replay

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="help"):
            yield Static("Keys", classes="help-title")
            yield Static(_table((*bindings.SCREENS, *bindings.GENERAL)))
            if self._replay:
                yield Static("Replay", classes="help-title")
                yield Static(_table(bindings.REPLAY))
            yield Static("Signs", classes="help-title")
            yield Static("\n".join(f"  {sign:<10}{meaning}" for sign, _, meaning in LEGEND))


def _table(keys: tuple[Binding, ...]) -> str:
    lines: list[str] = []
    for binding in keys:
        shown = binding.key_display or binding.key
        meaning = f"{binding.description}: {binding.tooltip}" if binding.tooltip else binding.description
        lines.append(f"  {shown:<10}{meaning}")
    return "\n".join(lines)
