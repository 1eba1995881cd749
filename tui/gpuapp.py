"""GPUs alone: the screen of a run's GPUs, where there is no run."""

from typing import ClassVar

from textual.binding import BindingType
from textual.screen import Screen

from . import bindings
from .app import RltopApp
from .screens.gpus import GpuScreen


class GpuApp(RltopApp):
    """Starts on the GPUs, and has no screens of a run beside them."""

    BINDINGS: ClassVar[list[BindingType]] = list(bindings.GENERAL)

    def get_default_screen(self) -> Screen[None]:
        return self._prepared(GpuScreen(alone=True, id="gpus-alone"))
