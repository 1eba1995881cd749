"""GPUs that slow themselves down, from heat or lack of power, for longer than a minute."""

from dataclasses import dataclass
from typing import NamedTuple

from ...models.text import duration
from ..moment import Moment
from .gpu_idle import gpus_of, read_at
from .rule import FINE, Debounce, Reading, Rule, Unwatched


@dataclass(frozen=True, slots=True)
class Limits:
    """Time in seconds."""

    seconds: float = 60.0


class Memory(NamedTuple):
    """Since when some have been throttled, and when the newest reading was taken; unix seconds."""

    since: float | None = None
    read_at: float | None = None


def tick(memory: Memory, moment: Moment, limits: Limits) -> tuple[Memory, Reading | Unwatched | None]:
    """The newest readings."""
    at = read_at(moment)
    if at is None:
        return Memory(), Unwatched("no GPU readings")
    if at == memory.read_at:
        return memory, None
    slow = [gpu for gpu in gpus_of(moment) if gpu.state == "throttled"]
    if not slow:
        return Memory(read_at=at), FINE
    since = at if memory.since is None else memory.since
    if at - since <= limits.seconds:
        return Memory(since, at), Reading(value=float(len(slow)))
    which = ", ".join(str(gpu.index) for gpu in slow)
    return Memory(since, at), Reading(
        level="warning",
        certain=True,
        value=float(len(slow)),
        message=f"GPU {which} throttled for {duration(at - since)}",
        advice="check cooling and power: the slowest GPU sets the pace of all",
    )


RULE = Rule(
    name="gpu_throttled",
    about="GPUs slowed by heat or lack of power",
    limits=Limits(),
    memory=Memory(),
    lasting=True,
    severities=("warning",),
    debounce=Debounce(clear=5, wary=False),
    tick=tick,
)
