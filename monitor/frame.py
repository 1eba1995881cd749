"""The one thing that leaves the pipeline: all that a screen, a line of JSON or a report needs of a moment."""

from array import array
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ..models.alert import Alert, Watch
from ..models.gpu import GpuUse
from ..models.health import Health
from ..models.money import Bill, WhatIf
from ..models.projection import Projection
from ..models.run import RunInfo, RunStatus
from ..models.settings import Settings
from .state import RunState


@dataclass(frozen=True, slots=True)
class ReplayPosition:
    """Where a replay stands, for the bar at the bottom of the screen."""

    index: int
    """Events given so far, of `total`."""
    total: int
    step: int | None
    speed: float
    paused: bool
    at: float
    """Run time, unix seconds."""
    marks: tuple[tuple[float, str], ...] = ()
    """(position from 0 to 1, severity) of the alerts known so far."""


@dataclass(frozen=True, slots=True)
class Other:
    """A run that the user holds against this one, as it was when this one was opened."""

    name: str
    info: RunInfo


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """A run at one moment. Latest wins: a reader may skip frames.

    The arrays have one cell for each closed row of `state.history` and are shared, append-only.
    """

    now: float
    """Unix seconds: of the run when replaying, of the clock when live."""
    state: RunState
    info: RunInfo
    """`state.info` with the user's settings on top."""
    settings: Settings
    status: RunStatus
    elapsed_s: float | None
    """Wall seconds of the run so far, as well as they are known."""
    bill: Bill
    spent_usd: Sequence[float]
    """Cumulative dollars after each closed row, NaN where unpriced."""
    at_end: "array[float]"
    """The projected P50 of the final dollars as it was known after each closed row, NaN where unknown."""
    projection: Projection
    health: Health
    alerts: tuple[Alert, ...]
    """All alerts in order of raising, cleared ones too."""
    replay: ReplayPosition | None = None
    at_end_low: "array[float]" = field(default_factory=lambda: array("d"))
    """The P10 that went with `at_end`."""
    at_end_high: "array[float]" = field(default_factory=lambda: array("d"))
    """The P90 that went with `at_end`."""
    step_usd: "array[float]" = field(default_factory=lambda: array("d"))
    """Dollars of each closed row, evals and checkpoints of that step included, NaN where unpriced."""
    gpu_use: GpuUse | None = None
    """What became of the GPUs' time; None while nothing is known of any GPU, or they are not the run's."""
    watched: tuple[Watch, ...] = ()
    """Every alert rule, whether it is watched, and if not, why."""
    remarks: tuple[str, ...] = ()
    """What those who pass frames on have to say, one line each, such as a receiver that cannot be reached."""
    call: str = ""
    """What to write to the terminal, once, so that it calls whoever sits there."""
    behind: bool = False
    """More of the log is waiting to be read: this is the run as it once was."""
    other: Other | None = None
    ask: Callable[["Frame"], tuple[WhatIf, ...]] = lambda frame: ()
    """Answers `whatifs`."""

    def whatifs(self) -> tuple[WhatIf, ...]:
        """What the run would cost if one thing were otherwise. Worked out when called, as few screens ask."""
        return self.ask(self)
