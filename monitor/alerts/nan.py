"""NaN or infinity in what training stands on: critical at once, since every further step is wasted.

The names are the log's own, because a canonical quantity holds None where the log held NaN.
"""

import math
import re
from dataclasses import dataclass

from ..moment import Moment
from .rule import FINE, Debounce, Reading, Rule, Unwatched

_WATCHED = re.compile(
    r"(^|[^a-z])(loss|rewards?|scores?|advantages?|returns?|grad_?norm|kl|entropy|importance[a-z_]*ratio)([^a-z]|$)",
    re.IGNORECASE,
)
_MAY_BE_NAN = re.compile(r"(^|[^a-z])(std|var|corr|max|min|test|val|eval)([^a-z]|$)", re.IGNORECASE)
"""Undefined for a single sample or an empty split: a NaN there says nothing of training."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Nothing to set but what every rule has."""


@dataclass(frozen=True, slots=True)
class Memory:
    """Whether anything that this rule reads has been logged."""

    watched: bool = False


def observe(memory: Memory, moment: Moment, limits: Limits) -> tuple[Memory, Reading | Unwatched]:
    """One closed step."""
    row = moment.row
    if row is None:
        return memory, Unwatched("no step yet")
    if row.nonfinite:
        broken = {name: x for name, x in row.nonfinite.items() if is_watched(name)}
        if broken:
            return Memory(True), _reading(broken)
    if not memory.watched:
        raw = (name for name in moment.state.history.raw if is_watched(name))
        canonical = any(row.get(name) is not None for name in _CANONICAL)
        memory = Memory(canonical or next(raw, None) is not None)
        if not memory.watched:
            return memory, Unwatched("no loss, reward, gradient norm, KL or entropy in this log")
    return memory, FINE


def is_watched(name: str) -> bool:
    """Whether a NaN under this name means that training has broken."""
    return _WATCHED.search(name) is not None and _MAY_BE_NAN.search(name) is None


_CANONICAL = ("loss", "reward_mean", "grad_norm", "kl", "entropy")


def _reading(broken: dict[str, float]) -> Reading:
    logged = [name for name in broken if name not in _CANONICAL] or list(broken)
    name = logged[0]
    more = f" and {len(logged) - 1} more" if len(logged) > 1 else ""
    return Reading(
        level="critical",
        certain=True,
        value=float(len(logged)),
        threshold=0.0,
        message=f"{'NaN' if math.isnan(broken[name]) else 'infinity'} in {name}{more}",
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
