"""The GPUs of the run, from one to a thousand, and what became of their time."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from ..widgets.gpufield import GpuField
from ..widgets.gpuuse import GpuUsePanel
from ..widgets.keys import Keys
from ..widgets.notes import Notes
from ..widgets.replay import ReplayBar
from ..widgets.status import Status
from .framed import FramedScreen


class GpuScreen(FramedScreen):
    """The field takes the room that the rest leaves."""

    KEYS: ClassVar[tuple[Binding, ...]] = (
        Binding("m", "next_metric", "draw by the next metric", id="gpus.metric", key_display="m"),
        Binding("o", "toggle_order", "least busy hosts first, or by name", id="gpus.order", key_display="o"),
    )
    BINDINGS: ClassVar[list[BindingType]] = [*KEYS]

    def compose(self) -> ComposeResult:
        yield Status(id="status")
        yield GpuField(id="gpu-field")
        yield GpuUsePanel(id="gpu-use")
        yield Notes(id="notes")
        yield ReplayBar(id="replay")
        yield Keys((("m", "metric", "next_metric"),), "view('gpus')", id="keys")

    def action_next_metric(self) -> None:
        """Draw by the next metric."""
        self.query_one(GpuField).next_metric()

    def action_toggle_order(self) -> None:
        """Order the hosts otherwise."""
        self.query_one(GpuField).toggle_order()
