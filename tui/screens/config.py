"""What the run is: every fact known of it, who says so, and its configuration."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.widgets import Input

from ..widgets.factlist import FactList
from ..widgets.keys import Keys
from ..widgets.replay import ReplayBar
from ..widgets.status import Status
from .framed import FramedScreen


class ConfigScreen(FramedScreen):
    """`/` goes to the filter, enter back to the list."""

    KEYS: ClassVar[tuple[Binding, ...]] = (
        Binding("slash", "filter", "filter by words", id="config.filter", key_display="/"),
    )
    BINDINGS: ClassVar[list[BindingType]] = [*KEYS]

    def compose(self) -> ComposeResult:
        yield Status(id="status")
        yield Input(placeholder="filter: words of a key or a value", id="filter", compact=True)
        with VerticalScroll(id="scroll"):
            yield FactList(id="fact-list")
        yield ReplayBar(id="replay")
        yield Keys((("/", "filter", "filter"),), "view('config')", id="keys")

    def on_mount(self) -> None:
        self.query_one("#scroll").focus()

    def action_filter(self) -> None:
        """Type into the filter."""
        self.query_one(Input).focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        self.query_one(FactList).filter(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        self.query_one("#scroll").focus()
