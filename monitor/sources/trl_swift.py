"""ms-swift's logging.jsonl: TRL's keys, a JSON row a time, with the step beside the total as text.

Its one rule: what ms-swift formats for people (`'1/100'`, `'1h 2m'`) is read back, and nothing else is.
"""

import math
import re
from collections.abc import Iterator, Mapping
from typing import cast

from pydantic_core import from_json

from ...models.event import Event, Progress, Restart
from ...models.run import RunInfo
from ..source import Line
from .pyrepr import number_of
from .trl_rows import TrlRows, is_eval

STEP_OF = "global_step/max_steps"
_PARTS = re.compile(r"(\d{1,12}(?:\.\d{1,12})?)\s{0,2}([dhms])")
_SECONDS = {"d": 86_400.0, "h": 3600.0, "m": 60.0, "s": 1.0}


class SwiftParser:
    """Makes events of the rows of a logging.jsonl."""

    source = "logging-jsonl"

    def __init__(self) -> None:
        self.bad_lines = 0
        self.first_bad = ""
        self._rows = TrlRows()
        self._attempt = 0
        self._last = 0

    def feed(self, line: Line) -> Iterator[Event]:
        """The events of one row."""
        if not line.text.strip():
            return
        row = _read(line.text)
        if row is None:
            self._bad(line, "not a JSON object")
            return
        place = _place(row.get(STEP_OF))
        if place is None:
            return  # the last row holds the paths of checkpoints and a summary
        step, total = place
        yield from self._rows.learn(RunInfo(total_steps=total, notes=("written by ms-swift",)))
        values = {key: value for key, item in row.items() if (value := _number(item)) is not None}
        window = step - self._last
        if not is_eval(values):
            if window <= 0:
                self._attempt += 1
                self._rows.begin()
                yield Restart(from_step=step, attempt=self._attempt, at=line.at)
                window = 1
            self._last = step
        yield from self._rows.events(step, max(1, window), values, line.at, self._attempt)
        elapsed = seconds_of(row.get("elapsed_time"))
        yield Progress(step=step, total_steps=total, elapsed_s=elapsed, attempt=self._attempt)

    def flush(self) -> Iterator[Event]:
        """Nothing is held back."""
        return iter(())

    def restart(self) -> Iterator[Event]:
        """The file is written anew: its first row tells from which step on."""
        return iter(())

    def _bad(self, line: Line, why: str) -> None:
        self.bad_lines += 1
        if not self.first_bad:
            self.first_bad = f"line {line.number}: {why}"


def seconds_of(text: object) -> float | None:
    """Seconds of a span as ms-swift prints it: `1h 2m 3s`, `45s`, `1d 2h`."""
    if not isinstance(text, str):
        return None
    parts = _PARTS.findall(text)
    return sum(float(count) * _SECONDS[unit] for count, unit in parts) if parts else None


def _read(text: str) -> Mapping[str, object] | None:
    try:
        value: object = from_json(text)
    except ValueError:
        return None
    return cast("dict[str, object]", value) if isinstance(value, dict) else None


def _place(value: object) -> tuple[int, int] | None:
    """(step, total) of `'1/100'`."""
    if not isinstance(value, str):
        return None
    step, _, total = value.partition("/")
    if not step.isdecimal() or not total.isdecimal() or len(step) > 12 or len(total) > 12 or int(step) < 1:
        return None
    return int(step), int(total)


def _number(value: object) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        return number_of(value)
    if isinstance(value, int | float):
        number = float(value) if abs(value) < 1e300 else math.nan
        return number
    return None
