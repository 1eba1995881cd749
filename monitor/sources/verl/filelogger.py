"""The parser of veRL's file logger: `{"step": N, "data": {…}}`, a line each time that metrics are logged.

Its one rule: the file holds the last attempt alone, since every start truncates it; the steps that it
had before stand, and those that it tells again ran again.
"""

from collections.abc import Iterable, Mapping
from typing import TypeGuard, cast

from pydantic_core import from_json

from ....models.event import Event
from ...column import NAN
from ...source import Line
from ..plainrow import floats_of
from . import easyr1
from .console import START_INFO
from .evals import is_training
from .telling import Telling


class FileLoggerParser:
    """Events of a file logger's lines."""

    source = "file-logger"

    def __init__(self, telling: Telling | None = None) -> None:
        self.bad_lines = 0
        self.first_bad = ""
        self._alone = telling is None
        self._telling = telling or Telling()
        self._truncated = False
        self._number: int = 0

    def feed(self, line: Line) -> Iterable[Event]:
        """The events of one line."""
        if not line.text.strip():
            return ()
        again = bool(line.number) and line.number == self._number
        self._number = line.number
        read = read_line(line.text)
        if read is None:
            self.bad_lines += 1
            self.first_bad = self.first_bad or f"line {line.number}: not a line of veRL's file logger"
            return ()
        step, values = read
        events = self._telling.learn(START_INFO)
        if self._truncated:
            self._truncated = False
            events += self._telling.resume(step - 1 if is_training(values, step) else step, line.at)
        return events + self._telling.tell(self, step, values, line.at, line.text, again=again)

    def flush(self) -> Iterable[Event]:
        """Nothing is held back."""
        return ()

    def restart(self) -> Iterable[Event]:
        """The run was started again; where from, the first line will tell."""
        self._truncated = self._alone  # beside a console, the console tells
        self._number = 0
        return ()


def read_line(text: str) -> tuple[int, Mapping[str, float]] | None:
    """(step, metrics) of a line, or None where it is something else. null stands for NaN and infinities."""
    try:
        value: object = from_json(text)
    except ValueError:
        return None
    if not isinstance(value, dict):
        return None
    line = cast("dict[str, object]", value)
    step, data = line.get("step"), line.get("data")
    if not isinstance(step, int) or isinstance(step, bool) or abs(step) > 2**53:
        return None
    if line.keys() != {"step", "data"}:
        nested = easyr1.row_of(line)
        return None if nested is None else (step, nested)
    if not isinstance(data, dict):
        return None
    metrics = cast("dict[str, object]", data)
    plain = floats_of(metrics)
    return step, plain or {
        key: NAN if v is None else float(v) for key, v in metrics.items() if v is None or _is_number(v)
    }


def _is_number(value: object) -> TypeGuard[int | float]:
    """Whether a value fits a float: JSON has integers that do not."""
    return isinstance(value, float) or (isinstance(value, int) and abs(value) < 2**1000)
