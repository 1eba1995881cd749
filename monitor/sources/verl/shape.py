"""What the keys of a line say, whatever their values. Its one rule: it is worked out once for a set of keys,
since a log has the same keys in nearly every line, though not always in the same order.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from .evals import is_eval_key, is_training

TIMINGS = ("timing_s/", "timing/")
V0_KEYS = ("timing_s/agent_loop/", "timing_s/generation_timing/", "perf/mfu/actor_infer", "tool_call_counts/")
"""Only the trainer before 0.9 logs them."""
V1_KEYS = ("training/off_policy/", "training/num_turns/")
FULLY_ASYNC = "fully_async/"


class Shape(NamedTuple):
    """The keys of a line, looked through."""

    phases: tuple[tuple[str, str], ...]
    """(key, veRL's name of the phase) of the timings that are neither per sample nor nested."""
    validates: bool
    """Some keys belong to validation."""
    trains: bool
    """Some belong to training; the line of step 0 is asked more strictly."""
    trains_at_0: bool
    timed_early: bool
    """Timings have the name that they had up to 0.2."""
    actor: bool
    v0: bool
    v1: bool
    fully_async: bool


def shape_of(values: Mapping[str, float]) -> Shape:
    """The shape of a line with these metrics."""
    return _shape(frozenset(values))


class Shapes:
    """Remembers the shape of the line before, which most often is that of the next."""

    def __init__(self) -> None:
        self._keys: frozenset[str] = frozenset()
        self._shape = _shape(self._keys)

    def of(self, values: Mapping[str, float]) -> Shape:
        """As `shape_of`."""
        if values.keys() != self._keys:
            self._keys = frozenset(values)
            self._shape = _shape(self._keys)
        return self._shape


@lru_cache(maxsize=256)
def _shape(keys: frozenset[str]) -> Shape:
    def some(beginnings: str | tuple[str, ...]) -> bool:
        return any(key.startswith(beginnings) for key in keys)

    return Shape(
        phases=tuple(_phases(keys)),
        validates=any(map(is_eval_key, keys)),
        trains=is_training(keys, 1),
        trains_at_0=is_training(keys, 0),
        timed_early=some("timing/"),
        actor=some("actor/"),
        v0=some(V0_KEYS),
        v1=some(V1_KEYS),
        fully_async=some(FULLY_ASYNC),
    )


def _phases(keys: frozenset[str]) -> list[tuple[str, str]]:
    phases: list[tuple[str, str]] = []
    for key in sorted(keys):  # seconds are added in the same order in every line
        if key.startswith(TIMINGS):
            name = key.partition("/")[2]
            if name == "timing_s/param_sync":
                name = "update_weights"
            if name and "/" not in name:
                phases.append((key, name))
    return phases
