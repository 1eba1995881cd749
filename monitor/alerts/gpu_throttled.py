"""GPUs that slow themselves down, from heat or lack of power, for longer than a minute."""

from dataclasses import dataclass

from ...models.text import duration
from ..moment import Moment
from .gpu_idle import gpus_of
from .rule import FINE, Debounce, Reading, Rule, Unwatched


@dataclass(frozen=True, slots=True)
class Limits:
    """Time in seconds."""

    seconds: float = 60.0


@dataclass(frozen=True, slots=True)
class Memory:
    """Since when some have been throttled, unix seconds."""

    since: float | None = None


def tick(memory: Memory, moment: Moment, limits: Limits) -> tuple[Memory, Reading | Unwatched | None]:
    """The newest readings."""
    if not moment.state.gpus:
        return Memory(), Unwatched("no GPU readings")
    slow = [gpu for gpu in gpus_of(moment) if gpu.state == "throttled"]
    if not slow:
        return Memory(), FINE
    at = max(sample.at for sample in moment.state.gpus.values())
    since = at if memory.since is None else memory.since
    if at - since <= limits.seconds:
        return Memory(since), Reading(value=float(len(slow)))
    which = ", ".join(str(gpu.index) for gpu in slow)
    return Memory(since), Reading(
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
    debounce=Debounce(clear=5, wary=False),
    tick=tick,
)
