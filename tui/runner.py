"""What the app asks of whatever makes frames: live session and replay alike."""

from collections.abc import Callable
from typing import Protocol

from ..models.fleet import FleetRow
from ..monitor.fleet.frame import FleetFrame
from ..monitor.frame import Frame


class ReplayControl(Protocol):
    """What keys can do to a replay. Each returns at once; the runner publishes what came of it."""

    def toggle_pause(self) -> None: ...
    def faster(self) -> None: ...
    def slower(self) -> None: ...

    def step(self, count: int) -> None:
        """Go `count` steps on, or back when negative."""
        ...

    def seek(self, fraction: float) -> None:
        """Go to a place between 0, the start, and 1, the end."""
        ...

    def seek_step(self, step: int) -> None:
        """Go to where all of this step has been told."""
        ...

    def seek_time(self, at: float) -> None:
        """Go to a moment of the run, unix seconds."""
        ...

    def next_alert(self, direction: int) -> None:
        """Go to the next alert (1) or the one before (-1)."""
        ...


class FleetRunner(Protocol):
    """Makes frames of many runs until it is cancelled, and opens any of them."""

    def open(self, row: FleetRow) -> "Runner":
        """A runner of one of the runs. Returns at once."""
        ...

    async def run(self, publish: Callable[[FleetFrame], None]) -> None:
        """Publish frames on the running loop; the screen takes the latest and may skip any."""
        ...


class ManyRuns(Exception):
    """What a runner raises that was to show one run and found many: they are shown instead."""

    def __init__(self, fleet: FleetRunner) -> None:
        super().__init__("many runs")
        self.fleet = fleet


class Runner(Protocol):
    """Makes frames until it is cancelled."""

    @property
    def control(self) -> ReplayControl | None:
        """How to steer it; None when it is live."""
        ...

    async def run(self, publish: Callable[[Frame], None]) -> None:
        """Publish frames on the running loop; the screen takes the latest and may skip any.

        Raises:
            ManyRuns: there is not one run to show.
        """
        ...
