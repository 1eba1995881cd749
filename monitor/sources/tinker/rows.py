"""One line of metrics.jsonl as a Row: parsed, flattened, each value put where its key says it belongs.

The one rule: never raises; a line that is no metrics row comes back as the reason, one line of text.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import cast

from pydantic_core import from_json

from .keys import STEP_KEYS, shape_of

_LARGEST_STEP = 2**53


@dataclass(slots=True)
class Row:
    """A metrics row. `told` has finite values only; `raw` everything numeric, as logged."""

    step: int | None = None
    trains: bool = False
    """It has at least one value that only a training step has."""
    told: dict[str, float] = field(default_factory=dict[str, float])
    levels: dict[str, float] = field(default_factory=dict[str, float])
    """Cumulative counters, by key."""
    evals: dict[str, dict[str, float]] = field(default_factory=dict[str, dict[str, float]])
    """Results by evaluator and metric."""
    eval_s: float | None = None
    raw: dict[str, float] = field(default_factory=dict[str, float])


def read_row(text: str) -> Row | str:
    """A Row, or one line that says why the text is none."""
    try:
        value: object = from_json(text, cache_strings="keys")
    except ValueError:
        return "not JSON"
    if not isinstance(value, dict):
        return "not a JSON object"
    keyed = cast("dict[str, object]", value)
    raw = _numbers(keyed)
    shape = shape_of(tuple(raw))
    row = Row(trains=shape.trains, raw=raw)
    for key, (kind, name, scope) in shape.wanted:
        number = raw[key]
        if number - number != 0:  # NaN or an infinity: kept as logged, and no more
            continue
        if kind == "train" or kind == "time":
            row.told[name] = number
        elif kind == "alias":
            row.told.setdefault(name, number)
        elif kind == "level":
            row.levels[key] = number
        elif kind == "eval":
            row.evals.setdefault(scope, {})[name] = number
        elif name:
            row.eval_s = number
    return _numbered(row, keyed)


def _numbered(row: Row, keyed: dict[str, object]) -> Row | str:
    """The row with its step number, which is not one of its values."""
    step = row.raw.pop("step", None)
    if step is None:
        if keyed.get("step") is not None:
            return "step is not a number"
        step = next((row.raw[key] for key in STEP_KEYS[1:] if key in row.raw), None)
    if step is not None:
        if not (0 <= step < _LARGEST_STEP and step == math.floor(step)):
            return "step is not a whole number of 0 or more"
        row.step = int(step)
    return row


def _numbers(keyed: dict[str, object]) -> dict[str, float]:
    """Everything numeric, as floats: nearly always that is all there is."""
    values = cast("list[float]", list(keyed.values()))
    try:
        if _PLAIN.issuperset(map(type, values)):
            return dict(zip(keyed, map(float, values), strict=True))
    except OverflowError:
        pass
    return {name: number for key, item in keyed.items() for name, number in flattened(key, item)}


_PLAIN = frozenset((int, float))


def flattened(key: str, item: object) -> Iterator[tuple[str, float]]:
    """Numbers inside nested objects, with `/` between the names; truth values as 0 and 1."""
    if isinstance(item, dict):
        for name, inner in cast("dict[str, object]", item).items():
            yield from flattened(f"{key}/{name}", inner)
    elif isinstance(item, bool | int | float):
        try:
            yield key, float(item)
        except OverflowError:
            yield key, math.inf if item > 0 else -math.inf
