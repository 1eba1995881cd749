"""When each event of a finished run happened, so that it can be played back at its own pace. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ..models.event import Ended, Event, SourceStatus
from ..models.step import Step

UNTIMED_STEP_S = 60.0
"""A step is played as this long where the log has no clock and does not tell how long it took, so that it can
be watched too. That is the pace of the replay alone: it is not told of the step, and nobody pays for it."""


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
    of the file, not of the run. Where some steps have no time, none is given any that the log has not: a
    change of the file at that moment shows that the run goes on.
    """
    steps = [event for event in events if isinstance(event, Step)]
    took = _durations_s(steps)
    first_at = next((step.ended_at for step in steps if step.ended_at is not None), None)
    if first_at is not None:
        took = {step: seconds or 0.0 for step, seconds in took.items()}
    at = first_at
    if at is None:
        length_s = sum(UNTIMED_STEP_S if seconds is None else seconds for seconds in took.values())
        at = 0.0 if ended_at is None else ended_at - length_s
    told = {(step.step, step.attempt) for step in steps if (step.ended_at, step.duration_s) != (None, None)}
    all_timed = len(told) == len(took)
    file = next((event for event in reversed(events) if isinstance(event, SourceStatus)), None)
    timed: list[Timed] = []
    held: list[Event] = []
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
            seconds = took[event.step, event.attempt]
            at += UNTIMED_STEP_S if seconds is None else seconds
        seen.add((event.step, event.attempt))
        if event.ended_at is None and all_timed:
            event = event.model_copy(update={"ended_at": at})
        elif event.ended_at is None and file is not None:
            held.append(file.model_copy(update={"modified_at": at}))
        timed.extend(Timed(at, earlier) for earlier in held)
        held.clear()
        timed.append(Timed(at, event))
    timed.extend(Timed(at, last) for last in held if not isinstance(last, Ended))
    timed.extend(Timed(at, last) for last in held if isinstance(last, Ended))
    return timed


def _durations_s(steps: Iterable[Step]) -> dict[tuple[int, int], float | None]:
    """How long each step took, by number and attempt, as it was told first."""
    took: dict[tuple[int, int], float | None] = {}
    for step in steps:
        took.setdefault((step.step, step.attempt), step.duration_s)
    return took


def first_step_at(timed: Sequence[Timed]) -> float:
    """The time of the first step, or 0 of an empty run."""
    return next((item.at for item in timed if isinstance(item.event, Step)), 0.0)
