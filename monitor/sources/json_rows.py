"""Metrics that a program of one's own keeps as one JSON list of rows, and writes anew after each: alone, or
under one name of an object, such as `{"config": …, "history": [{"step": 1, "loss": 0.5}, …]}`.

Its one rule: a row is read as the same row in a JSONL would be; what was told before is not told again.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast

from pydantic_core import from_json, to_json

from ...models.event import Event
from ..source import Format, Line, Probe, Source
from ..tells import Tells
from .document import DocumentSource
from .jsonl import JsonlParser, step_of
from .names import fields_of

LIST = re.compile(r'\s*(?:\{(?:.{0,20000}?[,{])?\s*"\w{1,40}"\s*:\s*)?\[\s*(?=\{)', re.DOTALL)
LONGEST_ROW = 8000
DEEPEST = 2
"""How many objects the list may lie in, but for the first."""
SCORE = 0.19
"""Less than for rows one by one, more than for a table."""


class JsonRowsSource(DocumentSource):
    """Follows such a list."""

    source = "json"

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._parser = JsonlParser()
        self._first: object = None

    def _takes(self, value: object) -> bool:
        return rows_of(value) is not None

    def _events(self, value: object) -> Iterator[Event]:
        rows = rows_of(value) or []
        if len(rows) < self._lines or (self._lines and rows[0] != self._first):
            self._lines = 0
            yield from self._parser.restart()
        self._first = rows[0] if rows else None
        for number, row in enumerate(rows[self._lines :], self._lines + 1):
            yield from self._parser.feed(Line(to_json(row, inf_nan_mode="constants").decode(), None, number))
        self._lines = len(rows)


def rows_of(value: object, depth: int = 0) -> list[dict[str, object]] | None:
    """The rows of a document: the list itself, or the longest within an object whose rows have a step."""
    if isinstance(value, list):
        rows = [row for row in cast("list[object]", value) if isinstance(row, dict)]
        return cast("list[dict[str, object]]", rows)
    if not isinstance(value, dict) or depth > DEEPEST:
        return None
    lists = [rows_of(one, depth + 1) or [] for one in cast("dict[str, object]", value).values()]
    stepped = [rows for rows in lists if any(step_of(row) is not None for row in rows)]
    return max(stepped, key=len, default=None)


def _score(probe: Probe) -> float:
    if probe.is_dir:
        return 0.0
    found = LIST.match(probe.head)
    if found is None:
        return 0.0
    text = probe.head[found.end() :]
    end = -1
    for _ in range(8):  # a row may hold objects
        end = text.find("}", end + 1, LONGEST_ROW)
        if end < 0:
            return 0.0
        try:
            row: object = from_json(text[: end + 1])
        except ValueError:
            continue
        if not isinstance(row, dict):
            return 0.0
        values = cast("dict[str, object]", row)
        if step_of(values) is None:
            return 0.0
        numbers = {
            key: float(value)
            for key, value in values.items()
            if isinstance(value, float | int) and not abs(value) > 1e300
        }
        return SCORE if fields_of(numbers)[0] else SCORE / 2
    return 0.0


def _open(path: Path) -> Sequence[Source]:
    return [JsonRowsSource(path)]


_BY_NAME = "by its name, or `[keys]`"
TELLS = Tells(
    steps="`step`, `global_step`, …",
    total="`max_steps`, …",
    tokens="length × samples, or `[keys]`",
    length=_BY_NAME,
    clip=_BY_NAME,
    reward=_BY_NAME,
    time="by its name, `timestamp`, or `[keys]`",
)
FORMAT = Format(name="JSON list of rows with a step in each", score=_score, open=_open, tells=TELLS)
