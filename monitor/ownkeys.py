"""The user's own word on what a raw key is, `[keys]` in rltop.toml. Its one rule: it beats our tables.

[keys]
response_length_mean = "my/len"
mfu_logged = { key = "perf/mfu_percent", factor = 0.01 }
"""

import math
import re
from collections.abc import Collection, Mapping

from ..models.settings import OwnKey
from ..models.step import Step
from ..models.text import number
from .history import History

_WORD = re.compile(r"[a-z]+")
TELLING: tuple[tuple[str, frozenset[str], frozenset[str]], ...] = tuple(
    (field, frozenset(any_of.split()), frozenset(none_of.split()))
    for field, any_of, none_of in (
        (
            "response_length_mean",
            "len length lens lengths tokens",
            "prompt prompts max min std total time s sec second throughput eval val",
        ),
        (
            "reward_mean",
            "reward rewards score scores return returns accuracy acc",
            "std max min eval val test",
        ),
        ("clip_ratio", "truncated truncation trunc cutoff overlong", "eval val"),
        ("duration_s", "seconds secs sec duration elapsed", "eval val per gen generation"),
        ("mfu_logged", "mfu hfu", ""),
    )
)
"""(quantity, words of which a key's name has one, words that speak against it)."""
SHARES = frozenset({"clip_ratio", "pg_clip_fraction", "zero_variance_groups", "mfu_logged", "mfu_whole_step"})
SIGNED = frozenset({"reward_mean", "kl", "entropy", "loss"})
"""Quantities that may be below zero."""
SUGGESTED = 3
"""Keys named for one quantity."""


class OwnKeys:
    """Fills the quantities that the user has mapped from the raw keys of a step."""

    def __init__(self, keys: Mapping[str, OwnKey]) -> None:
        self._keys = keys

    def told(self, step: Step) -> Step:
        """The step with the user's keys on top; what it lacks, or has not as a number, changes nothing."""
        update: dict[str, object] = {}
        for field, own in self._keys.items():
            value = _ours(field, own, step.raw.get(own.key))
            if value is not None:
                update[field] = value
        if not update:
            return step
        if "clip_ratio" in update:
            update |= {"clip_reliable": True, "clip_why": f"{self._keys['clip_ratio'].key}, as you say"}
        return step.model_copy(update=update)


def _ours(field: str, own: OwnKey, value: float | None) -> float | None:
    """A raw value in our unit; None where there is none, or it cannot be one of this quantity."""
    if value is None or not math.isfinite(value * own.factor):
        return None
    value *= own.factor
    low, high = 0.0 if field not in SIGNED else -math.inf, 1.0 if field in SHARES else math.inf
    return value if low <= value <= high else None


def unheard(history: History, keys: Mapping[str, OwnKey]) -> tuple[str, ...]:
    """Of the user's keys: which the log does not have, and which hold nothing that can be the quantity."""
    if not len(history.steps):
        return ()
    lines: list[str] = []
    for field, own in keys.items():
        values = [value for value in history.raw.get(own.key, ()) if value == value]
        if not values:
            lines.append(f"[keys] {field}: the log has no number named {own.key}")
        elif all(_ours(field, own, value) is None for value in values):
            least = "a finite number" if field in SIGNED else "0 or more"
            bounds = "from 0 to 1" if field in SHARES else least
            lines.append(
                f"[keys] {field}: {own.key} times {own.factor:g} is {number(values[-1] * own.factor)},"
                f" but has to be {bounds}"
            )
    return tuple(lines)


def suggestions(
    history: History, raw_names: Collection[str], keys: Mapping[str, OwnKey] = {}
) -> tuple[str, ...]:
    """For each quantity that no row has: the raw keys whose names hint at it, to be confirmed by the user.

    What the user has named in `keys` is not asked for again.
    """
    lines: list[str] = []
    for field, any_of, none_of in TELLING:
        column = history.columns[field]
        if field in keys or any(value == value for value in column):
            continue
        hints = [name for name in raw_names if _hints(name, any_of, none_of)][:SUGGESTED]
        if hints:
            lines.append(
                f"no {field.replace('_', ' ')} was recognised; if it is {' or '.join(hints)}, "
                f'say so in rltop.toml: [keys] {field} = "{hints[0]}"'
            )
    return tuple(lines)


def _hints(name: str, any_of: frozenset[str], none_of: frozenset[str]) -> bool:
    words = set(_WORD.findall(name.lower()))
    return bool(words & any_of) and not words & none_of
