"""Whether a run is going on, over, or silent. Pure."""

import statistics

from ..models.run import RunInfo, RunStatus
from .state import RunState

MIN_SILENCE_S = 120.0
"""Nothing is called stalled sooner than this after its last sign of life."""
UNTIMED_SILENCE_S = 1800.0
"""As long as fewer than three steps have been timed: loading a model takes its time."""
LEFT_S = 86_400.0
"""A log that has been silent for longer was left: it costs no more, and nobody waits for its next line."""
COPIED_AFTER_S = 3 * 3600.0
SLOW_STEPS = 3.0
"""How many slow steps (the 95th percentile of the last 50) may pass before silence means a stall."""


def status_of(state: RunState, info: RunInfo, now: float) -> RunStatus:
    """The state of the run at `now` (unix s)."""
    if state.ended is not None:
        return state.ended.status
    last, last_step = state.last_row, info.last_step
    if last is not None and last_step is not None and last.step >= last_step:
        return "finished"
    alive_at = last_sign_of_life(state)
    if alive_at is None:
        return "unknown"
    return "running" if now - alive_at <= patience_s(state) else "stalled"


def last_sign_of_life(state: RunState) -> float | None:
    """Unix seconds of the newest step or change of a file.

    A file that changed long after the last thing it tells of was copied since: its date means nothing.
    """
    told, changed = state.last_event_at, state.modified_at
    if told and changed and changed - told > max(COPIED_AFTER_S, 2 * patience_s(state)):
        return told
    return max((t for t in (told, changed) if t), default=None)


def patience_s(state: RunState) -> float:
    """How long a healthy run may be silent, seconds."""
    durations = recent_durations(state)
    if len(durations) < 3:
        return UNTIMED_SILENCE_S
    slow = statistics.quantiles(durations, n=20, method="inclusive")[-1]
    return max(MIN_SILENCE_S, SLOW_STEPS * max(slow, statistics.median(durations[-5:])))


def recent_durations(state: RunState) -> list[float]:
    """Wall seconds of up to 50 newest steps, oldest first."""
    column = state.history.columns["duration_s"]
    return [value for index in state.history.progress[-50:] if (value := column[index]) == value]
