"""A screen that passes each frame on to its panels."""

from typing import ClassVar

from textual.binding import Binding
from textual.screen import Screen

from ...monitor.frame import Frame
from ...monitor.oneline import one_line
from ..widgets.notes import Notes
from ..widgets.panel import Panel


class FramedScreen(Screen[None]):
    """Base of the screens that show a run."""

    KEYS: ClassVar[tuple[Binding, ...]] = ()
    """The keys of this screen alone, for the help."""

    _unseen: Frame | None = None
    """The newest frame that came while another screen lay over this one."""

    def show(self, frame: Frame) -> None:
        """Take a frame: drawn now where it can be seen, else when it can."""
        top = self.app.screen
        if top is self or top.is_modal:
            self._unseen = None
            self.draw(frame)
        else:
            self._unseen = frame

    def on_screen_resume(self) -> None:
        if (frame := self._unseen) is not None:
            self._unseen = None
            self.draw(frame)

    def draw(self, frame: Frame) -> None:
        """Give the frame to every panel."""
        for panel in self.query(Panel):
            panel.show(frame)

    def copied(self, frame: Frame) -> str:
        """What is worth taking away from here, as text."""
        return one_line(frame)

    def set_trouble(self, trouble: str) -> None:
        """Show in one line that whatever makes the frames has failed."""
        for notes in self.query(Notes):
            notes.set_trouble(trouble)
