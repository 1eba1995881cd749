"""Rows of JSON within log lines: `INFO trainer: {"step": 3, "loss": 0.5}`, `row: {"step": 3, "metrics": …}`.

Its one rule: a row counts only when it is whole, stands at the end of its line and has a step; a line that is
nothing but a row is left to the readers of JSONL.
"""

from typing import cast

from pydantic_core import from_json

from .train_pairs import Pairs
from .train_place import Place

STEPS = ("step", "global_step", "train_step", "iteration", "iter", "update")
INNER = frozenset({"metrics", "data", "logs", "stats", "train"})
"""Under these names the figures themselves may lie."""
FURTHEST = 400
LONGEST = 200_000
DEEPEST = 4


def row_of(text: str) -> tuple[Place, Pairs] | None:
    """Where the loop is and what it measured, by a row at the end of a line."""
    start = text.find('{"')
    if not 0 < start <= FURTHEST or len(text) > LONGEST or not text.rstrip().endswith("}"):
        return None
    try:
        value: object = from_json(text[start:])
    except ValueError:
        return None
    if not isinstance(value, dict):
        return None
    row = cast("dict[str, object]", value)
    step: object = next((row[key] for key in STEPS if key in row), None)
    if isinstance(step, bool) or not isinstance(step, int | float) or not 0 <= step < 2**53 or step % 1:
        return None
    found: dict[str, float] = {}
    for key, item in row.items():
        if key not in STEPS:
            inner = key in INNER and isinstance(item, dict)
            _gather(found, "" if inner else key, cast(object, item), 0)
    if not found:
        return None
    return Place(int(step), None, None, None, False, start, len(text)), Pairs(found, found)


def _gather(into: dict[str, float], name: str, item: object, depth: int) -> None:
    """Numbers, with slashes between the names of what lies nested."""
    if isinstance(item, dict) and depth < DEEPEST:
        for key, inner in cast("dict[str, object]", item).items():
            _gather(into, f"{name}/{key}" if name else key, inner, depth + 1)
    elif isinstance(item, int | float) and not isinstance(item, bool) and abs(item) < 2**1000:
        into[name] = float(item)
