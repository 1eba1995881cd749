"""The lines of the log worth showing."""

from textual.app import ComposeResult
from textual.containers import VerticalScroll

from ..widgets.keys import Keys
from ..widgets.loglist import LogList
from ..widgets.replay import ReplayBar
from ..widgets.status import Status
from .framed import FramedScreen


class LogScreen(FramedScreen):
    """Scrolls; the newest line is at the top."""

    def compose(self) -> ComposeResult:
        yield Status(id="status")
        with VerticalScroll(id="scroll"):
            yield LogList(id="log-list")
        yield ReplayBar(id="replay")
        yield Keys(here="view('log')", id="keys")
