"""NaN or infinity in what training stands on: critical at once, since every further step is wasted.

The names are the log's own, because a canonical quantity holds None where the log held NaN.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from ..moment import Moment
from .began import Began
from .rule import FINE, Debounce, Reading, Rule, Unwatched
from .stakes import step_of

_WATCHED = re.compile(
    r"(^|[^a-z])(loss|rewards?|scores?|advantages?|returns?|grad_?norm|kl|entropy|importance[a-z_]*ratio)([^a-z]|$)",
    re.IGNORECASE,
)
_MAY_BE_NAN = re.compile(r"(^|[^a-z])(std|var|corr|max|min|test|val|eval)([^a-z]|$)", re.IGNORECASE)
"""Undefined for a single sample or an empty split: a NaN there says nothing of training."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Nothing to set but what every rule has."""


class Memory(NamedTuple):
    """What this rule has read."""

    watched: bool = False
    """Whether anything that it reads has been logged."""
    began: Began = Began()


def observe(memory: Memory, moment: Moment, limits: Limits) -> tuple[Memory, Reading | Unwatched]:
    """One closed step."""
    row = moment.row
    if row is None:
        return memory, Unwatched("no step yet")
    broken = {name: x for name, x in row.nonfinite.items() if is_watched(name)}
    # The names are the log's own where it has any for what is broken.
    named = {name: x for name, x in broken.items() if name not in _CANONICAL} or broken
    memory = Memory(memory.watched or bool(broken), memory.began.at(named, step_of(moment)))
    if named:
        return memory, _reading(memory.began, named)
    if not memory.watched:
        raw = (name for name in moment.state.history.raw if is_watched(name))
        canonical = any(row.get(name) is not None for name in _CANONICAL)
        memory = Memory(canonical or next(raw, None) is not None, memory.began)
        if not memory.watched:
            return memory, Unwatched("no loss, reward, gradient norm, KL or entropy in this log")
    return memory, FINE


def is_watched(name: str) -> bool:
    """Whether a NaN under this name means that training has broken."""
    return _WATCHED.search(name) is not None and _MAY_BE_NAN.search(name) is None


_CANONICAL = ("loss", "reward_mean", "grad_norm", "kl", "entropy")


def _reading(began: Began, broken: Mapping[str, float]) -> Reading:
    name, *others = began.steps
    more = f" and {len(others)} more" if others else ""
    return Reading(
        level="critical",
        certain=True,
        value=float(len(broken)),
        threshold=0.0,
        message=f"{'NaN' if math.isnan(broken[name]) else 'infinity'} in {name}{began.dated(name)}{more}",
        advice="stop, and go back to the last checkpoint from before this step",
    )


RULE = Rule(
    name="nan",
    about="NaN or infinity in loss, reward, gradient norm, KL or entropy",
    limits=Limits(),
    memory=Memory(),
    severities=("critical",),
    debounce=Debounce(clear=10),
    observe=observe,
)
