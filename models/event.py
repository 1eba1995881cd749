"""Events: all that a source can say. The fold, the recorder and replay know nothing else."""

from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from .gpu import GpuSample, Serving
from .run import RunInfo
from .step import Eval, Step
from .value import Value


class Progress(Value):
    """Where the run's own progress display stands, such as a tqdm bar."""

    kind: Literal["progress"] = "progress"
    step: int | None = None
    total_steps: int | None = None
    elapsed_s: float | None = None
    """Wall seconds since this attempt's training loop began, by the run's own clock."""
    attempt: int = 0


class Restart(Value):
    """The run went back: steps from `from_step` on run again and are paid for again."""

    kind: Literal["restart"] = "restart"
    from_step: int
    attempt: int
    at: float | None = None


class NewRun(Value):
    """The log was written anew by another run: nothing that was told before is of the one that now begins."""

    kind: Literal["new-run"] = "new-run"
    note: str = ""
    """What the user should know of it, in one line."""


class Totals(Value):
    """Cumulative counters that the framework keeps itself, over all attempts it knows of."""

    kind: Literal["totals"] = "totals"
    step: int | None = None
    sampled_tokens: float | None = None
    prefill_tokens: float | None = None
    prefill_cached_tokens: float | None = None
    trained_tokens: float | None = None
    discarded_tokens: float | None = None
    spent_usd: float | None = None
    discarded_usd: float | None = None


class LogLine(Value):
    """A line worth showing: an error, a pause by the provider, a checkpoint, an out-of-memory."""

    kind: Literal["log"] = "log"
    text: str
    level: Literal["debug", "info", "warning", "error"] = "info"
    at: float | None = None
    topic: Literal["", "oom", "traceback", "billing", "capacity", "checkpoint", "metric"] = ""


class Ended(Value):
    """The run is over. `crashed` only when the log proves it."""

    kind: Literal["ended"] = "ended"
    status: Literal["finished", "crashed"]
    at: float | None = None
    message: str = ""


class SourceStatus(Value):
    """How reading goes; one per source, the latest wins."""

    kind: Literal["source"] = "source"
    source: str
    """What is read, such as `tinker-metrics`, `console`, `file-logger`."""
    path: str
    state: Literal["waiting", "reading", "denied", "lost", "ended"] = "reading"
    reason: str = ""
    """One line for the user when `state` is not `reading`."""
    lines: int = 0
    bad_lines: int = 0
    first_bad: str = ""
    """Where the first bad line is and what is wrong with it, such as `line 12: not JSON`."""
    modified_at: float | None = None
    """Unix seconds of the last change of the file."""
    notes: tuple[str, ...] = ()


Event = Annotated[
    RunInfo
    | Step
    | Eval
    | Progress
    | Restart
    | NewRun
    | Totals
    | GpuSample
    | Serving
    | LogLine
    | Ended
    | SourceStatus,
    Field(discriminator="kind"),
]
EVENT: TypeAdapter[Event] = TypeAdapter(Event)
