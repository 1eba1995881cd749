"""The deadline: will the run have ended by then?

The end is now plus the time left as projected. Told when its P90 lies behind the deadline, amber when its P50
does, red when even its P10 does; a deadline that has passed is a fact. Looked at once a step, and once a
minute while no step comes.
"""

from dataclasses import dataclass
from typing import NamedTuple

from ...models.text import duration, usd
from ..moment import Moment
from .rule import FINE, Debounce, Level, Reading, Rule, Unwatched
from .stakes import advise, wall_usd

_LOOK_S = 60.0
_WELL = 0.9
"""Of the time to the deadline: an end that is this early is well before it."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds."""

    margin_s: float = 0.0
    """How long before the deadline the run must have ended."""


class Memory(NamedTuple):
    """When it was looked at last: how many steps were done, and the time."""

    steps_done: int = -1
    at: float = float("-inf")


def tick(memory: Memory, moment: Moment, limits: Limits) -> tuple[Memory, Reading | Unwatched | None]:
    """Whether the end as projected lies behind the deadline."""
    if moment.settings.deadline is None:
        return memory, Unwatched("no deadline: --deadline TIME")
    if moment.status in ("finished", "crashed"):
        return memory, FINE
    deadline_at = moment.settings.deadline.timestamp() - limits.margin_s
    if moment.now > deadline_at:
        return memory, _passed(moment, deadline_at)
    steps_done = moment.state.steps_done
    if memory.steps_done == steps_done and moment.now - memory.at < _LOOK_S:
        return memory, None
    memory = Memory(steps_done, moment.now)
    left = moment.projection.remaining_s
    if left is None:
        known = moment.info.total_steps is not None
        return memory, Unwatched("waits for a projection" if known else "no end is known: --total-steps N")
    to_go_s = deadline_at - moment.now
    late: tuple[tuple[Level, float], ...] = (
        ("critical", left.p10 - to_go_s),
        ("warning", left.p50 - to_go_s),
        ("info", left.p90 - to_go_s),
    )
    level, late_s = next(((level, late_s) for level, late_s in late if late_s > 0), ("ok", 0.0))
    if level == "ok":
        # What hovers about the deadline is told once.
        good = left.p90 < _WELL * to_go_s
        return memory, Reading(good=good, value=left.p50, threshold=to_go_s)
    how = {"critical": "almost certainly ends", "warning": "ends", "info": "may end"}[level]
    between = f"between {_from(left.p10 - to_go_s)} and {_from(left.p90 - to_go_s)}"
    extra = wall_usd(moment, max(0.0, left.p50 - to_go_s))
    return memory, Reading(
        level=level,
        value=left.p50,
        threshold=to_go_s,
        message=f"{how} {duration(late_s)} after the deadline, which is in {duration(to_go_s)}",
        advice=advise(between, f"{usd(extra)} of it after the deadline" if extra else ""),
    )


def _from(late_s: float) -> str:
    return f"{duration(abs(late_s))} {'late' if late_s > 0 else 'early'}"


def _passed(moment: Moment, deadline_at: float) -> Reading:
    left = moment.projection.remaining_s
    return Reading(
        level="critical",
        certain=True,
        value=moment.now,
        threshold=deadline_at,
        message=f"the deadline passed {duration(moment.now - deadline_at)} ago",
        advice=f"another {duration(left.p50)} to go" if left is not None else "stop, or give it more time",
    )


RULE = Rule(
    name="deadline",
    about="the time by which the run must have ended",
    limits=Limits(),
    memory=Memory(),
    severities=("info", "warning", "critical"),
    debounce=Debounce(warning=(3, 4), critical=(3, 4)),
    tick=tick,
)
