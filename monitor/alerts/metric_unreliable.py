"""A metric that lies is worse than none: say which, and what is used instead.

- Whether a clip ratio can be trusted is the source's finding. veRL's 0.9 trainer counts the rows as long as
  the longest of the batch, so that its figure is never 0: where no response reached the cap, 0 is used.
- An MFU of 0 means a GPU that the framework does not know, and more than 1 is impossible.
- A logged step time that leaves out evaluations, checkpoints or waiting is held against the wall clock.
"""

from dataclasses import dataclass
from typing import NamedTuple

from ...models.text import percent
from ..moment import Moment
from .began import Began
from .rule import FINE, Debounce, Reading, Rule, Unwatched
from .stakes import step_of

_CLIP_KEYS = ("response_length/clip_ratio",)
_MFU_KEYS = (
    "perf/mfu/actor",
    "perf/mfu/actor_infer",
    "mfu/actor",
    "train/mfu",
    "perf/actor_train_mfu",
    "performance/train_fp_utilization",
)
_TIME_KEYS = ("step_time", "timing_s/step", "timing/train/total_step_time", "perf/step_time", "time/step")
_LEAST_STEPS = 10
"""Steps over which the step time is held against the clock."""
_PAUSE = 20
"""A gap of more than so many step times is a pause, which `stall` tells of."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Shares from 0 to 1."""

    left_out: float = 0.1
    """Of the wall time, that the logged step times may leave out."""


class Memory(NamedTuple):
    """Seconds since the first step with a time: by the clock, and as logged. Since when each remark holds."""

    wall_s: float = 0.0
    logged_s: float = 0.0
    steps: int = 0
    ended_at: float | None = None
    attempt: int = 0
    began: Began = Began()


def observe(memory: Memory, moment: Moment, limits: Limits) -> tuple[Memory, Reading | Unwatched]:
    """One closed step."""
    if moment.row is None:
        return memory, Unwatched("no step yet")
    memory = _timed(memory, moment)
    remarks = {
        "clip": _clip(moment),
        "longest": _clip_of_longest(moment),
        "mfu": _mfu(moment),
        "time": _step_time(memory, moment, limits),
    }
    found = {name: remark for name, remark in remarks.items() if remark}
    memory = memory._replace(began=memory.began.at(found, step_of(moment)))
    if not found:
        return memory, FINE
    return memory, Reading(
        level="info",
        value=float(len(found)),
        message="; ".join(f"{what}{memory.began.dated(name)}" for name, (what, _) in found.items()),
        advice="; ".join(dict.fromkeys(instead for _, instead in found.values())),
    )


Remark = tuple[str, str]
"""What is wrong, and what is used instead."""


def _clip(moment: Moment) -> Remark | None:
    if moment.state.clip_reliable is not False or moment.get("clip_ratio") is None:
        return None
    why = moment.state.clip_why or "the log does not bear it out"
    return f"clip ratio not to be trusted: {why}", "no alert is built on the clip ratio"


def _clip_of_longest(moment: Moment) -> Remark | None:
    used = moment.get("clip_ratio")
    logged = _first(moment, _CLIP_KEYS)
    if logged is None or used is None or moment.state.clip_reliable is False or logged[1] <= used:
        return None
    key, share = logged
    return (
        f"{key} is {percent(share)}, counted against the longest response of the batch and not the cap",
        f"{percent(used)} is used",
    )


def _mfu(moment: Moment) -> Remark | None:
    key, logged = _first(moment, _MFU_KEYS) or ("mfu", moment.get("mfu_logged"))
    if logged == 0:
        return f"{key} is 0: the framework does not know this GPU", "the MFU of the whole step is ours"
    if logged is not None and logged > 1 and (moment.get("mfu_logged") or logged) > 1:
        return f"{key} is {percent(logged)}, which cannot be", "the MFU of the whole step is ours"
    return None


def _step_time(memory: Memory, moment: Moment, limits: Limits) -> Remark | None:
    logged = _first(moment, _TIME_KEYS)
    if logged is None or moment.info.platform == "tinker":
        return None
    if memory.ended_at is None and moment.info.framework == "trl":
        return (
            f"{logged[0]} leaves out evaluations, checkpoints and the optimiser, and the log has no clock",
            "the cost is a lower bound",
        )
    if memory.steps < _LEAST_STEPS or memory.logged_s >= (1 - limits.left_out) * memory.wall_s:
        return None
    missing = percent(1 - memory.logged_s / memory.wall_s)
    return f"{logged[0]} leaves out {missing} of the wall time", "the bill goes by the wall clock"


def _timed(memory: Memory, moment: Moment) -> Memory:
    row, ended_at, logged = moment.row, moment.get("ended_at"), _first(moment, _TIME_KEYS)
    if row is None or ended_at is None:
        return memory
    wall_s = ended_at - memory.ended_at if memory.ended_at is not None else 0.0
    counts = row.attempt == memory.attempt and logged is not None and 0 < wall_s < _PAUSE * logged[1]
    return memory._replace(
        wall_s=memory.wall_s + (wall_s if counts else 0.0),
        logged_s=memory.logged_s + (logged[1] if counts and logged is not None else 0.0),
        steps=memory.steps + counts,
        ended_at=ended_at,
        attempt=row.attempt,
    )


def _first(moment: Moment, keys: tuple[str, ...]) -> tuple[str, float] | None:
    for key in keys:
        value = moment.row.raw(key) if moment.row is not None else None
        if value is not None and value == value:
            return key, value
    return None


RULE = Rule(
    name="metric_unreliable",
    about="logged figures that cannot be right",
    limits=Limits(),
    memory=Memory(),
    severities=("info",),
    debounce=Debounce(warning=(3, 3)),
    observe=observe,
)
