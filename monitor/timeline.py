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


def last_change(events: Iterable[Event]) -> float | None:
    """When the run's files were last changed, unix seconds: about when it ended."""
    dates = (event.modified_at for event in events if isinstance(event, SourceStatus))
    return max((date for date in dates if date is not None), default=None)


def timeline(events: Sequence[Event], ended_at: float | None = None) -> Sequence[Timed]:
    """Spread events over the run's own time; where the log tells none, so that it ends at `ended_at`.

    A step happens when its log says; failing that, its duration after the one before. What a log
    says between two steps belongs to the moment of the next one. File dates are dropped: they tell
    of the file, not of the run.
    """
    timed: list[Timed] = []
    held: list[Event] = []
    at = 0.0 if ended_at is None else ended_at - _length_s(events)
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


def _length_s(events: Iterable[Event]) -> float:
    """Seconds that the steps took; 0 where the log tells its own times."""
    took: dict[tuple[int, int], float] = {}
    for event in events:
        if isinstance(event, Step):
            if event.ended_at is not None:
                return 0.0
            spent = UNTIMED_STEP_S if event.duration_s is None else event.duration_s
            took.setdefault((event.step, event.attempt), spent)
    return sum(took.values())


def first_step_at(timed: Sequence[Timed]) -> float:
    """The time of the first step, or 0 of an empty run."""
    return next((item.at for item in timed if isinstance(item.event, Step)), 0.0)
