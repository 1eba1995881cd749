"""A table of metrics as CSV: a header with a step among the names, and a row for each step.

Its one rule: a row is read as the JSON row with the same names would be, so that a CSV and a JSONL of one run
say the same.
"""

import csv
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic_core import to_json

from ...models.event import Event
from ..filesource import FileSource
from ..source import Format, Line, Parser, Probe, Source
from ..tells import Tells
from ..transport import open_transport
from .jsonl import STEP_KEYS, JsonlParser
from .names import fields_of
from .pyrepr import number_of
from .trl_jsonl import TrlJsonlParser, is_rows

DELIMITERS = ",;\t"
FEWEST_COLUMNS = 2
LOWEST = 0.18
"""Less than for rows of JSON, which lose nothing."""
LONGEST_HEADER = 256 * 1024
EXPORTED = re.compile(r"(?P<run>.{1,200}?) - (?P<key>.{1,200})")
"""A column as W&B's site exports it: the run's name before the key."""
SPREAD = ("__MIN", "__MAX")
"""What that export adds to each key."""


class Columns:
    """The names of a header, by which the cells of a row are numbers."""

    def __init__(self, header: str) -> None:
        self.delimiter = max(DELIMITERS, key=header.count)
        names = [_key(name.strip()) for name in _cells(header, self.delimiter)]
        if "step" not in names:
            names = ["step" if name.lower() in ("step", "global step") else name for name in names]
        self.names = tuple(names)

    @property
    def has_step(self) -> bool:
        """Whether a column tells the step."""
        return len(self.names) >= FEWEST_COLUMNS and not set(STEP_KEYS).isdisjoint(self.names)

    def row(self, text: str) -> dict[str, float | str] | None:
        """The cells that are not empty; None where there are more or fewer than names."""
        cells = _cells(text, self.delimiter)
        if len(cells) != len(self.names):
            return None
        row: dict[str, float | str] = {}
        for name, cell in zip(self.names, cells, strict=True):
            if not name or name.endswith(SPREAD) or not cell.strip():
                continue
            number = number_of(cell.strip())
            row[name] = cell if number is None else int(number) if number.is_integer() else number
        return row


class CsvParser:
    """Makes events of the rows of a table."""

    source = "csv"

    def __init__(self) -> None:
        self.bad_lines = 0
        self.first_bad = ""
        self._columns: Columns | None = None
        self._rows: Parser | None = None

    def feed(self, line: Line) -> Iterator[Event]:
        """The events of one row."""
        if not line.text.strip():
            return
        if self._columns is None:
            self._columns = Columns(line.text.lstrip("\ufeff")[:LONGEST_HEADER])
            return
        row = self._columns.row(line.text)
        if row is None:
            self._bad(line, f"not {len(self._columns.names)} columns")
            return
        text = to_json(row, inf_nan_mode="constants").decode()
        if self._rows is None:
            self._rows = TrlJsonlParser() if is_rows(text) else JsonlParser()
        yield from self._rows.feed(Line(text, line.at, line.number))

    def flush(self) -> Iterator[Event]:
        """Nothing is held back."""
        return iter(())

    def restart(self) -> Iterator[Event]:
        """The table is written anew."""
        self._columns = None
        return iter(())

    def _bad(self, line: Line, why: str) -> None:
        self.bad_lines += 1
        if not self.first_bad:
            self.first_bad = f"line {line.number}: {why}"


def _cells(text: str, delimiter: str) -> list[str]:
    """The cells of one line; a quoted line break within a cell, which no metric has, ends it."""
    cells: list[str] = []
    try:
        for row in csv.reader([text], delimiter=delimiter):
            cells += row
    except csv.Error:
        return []
    return cells


def _key(name: str) -> str:
    exported = EXPORTED.fullmatch(name)
    return exported["key"] if exported else name


def _score(probe: Probe) -> float:
    if probe.is_dir or probe.head[:1] in ("{", "["):
        return 0.0
    header, *lines = probe.head.lstrip("\ufeff").split("\n", 2)[:2]
    columns = Columns(header[:LONGEST_HEADER])
    row = columns.row(lines[0]) if columns.has_step and lines else None
    if row is None:
        return 0.0
    numbers = {name: float(value) for name, value in row.items() if not isinstance(value, str)}
    if set(STEP_KEYS).isdisjoint(numbers):
        return 0.0
    return LOWEST if fields_of(numbers)[0] else LOWEST / 2


def _open(path: Path) -> Sequence[Source]:
    return [FileSource(open_transport(path), CsvParser())]


_BY_NAME = "by its name, or `[keys]`"
TELLS = Tells(
    steps="a column: `step`, `global_step`, …",
    total="a column: `max_steps`, …",
    tokens="length × samples, or `[keys]`",
    length=_BY_NAME,
    clip=_BY_NAME,
    reward=_BY_NAME,
    time="by its name, `timestamp`, or `[keys]`",
)
FORMAT = Format(name="CSV with a step in each row", score=_score, open=_open, tells=TELLS)
