"""All alerts with their advice, and every note on the figures and the input."""

from textual.app import ComposeResult
from textual.containers import VerticalScroll

from ..widgets.alertlist import AlertList
from ..widgets.keys import Keys
from ..widgets.replay import ReplayBar
from ..widgets.status import Status
from .framed import FramedScreen


class AlertsScreen(FramedScreen):
    """Scrolls; nothing is cut here."""

    def compose(self) -> ComposeResult:
        yield Status(id="status")
        with VerticalScroll(id="scroll"):
            yield AlertList(id="alert-list")
        yield ReplayBar(id="replay")
        yield Keys(here="view('alerts')", id="keys")
