"""GPUs that are paid for and do nothing: all of them, for longer than a step takes.

RL swings between busy and idle within a step, so one quiet reading means nothing: all GPUs below
`util` for more than max(60 s, the median step). Critical at twice that.
"""

import statistics
from dataclasses import dataclass
from typing import NamedTuple

from ...models.gpu import Gpu
from ...models.text import duration, usd
from ..moment import Moment
from ..status import recent_durations
from .rule import FINE, Debounce, Reading, Rule, Unwatched
from .stakes import wall_usd


@dataclass(frozen=True, slots=True)
class Limits:
    """Utilisation in percent, time in seconds."""

    util: float = 10.0
    clear_util: float = 20.0
    seconds: float = 60.0


class Memory(NamedTuple):
    """Since when all have been idle, and when the newest reading was taken; unix seconds."""

    since: float | None = None
    read_at: float | None = None


def gpus_of(moment: Moment) -> list[Gpu]:
    """All GPUs of all hosts."""
    return [gpu for sample in moment.state.gpus.values() for gpu in sample.gpus]


def read_at(moment: Moment) -> float | None:
    """When the newest reading was taken, unix seconds. The same one, seen again, is no further evidence."""
    return max((sample.at for sample in moment.state.gpus.values()), default=None)


def tick(memory: Memory, moment: Moment, limits: Limits) -> tuple[Memory, Reading | Unwatched | None]:
    """The newest readings."""
    at = read_at(moment)
    if at is None:
        return Memory(), Unwatched("no GPU readings")
    if moment.info.platform == "tinker":
        return Memory(), Unwatched("the GPUs seen here are not the run's: it trains at its provider")
    utils = [gpu.util for gpu in gpus_of(moment) if gpu.util is not None]
    if not utils:
        return Memory(), Unwatched("the GPUs do not tell how busy they are")
    if moment.status not in ("running", "stalled"):
        return Memory(), FINE
    if at == memory.read_at:
        return memory, None
    if max(utils) >= limits.util:
        fine = max(utils) > limits.clear_util
        return Memory(read_at=at), FINE if fine else Reading(value=max(utils), threshold=limits.util)
    since = at if memory.since is None else memory.since
    memory = Memory(since, at)
    idle_s = at - since
    durations = recent_durations(moment.state)
    limit_s = max(limits.seconds, statistics.median(durations) if durations else 0.0)
    if idle_s <= limit_s:
        return memory, Reading(value=max(utils), threshold=limits.util)
    cost = wall_usd(moment, idle_s)
    return memory, Reading(
        level="critical" if idle_s > 2 * limit_s else "warning",
        certain=True,
        value=max(utils),
        threshold=limits.util,
        message=f"all {len(utils)} GPUs idle for {duration(idle_s)}",
        advice=f"{usd(cost)} for nothing; see what the run waits for"
        if cost
        else "see what the run waits for",
    )


RULE = Rule(
    name="gpu_idle",
    about="GPUs that are paid for and idle",
    limits=Limits(),
    memory=Memory(),
    lasting=True,
    debounce=Debounce(clear=5, wary=False),
    tick=tick,
)
