"""The lines of the log worth showing."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input

from ..widgets.keys import Keys
from ..widgets.loglist import LogList
from ..widgets.replay import ReplayBar
from ..widgets.status import Status
from .framed import FramedScreen


class LogScreen(FramedScreen):
    """`/` searches, `n` and `N` go from find to find, `f` follows the newest line again."""

    KEYS: ClassVar[tuple[Binding, ...]] = (
        Binding("slash", "search", "search the log", id="log.search", key_display="/"),
        Binding("n", "found(1)", "next line found, while searching", id="log.next"),
        Binding("N", "found(-1)", "line found before, while searching", id="log.before"),
        Binding("f", "follow", "follow the newest line, or stay here", id="log.follow"),
    )
    BINDINGS: ClassVar[list[BindingType]] = [*KEYS]

    def compose(self) -> ComposeResult:
        yield Status(id="status")
        yield Input(placeholder="search: words of a line", id="filter", compact=True)
        yield LogList(id="log-list")
        yield ReplayBar(id="replay")
        keys = (("/", "search", "search"), ("n/N", "next", "found(1)"), ("f", "follow", "follow"))
        yield Keys(keys, "view('log')", id="keys")

    def on_mount(self) -> None:
        self.query_one(LogList).focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Without a search, `n` is what it is everywhere: the next alert of a replay."""
        return action != "found" or (self.is_mounted and self.query_one(LogList).searching)

    def action_search(self) -> None:
        """Type what to search for."""
        self.query_one(Input).focus()

    def action_found(self, direction: int) -> None:
        """Go to another line that was found."""
        self.query_one(LogList).next_found(direction)

    def action_follow(self) -> None:
        """Follow the newest line, or stop following."""
        listed = self.query_one(LogList)
        listed.follow(not listed.following)

    def on_input_changed(self, event: Input.Changed) -> None:
        self.query_one(LogList).search(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.query_one(LogList).focus()
