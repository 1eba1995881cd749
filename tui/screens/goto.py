"""The line behind `:`: in a replay it seeks, in a live run it puts the crosshair there."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input, Label

from ...monitor.frame import Frame
from ..destination import EXAMPLES, Destination, destination, moment, started_at, step_at
from ..runner import ReplayControl
from .charted import ChartedScreen


class GoTo(ModalScreen[None]):
    """One line at the bottom; words that mean nothing are said to, and may be mended."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss", "stay here", id="goto.close")]

    def __init__(self, control: ReplayControl | None, frame: Frame | None) -> None:
        super().__init__()
        self._control = control
        self._frame = frame

    def compose(self) -> ComposeResult:
        with Vertical(id="goto"):
            yield Input(placeholder=EXAMPLES, id="goto-where", compact=True)
            yield Label("go to a step, a share of the run, or a time", id="goto-says")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        place = destination(event.value)
        if not event.value.strip():
            self.dismiss()
        elif place is None:
            self._say(f"that is no place: {EXAMPLES}")
        elif (why := self._go(place)) is not None:
            self._say(why)
        else:
            self.dismiss()

    def _go(self, place: Destination) -> str | None:
        """Go there; why not, where that is not possible."""
        frame = self._frame
        if frame is None:
            return "there is no run yet"
        if self._control is not None:
            return _seek(self._control, frame, place)
        below = self.app.screen_stack[-2]
        if not isinstance(below, ChartedScreen):
            return "no chart here to show it on: 1 to 5 have some"
        step = step_at(frame, place)
        if step is None or not below.go_to(step):
            return "the log does not say where that is"
        return None

    def _say(self, words: str) -> None:
        self.query_one(Label).update(words)


def _seek(control: ReplayControl, frame: Frame, place: Destination) -> str | None:
    if place.kind == "share":
        control.seek(place.value)
    elif place.kind == "step":
        control.seek_step(int(place.value))
    elif (began := started_at(frame)) is not None:
        control.seek_time(moment(place.value, began))
    else:
        return "the log has no times"
    return None
