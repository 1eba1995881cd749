"""A screen that passes each frame on to its panels."""

from textual.screen import Screen

from ...monitor.frame import Frame
from ..widgets.notes import Notes
from ..widgets.panel import Panel


class FramedScreen(Screen[None]):
    """Base of the screens that show a run."""

    def show(self, frame: Frame) -> None:
        """Give the frame to every panel."""
        for panel in self.query(Panel):
            panel.show(frame)

    def set_trouble(self, trouble: str) -> None:
        """Show in one line that whatever makes the frames has failed."""
        for notes in self.query(Notes):
            notes.set_trouble(trouble)
