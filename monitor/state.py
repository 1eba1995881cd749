"""What is known of a run at one moment: the value that the fold makes and everything else reads."""

from dataclasses import dataclass, field
from typing import Any

from ..models.event import Ended, LogLine, Progress, SourceStatus, Totals
from ..models.gpu import GpuSample, Serving
from ..models.run import RunInfo
from .history import History, Row
from .telemetry.dollars import GpuTally
from .telemetry.trace import GpuTrace

LOGS_KEPT = 500
OPEN_ROWS = 2
"""How many of the newest steps may still be waiting for parts (asynchronous trainers interleave two)."""


@dataclass(frozen=True, eq=False)
class RunState:
    """A run so far.

    `history` is shared with the states before and after: it only grows. Two states of
    one run are told apart by `revision`.
    """

    info: RunInfo = RunInfo()
    history: History = field(default_factory=History)
    revision: int = 0
    closed: int = 0
    """Rows of `history` that are complete: 0 … closed - 1."""
    amended: int = 0
    """Grows when a row that was closed, or the row order, has changed: derived sums start anew."""
    attempt: int = 0
    progress: Progress | None = None
    earlier_shown_s: float = 0.0
    """Wall seconds that the progress displays of earlier attempts had come to."""
    totals: Totals | None = None
    ended: Ended | None = None
    sources: dict[tuple[str, str], SourceStatus] = field(default_factory=dict[tuple[str, str], SourceStatus])
    gpus: dict[str, GpuSample] = field(default_factory=dict[str, GpuSample])
    gpu_tally: GpuTally = GpuTally()
    gpu_trace: GpuTrace = field(default_factory=GpuTrace)
    """Shared with the states before and after, as `history` is."""
    serving: dict[str, Serving] = field(default_factory=dict[str, Serving])
    """The newest reading of each inference engine, by its address."""
    logs: tuple[LogLine, ...] = ()
    clip_reliable: bool | None = None
    clip_why: str = ""
    last_event_at: float | None = None
    """Unix seconds of the newest thing that carries a time."""

    def after(self, **changes: Any) -> "RunState":
        """The state that an event leads to, as by `dataclasses.replace`, which takes much longer."""
        state = object.__new__(RunState)
        state.__dict__.update(self.__dict__, revision=self.revision + 1, **changes)
        return state

    @property
    def last_row(self) -> Row | None:
        """The newest step that counts as progress."""
        rows = self.history.progress
        return self.history.row(rows[-1]) if rows else None

    @property
    def steps_done(self) -> int:
        """Training steps that count as progress."""
        return len(self.history.progress)

    @property
    def shown_s(self) -> float:
        """Wall seconds by the run's own progress display, all attempts together; 0 where it shows none."""
        return self.earlier_shown_s + ((self.progress and self.progress.elapsed_s) or 0.0)

    @property
    def modified_at(self) -> float | None:
        """Unix seconds of the last change of any source."""
        return max((s.modified_at for s in self.sources.values() if s.modified_at), default=None)
