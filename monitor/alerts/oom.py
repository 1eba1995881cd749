"""Out of memory, as the log tells it. Critical at once; five further steps show that the run got over it."""

from dataclasses import dataclass
from typing import NamedTuple

from ...models.event import LogLine
from ..moment import Moment
from .loglines import is_past, lines_since, newest, quoted
from .rule import FINE, Reading, Rule, Unwatched


@dataclass(frozen=True, slots=True)
class Limits:
    """Nothing to set but what every rule has."""


class Memory(NamedTuple):
    """The last line looked at."""

    last: LogLine | None = None


def look(memory: Memory, moment: Moment, limits: Limits) -> tuple[Memory, Reading | Unwatched | None]:
    """After a step or between steps alike; only steps count as good."""
    logs = moment.state.logs
    line = newest(lines_since(memory.last, moment), "oom")
    memory = Memory(logs[-1] if logs else None)
    if line is None:
        if moment.row is not None:
            return memory, FINE
        return memory, None if logs else Unwatched("no log lines to read")
    past = is_past(line, moment)
    return memory, Reading(
        level="info" if past else "critical",
        certain=True,
        value=1.0,
        message=f"out of memory{', and went on' if past else ''}: {quoted(line.text)}",
        advice="fewer tokens per GPU in a micro-batch, or a smaller share for the rollout engine's cache",
    )


RULE = Rule(
    name="oom",
    about="out of memory",
    limits=Limits(),
    memory=Memory(),
    severities=("info", "critical"),
    lasting=True,
    observe=look,
    tick=look,
)
