"""Any JSONL that has a step in each row: the fallback when no framework is recognised.

Its one rule: names are taken at their word only where they leave no doubt, and the run's notes say
which key was taken for what. Several rows of one step are parts of it.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from pydantic_core import from_json

from ...models.event import Event, Restart
from ...models.run import RunInfo
from ...models.step import Step
from ..filesource import FileSource
from ..source import Format, Line, Probe, Source
from ..tells import Tells
from ..transport import open_transport
from .keymap import KEYMAPS, KeyMap, keymap_of
from .logtime import stamp_of
from .names import fields_of
from .plainrow import floats_of
from .told import Told

STEP_KEYS = (
    "step",
    "_step",
    "global_step",
    "train_step",
    "training_step",
    "iteration",
    "iter",
    "rollout_id",
    "train/step",
    "train/global_step",
    "trainer/global_step",
    "system/global_step",
    "progress/batch",
)
TIME_KEYS = ("timestamp", "_timestamp", "time", "wall_time", "ts", "created_at")
TOTAL_KEYS = ("max_steps", "total_steps", "num_steps", "total_training_steps")
EPOCH_S = (1e9, 4e9)
"""Between 2001 and 2096: a number outside is no time in unix seconds."""
LARGEST = 10**300
MAX_DEPTH = 4
LOWEST = 0.2
ROWS_LOOKED_AT = 20


class JsonlParser:
    """Makes events of rows with a step and numbers."""

    source = "jsonl"

    def __init__(self) -> None:
        self.bad_lines = 0
        self.first_bad = ""
        self._attempt = 0
        self._last: int | None = None
        self._several = False
        """Whether steps have come in several rows: then a row alone does not complete one."""
        self._total: float | None = None
        self._total_key: str | None = None
        self._clock: str | None = None
        """The key of a time as text; empty where rows have none, None before the first row."""
        self._told = Told()
        self._taken: set[str] = set()
        self._looked: frozenset[str] = frozenset()
        self._keymap: KeyMap | None = None
        """The framework's, once the keys have told whose they are."""
        self._names: frozenset[str] = frozenset()
        """The keys of the row before."""
        self._present: KeyMap | None = None
        """What of the framework's table these are."""

    def feed(self, line: Line) -> Iterable[Event]:
        """The events of one row."""
        row = read_row(line.text)
        if row is None:
            if line.text.strip():
                self._bad(line, "not a JSON object")
            return ()
        found = step_of(row)
        if found is None:
            return ()  # such as a row that holds the configuration
        key, step = found
        values = _flat(row)
        values.pop(key, None)
        if not values:
            return ()
        events = [*self._place(step, line), *self._facts(values)]
        fields = self._fields(step, values, events)
        at = _time(values) or self._written(row) or line.at
        if at is not None:
            fields["ended_at"] = at
        events.append(
            Step.of({**fields, "attempt": self._attempt, "complete": not self._several, "raw": values})
        )
        return events

    def flush(self) -> Iterator[Event]:
        """Nothing is held back."""
        return iter(())

    def restart(self) -> Iterator[Event]:
        """The file is written anew: its first row tells from which step on."""
        return iter(())

    def _written(self, row: Mapping[str, object]) -> float | None:
        """The time of a row that has it as text; which key that is, the first row says."""
        if self._clock is None:
            self._clock = next((key for key in TIME_KEYS if isinstance(row.get(key), str)), "")
        text = row.get(self._clock) if self._clock else None
        return stamp_of(text[:64]) if isinstance(text, str) else None

    def _place(self, step: int, line: Line) -> Sequence[Event]:
        """A step lower than the one before was run again."""
        before, self._last = self._last, step
        if before is None:
            return self._told.news(RunInfo(framework="unknown", first_step=step if step in (0, 1) else None))
        self._several = self._several or step == before
        if step >= before:
            return ()
        self._attempt += 1
        return (Restart(from_step=step, attempt=self._attempt, at=line.at),)

    def _facts(self, values: Mapping[str, float]) -> Sequence[Event]:
        """How many steps there are to be, and whose keys these are."""
        facts: list[Event] = []
        if values.keys() != self._names:
            self._names = frozenset(values)
            self._total_key = next((key for key in TOTAL_KEYS if key in values), None)
            if self._keymap is None and not self._names <= self._looked:
                self._looked |= self._names
                self._keymap = keymap_of(self._looked, KEYMAPS)
                if self._keymap is not None:
                    note = f"the keys are those of {self._keymap.framework}"
                    facts += self._told.news(RunInfo(framework=self._keymap.framework, notes=(note,)))
            self._present = self._keymap and self._keymap.among(self._names)
        total = values[self._total_key] if self._total_key is not None else self._total
        if total is not None and total != self._total:
            self._total = total
            if 0 < total < 1e12 and total == int(total):
                facts += self._told.news(RunInfo(total_steps=int(total)))
        return facts

    def _fields(self, step: int, values: Mapping[str, float], events: list[Event]) -> dict[str, Any]:
        """The fields of a step; what is taken by its name alone is added to the events."""
        if self._present is not None:
            return self._present.step(step, values)
        fields, taken = fields_of(values)
        news = [f"{name} = {key}" for name, key in taken.items() if name not in self._taken]
        if news:
            self._taken.update(taken)
            events += self._told.news(RunInfo(notes=(f"taken by their names: {', '.join(news)}",)))
        known: dict[str, Any] = {"step": step, **fields}
        if "clip_ratio" in fields:
            known["clip_reliable"] = True
            known["clip_why"] = f"by its name: {taken['clip_ratio']}"
        return known

    def _bad(self, line: Line, why: str) -> None:
        self.bad_lines += 1
        if not self.first_bad:
            self.first_bad = f"line {line.number}: {why}"


def read_row(text: str) -> dict[str, object] | None:
    """A row, or None where the line is no JSON object."""
    try:
        value: object = from_json(text)
    except ValueError:
        return None
    return cast("dict[str, object]", value) if isinstance(value, dict) else None


def step_of(row: Mapping[str, object]) -> tuple[str, int] | None:
    """(key, step) of a row that has one."""
    for key in STEP_KEYS:
        value = row.get(key)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**53:
            return key, value
    return None


def _flat(row: dict[str, object]) -> dict[str, float]:
    """The numbers of a row, which is used up; those of dicts within it under `outer/inner`."""
    plain = floats_of(row)
    if plain is not None:
        return plain
    values: dict[str, float] = {}
    _add(values, row, "", 0)
    return values


def _add(into: dict[str, float], row: Mapping[str, object], prefix: str, depth: int) -> None:
    for key, item in row.items():
        if isinstance(item, int):
            into[prefix + key] = _float(item)
        elif isinstance(item, float):
            into[prefix + key] = item
        elif isinstance(item, dict) and depth < MAX_DEPTH:
            _add(into, cast("dict[str, object]", item), f"{prefix}{key}/", depth + 1)


def _float(whole: int) -> float:
    """A whole number of JSON, which may be too large for a float."""
    return float(whole) if abs(whole) < LARGEST else (math.inf if whole > 0 else -math.inf)


def _time(values: Mapping[str, float]) -> float | None:
    for key in TIME_KEYS:
        value = values.get(key)
        if value is not None and EPOCH_S[0] < value < EPOCH_S[1]:
            return value
    return None


def _score(probe: Probe) -> float:
    if probe.is_dir or not probe.head.lstrip().startswith("{"):
        return 0.0
    lines = [line for line in probe.head.splitlines()[:ROWS_LOOKED_AT] if line.strip()]
    if len(lines) > 1 and not probe.head.endswith("\n"):
        lines = lines[:-1]  # it may be under way
    rows = [row for line in lines if (row := read_row(line)) is not None]
    measured = [values for row in rows if "_wandb" not in row and (values := _measured(row))]
    if not measured or len(rows) <= len(lines) / 2:
        return 0.0
    return LOWEST if any(fields_of(values)[0] for values in measured) else LOWEST / 2


def _measured(row: dict[str, object]) -> dict[str, float]:
    """The numbers of a row that has a step."""
    found = step_of(row)
    if found is None:
        return {}
    values = _flat(row)
    values.pop(found[0], None)
    return values


def _open(path: Path) -> Sequence[Source]:
    return [FileSource(open_transport(path), JsonlParser())]


_BY_NAME = "by its name, or `[keys]`"
TELLS = Tells(
    steps="`step`, `global_step`, …",
    total="`max_steps`, `total_steps`, …",
    tokens="length × samples, or `[keys]`",
    length=_BY_NAME,
    clip=_BY_NAME,
    reward=_BY_NAME,
    time="by its name, `timestamp`, or `[keys]`",
)
FORMAT = Format(name="JSONL with a step in each row", score=_score, open=_open, tells=TELLS)
