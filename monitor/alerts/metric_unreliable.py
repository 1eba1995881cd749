"""A metric that lies is worse than none: say which, and that it is not used.

Whether a clip ratio can be trusted is the source's finding. An MFU of 0 means a GPU that the framework
does not know, and more than 1 is impossible.
"""

from dataclasses import dataclass

from ...models.text import percent
from ..moment import Moment
from .rule import FINE, Debounce, Reading, Rule, Unwatched

_MFU_KEYS = ("perf/mfu/actor", "perf/mfu/actor_infer")


@dataclass(frozen=True, slots=True)
class Limits:
    """Nothing to set but what every rule has."""


@dataclass(frozen=True, slots=True)
class Memory:
    """Nothing to remember."""


def observe(memory: Memory, moment: Moment, limits: Limits) -> tuple[Memory, Reading | Unwatched]:
    """One closed step."""
    if moment.row is None:
        return memory, Unwatched("no step yet")
    found = [remark for remark in (_clip(moment), _mfu(moment)) if remark]
    if not found:
        return memory, FINE
    return memory, Reading(
        level="info",
        value=float(len(found)),
        message="; ".join(found),
        advice="it is shown as logged, and no alert or sum is built on it",
    )


def _clip(moment: Moment) -> str:
    if moment.state.clip_reliable is not False or moment.get("clip_ratio") is None:
        return ""
    return f"clip ratio not to be trusted: {moment.state.clip_why or 'the log does not bear it out'}"


def _mfu(moment: Moment) -> str:
    for key in _MFU_KEYS:
        logged = moment.row.raw(key) if moment.row is not None else None
        if logged == 0:
            return f"{key} is 0: the framework does not know this GPU"
        if logged is not None and logged > 1:
            return f"{key} is {percent(logged)}, which cannot be"
    return ""


RULE = Rule(
    name="metric_unreliable",
    about="logged figures that cannot be right",
    limits=Limits(),
    memory=Memory(),
    severities=("info",),
    debounce=Debounce(warning=(3, 3)),
    observe=observe,
)
