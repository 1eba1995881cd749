"""The fold: reduce(state, event) -> state. Pure but for the shared, append-only history."""

from collections.abc import Callable, Mapping
from operator import itemgetter

from ..models.event import (
    Ended,
    Event,
    LogLine,
    NewRun,
    Progress,
    Restart,
    SourceStatus,
    Totals,
)
from ..models.gpu import GpuSample, Serving
from ..models.run import RunInfo
from ..models.step import COLUMNS, Eval, Step
from .state import LOGS_KEPT, OPEN_ROWS, RunState

LOGGED = frozenset({"wandb", "swanlab", "trackio", "mlflow"})
NO_HOST = "localhost"
LOGGED_BEHIND_S = 60.0
"""Trackers note GPUs every 10 to 15 s: by then another backend has long told again, if it still does."""
AMOUNTS = ("duration_s", *(name for name in COLUMNS if name.endswith("_tokens")))
"""What is paid for. Below zero it is no amount: a clock was set back, or a counter has overflowed."""
_amounts: Callable[[Mapping[str, object]], tuple[float | None, ...]] = itemgetter(*AMOUNTS)


def reduce(state: RunState, event: Event) -> RunState:
    """The state after one event."""
    match event:
        case Step():
            return _step(state, event)
        case Eval():
            state.history.evals.append(event)
            return state.after(last_event_at=_later(state, event.ended_at))
        case RunInfo():
            return state.after(info=state.info.merged(event))
        case Progress():
            return _progress(state, event)
        case Restart():
            state.history.restart(event.from_step)
            attempt = max(state.attempt, event.attempt)
            return state.after(attempt=attempt, amended=state.amended + 1, ended=None)
        case Totals():
            return state.after(totals=event)
        case Ended():
            last_event_at = _later(state, event.at)
            return state.after(ended=event, closed=len(state.history), last_event_at=last_event_at)
        case SourceStatus():
            return state.after(sources=_sources(state, event))
        case GpuSample():
            return _gpus(state, event)
        case Serving():
            return state.after(serving={**state.serving, event.host: event})
        case LogLine() | NewRun():  # of a new run, whoever feeds the fold has begun with an empty state
            line = event if isinstance(event, LogLine) else LogLine(text=event.note, level="warning")
            return state.after(logs=(*state.logs, line)[-LOGS_KEPT:])


def _gpus(state: RunState, event: GpuSample) -> RunState:
    """The newest sample of each host, and what became of the time since the one before."""
    before = state.gpus.get(event.host)
    if _is_logged(event) and any(_reads_the_same(other, event) for other in state.gpus.values()):
        return state
    others = {
        host: other
        for host, other in state.gpus.items()
        if not (_is_logged(other) and not _is_logged(event) and _reads_the_same(event, other))
    }
    if before is None or event.at > before.at:
        state.gpu_trace.add(event)
    return state.after(gpus={**others, event.host: event}, gpu_tally=state.gpu_tally.add(before, event))


def _is_logged(sample: GpuSample) -> bool:
    """Noted down by a tracker: less, and later, than what reads the GPUs itself."""
    return sample.backend in LOGGED


def _reads_the_same(first_hand: GpuSample, logged: GpuSample) -> bool:
    """Whether these are the same GPUs; a tracker may not say which host it ran on."""
    same = logged.host in (first_hand.host, NO_HOST)
    return same and not _is_logged(first_hand) and logged.at - first_hand.at < LOGGED_BEHIND_S


def close(state: RunState) -> RunState:
    """Nothing more is to come: every step told is as complete as it will be."""
    return state.after(closed=len(state.history))


def _step(state: RunState, event: Step) -> RunState:
    history = state.history
    if min(filter(None, _amounts(event.__dict__)), default=0.0) < 0.0:
        event = event.model_copy(
            update={name: None for name in AMOUNTS if (getattr(event, name) or 0.0) < 0.0}
        )
    index = history.write(event)
    reliable, why = state.clip_reliable, state.clip_why
    if event.clip_reliable is not None:
        reliable, why = event.clip_reliable, event.clip_why or ""
    closed = max(state.closed, len(history) - OPEN_ROWS)
    if event.complete:
        closed = max(closed, index + 1)
    return state.after(
        closed=closed,
        amended=state.amended + (index < state.closed),
        attempt=max(state.attempt, event.attempt),
        # A step after the end means that the run went on: a resume into the same log.
        ended=None if index >= state.closed else state.ended,
        clip_reliable=reliable,
        clip_why=why,
        last_event_at=_later(state, event.ended_at),
    )


def _sources(state: RunState, event: SourceStatus) -> dict[tuple[str, str], SourceStatus]:
    """The latest status of each source. What one stood in for while it was pending speaks for itself now."""
    key = event.source, event.path
    if event.source == "pending" and event.state == "reading":
        return {known: status for known, status in state.sources.items() if known != key}
    return {**state.sources, key: event}


def _progress(state: RunState, event: Progress) -> RunState:
    """The latest of each field; a new attempt starts from nothing, and the time of the old one is kept."""
    before = state.progress
    if before is None or before.attempt != event.attempt:
        return state.after(progress=event, earlier_shown_s=state.shown_s)
    told = event.model_dump(exclude_none=True)
    return state.after(progress=before.model_copy(update=told))


def _later(state: RunState, at: float | None) -> float | None:
    return at if state.last_event_at is None else max(state.last_event_at, at or 0.0)
