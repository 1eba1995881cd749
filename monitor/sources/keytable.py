"""The shape of a table of keys: which raw key fills which field of a step, in which unit.

Its one rule: of several keys for one field, the first that has a finite number wins.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

from ...models.run import Framework
from ...models.step import PhaseName


class Key(NamedTuple):
    """A raw key, the field of Step that it fills, and what to multiply by to get the canonical unit."""

    name: str
    field: str
    factor: float = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class KeyMap:
    """All that is known of one framework's keys."""

    framework: Framework
    fields: tuple[Key, ...]
    phases: tuple[tuple[str, PhaseName], ...] = ()
    """(raw key, phase), wall seconds; several keys of one phase add up."""
    eval_prefixes: tuple[str, ...] = ()
    """Keys that begin so are scores of an evaluation."""
    signs: tuple[str, ...] = ()
    """Beginnings of keys that no other framework has, by which tracker tags are recognised."""
    clip_why: str = ""
    """What the clip ratio was read from."""
    clip_reliable: bool = True

    def step(self, step: int, numbers: Mapping[str, float], /, **known: Any) -> dict[str, Any]:
        """The fields of a Step for the numbers of a log; `known` wins over the table."""
        values: dict[str, Any] = {"step": step, **self.values(numbers)}
        if "clip_ratio" in values and self.clip_why:
            values["clip_reliable"] = self.clip_reliable
            values["clip_why"] = self.clip_why
        phases = self.phase_seconds(numbers)
        if phases:
            values["phases"] = phases
        values.update(known)
        return values

    def values(self, raw: Mapping[str, float]) -> dict[str, float]:
        """Canonical values by field name; keys whose number is not finite count as not there."""
        values: dict[str, float] = {}
        get, isfinite = raw.get, math.isfinite
        for name, field, factor in self.fields:
            value = get(name)
            if value is not None and field not in values and isfinite(value):
                values[field] = value * factor
        return values

    def phase_seconds(self, raw: Mapping[str, float]) -> dict[PhaseName, float]:
        """Wall seconds by phase."""
        seconds: dict[PhaseName, float] = {}
        for name, phase in self.phases:
            value = raw.get(name)
            if value is not None and math.isfinite(value) and value >= 0:
                seconds[phase] = seconds.get(phase, 0.0) + value
        return seconds

    def among(self, names: frozenset[str]) -> "KeyMap":
        """The part of the table that rows with these keys can have: most rows of a log have the same."""
        return _among(self, names)

    def under(self, prefix: str) -> "KeyMap":
        """The same table for a tracker that puts `prefix` before every training key."""
        return replace(
            self,
            fields=tuple(key._replace(name=prefix + key.name) for key in self.fields),
            phases=tuple((prefix + name, phase) for name, phase in self.phases),
            signs=tuple(prefix + sign for sign in self.signs),
        )


@lru_cache(maxsize=256)
def _among(keymap: KeyMap, names: frozenset[str]) -> KeyMap:
    return replace(
        keymap,
        fields=tuple(key for key in keymap.fields if key.name in names),
        phases=tuple(phase for phase in keymap.phases if phase[0] in names),
    )
