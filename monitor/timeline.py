"""When each event of a finished run happened, so that it can be played back at its own pace. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..models.event import Ended, Event, SourceStatus
from ..models.step import Step

UNTIMED_STEP_S = 60.0
"""A step without any time is played as this long, so that a log with no times can be watched too."""


@dataclass(frozen=True, slots=True)
class Timed:
    """An event and the moment at which a watcher would have seen it, unix seconds."""

    at: float
    event: Event


def timeline(events: Iterable[Event], started_at: float = 0.0) -> Sequence[Timed]:
    """Spread events over the run's own time.

    A step happens when its log says; failing that, its duration after the one before. What a log
    says between two steps belongs to the moment of the next one. File dates are dropped: they tell
    of the file, not of the run.
    """
    timed: list[Timed] = []
    held: list[Event] = []
    at = started_at
    seen: set[tuple[int, int]] = set()
    for event in events:
        if isinstance(event, SourceStatus):
            held.append(event.model_copy(update={"modified_at": None}))
            continue
        if not isinstance(event, Step):
            held.append(event)
            continue
        if event.ended_at is not None:
            at = max(at, event.ended_at)
        elif (event.step, event.attempt) not in seen:
            at += UNTIMED_STEP_S if event.duration_s is None else event.duration_s
        seen.add((event.step, event.attempt))
        timed.extend(Timed(at, earlier) for earlier in held)
        held.clear()
        stamped = event if event.ended_at is not None else event.model_copy(update={"ended_at": at})
        timed.append(Timed(at, stamped))
    timed.extend(Timed(at, last) for last in held if not isinstance(last, Ended))
    timed.extend(Timed(at, last) for last in held if isinstance(last, Ended))
    return timed


def first_step_at(timed: Sequence[Timed]) -> float:
    """The time of the first step, or 0 of an empty run."""
    return next((item.at for item in timed if isinstance(item.event, Step)), 0.0)
