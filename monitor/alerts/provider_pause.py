"""The provider has paused the run: an unpaid bill (critical) or no capacity (warning). A step ends it."""

from dataclasses import dataclass
from typing import NamedTuple

from ...models.event import LogLine
from ..moment import Moment
from .loglines import is_past, lines_since, newest, quoted
from .rule import FINE, Debounce, Reading, Rule, Unwatched


@dataclass(frozen=True, slots=True)
class Limits:
    """Nothing to set but what every rule has."""


class Memory(NamedTuple):
    """The last line looked at, the pause that holds, and how many steps had been told when it came."""

    last: LogLine | None = None
    pause: LogLine | None = None
    steps: int = 0


def look(memory: Memory, moment: Moment, limits: Limits) -> tuple[Memory, Reading | Unwatched | None]:
    """After a step or between steps alike."""
    state = moment.state
    pause = newest(lines_since(memory.last, moment), "billing", "capacity")
    last = state.logs[-1] if state.logs else None
    if pause is not None and not is_past(pause, moment):
        memory = Memory(last, pause, len(state.history))
    elif memory.pause is None:
        watched = moment.info.platform == "tinker" or bool(state.logs)
        return Memory(last), FINE if watched else Unwatched("no provider and no log lines to read")
    else:
        memory = Memory(last, memory.pause, memory.steps)
    held = memory.pause
    over = moment.status in ("finished", "crashed")
    if held is None or over or len(state.history) > memory.steps or is_past(held, moment):
        return Memory(last), FINE
    billing = held.topic == "billing"
    return memory, Reading(
        level="critical" if billing else "warning",
        certain=True,
        value=1.0,
        message=f"paused by the provider: {quoted(held.text)}",
        advice="settle the bill: the run waits"
        if billing
        else "nothing to do: it goes on when there is room",
    )


RULE = Rule(
    name="provider_pause",
    about="a run that its provider has paused",
    limits=Limits(),
    memory=Memory(),
    lasting=True,
    debounce=Debounce(clear=1, wary=False),
    observe=look,
    tick=look,
)
