"""Rows of TRL's keys as JSON, one a line: ms-swift's logging.jsonl, LLaMA-Factory's trainer_log.jsonl, and
what a callback of one's own writes of the trainer's `logs`.

Its one rule: what a writer formats for people (`'1/100'`, `'1h 2m'`, `'1 day, 0:02:10'`) is read back, and
nothing else is.
"""

import math
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple, cast

from pydantic_core import from_json

from ...models.event import Ended, Event, Progress, Restart
from ...models.run import RunInfo
from ..source import Line
from .keymap import TRL, keymap_of
from .logtime import stamp_of
from .pyrepr import number_of
from .trl_rows import SUMMARY, TrlRows, first_window, is_eval, is_training

SWIFT_STEP = "global_step/max_steps"
FACTORY_STEP = "current_steps"
FACTORY = "LLaMA-Factory"
STEPS = ("step", "global_step", "train/global_step")
TOTALS = ("max_steps", "total_steps")
TIMES = ("timestamp", "time", "_timestamp", "ts", "wall_time", "datetime")
EPOCH_S = (1e9, 4e9)
"""Between 2001 and 2096: a number outside is no time in unix seconds."""
OWN_KEYS = frozenset({"loss", "grad_norm", "learning_rate", "epoch"})
"""What transformers logs of each step, whatever is trained."""
RENAMED = {"accuracy": "rewards/accuracies", "lr": "learning_rate", "total_tokens": "num_tokens"}
"""LLaMA-Factory's names of what TRL calls otherwise."""
ROWS_LOOKED_AT = 20
SAME_S, SAME = 10.0, 0.02
"""A step told again so many seconds, and such a share of the time, off is the same row of another process."""
MOST_REMEMBERED = 1000
TWICE = "rows are written by several processes: the first of each step counts"
_PARTS = re.compile(r"(\d{1,12}(?:\.\d{1,12})?)\s{0,2}([dhms])")
_SECONDS = {"d": 86_400.0, "h": 3600.0, "m": 60.0, "s": 1.0}
_CLOCK = re.compile(r"(?:(\d{1,6}) days?, )?(\d{1,9}):(\d\d):(\d\d(?:\.\d{1,9})?)")


class Place(NamedTuple):
    """Where in the training a row stands."""

    step: int
    total: int | None
    writer: str
    """Who wrote it, where that is known."""


class TrlJsonlParser:
    """Makes events of the rows of such a file."""

    source = "logging-jsonl"

    def __init__(self) -> None:
        self.bad_lines = 0
        self.first_bad = ""
        self._rows = TrlRows()
        self._attempt = 0
        self._last = 0
        self._elapsed: dict[int, float] = {}
        """Seconds of the training at the newest steps: some rows are written twice, some runs begin anew."""

    def feed(self, line: Line) -> Iterator[Event]:
        """The events of one row."""
        if not line.text.strip():
            return
        row = _read(line.text)
        if row is None:
            self._bad(line, "not a JSON object")
            return
        place = place_of(row)
        if place is None:
            return  # the last row of ms-swift holds the paths of checkpoints and a summary
        notes = (f"written by {place.writer}",) if place.writer else ()
        yield from self._rows.learn(RunInfo(total_steps=place.total, notes=notes))
        values, elapsed = _numbers(row, place), seconds_of(row.get("elapsed_time"))
        if self._again(place.step, values, elapsed):
            yield from self._rows.learn(RunInfo(notes=(TWICE,)))
            return
        at = _time(row) or line.at
        yield from self._row(place.step, values, at, elapsed)
        if place.total is not None or elapsed is not None:
            yield Progress(step=place.step, total_steps=place.total, elapsed_s=elapsed, attempt=self._attempt)
        if (
            place.writer == FACTORY
            and place.step == place.total
            and not (is_training(values) or is_eval(values))
        ):
            yield Ended(status="finished", at=at, message=f"all {place.step} steps are done")

    def _again(self, step: int, values: Mapping[str, float], elapsed: float | None) -> bool:
        """Whether a row was told before, by another process of the same training."""
        before = self._elapsed.get(step)
        if before is None or elapsed is None or not is_training(values):
            return False
        return abs(elapsed - before) <= SAME_S + SAME * before

    def _row(
        self, step: int, values: Mapping[str, float], at: float | None, elapsed: float | None
    ) -> Iterator[Event]:
        window = 1
        if is_training(values):
            if step < self._last or step in self._elapsed:
                self._attempt += 1
                self._rows.begin()
                self._elapsed.clear()
                yield Restart(from_step=step, attempt=self._attempt, at=at)
            else:
                window = step - self._last if self._last else first_window(step)
            self._last = step
            if elapsed is not None:
                self._elapsed[step] = elapsed
                if len(self._elapsed) > MOST_REMEMBERED:
                    del self._elapsed[next(iter(self._elapsed))]
        yield from self._rows.events(step, max(1, window), values, at, self._attempt, elapsed_s=elapsed)

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


def is_rows(text: str) -> bool:
    """Whether a text begins with such rows; that there is a step and a loss is not enough."""
    if not text.lstrip().startswith("{"):
        return False
    for line in text.lstrip().splitlines()[:ROWS_LOOKED_AT]:
        row = _read(line)
        place = place_of(row) if row is not None else None
        if row is None or place is None:
            continue
        if place.writer:
            return True
        keys = row.keys()
        if SUMMARY in keys or keys >= OWN_KEYS or keymap_of(keys, (TRL,)) is not None:
            return True
    return False


def place_of(row: Mapping[str, object]) -> Place | None:
    """The step of a row, and the total where it tells that."""
    if (text := row.get(SWIFT_STEP)) is not None:
        place = _fraction(text)
        return Place(*place, "ms-swift") if place else None
    total = next((found for key in TOTALS if (found := _count(row.get(key))) is not None), None)
    step = _count(row.get(FACTORY_STEP))
    if step is not None and "percentage" in row:
        return Place(step, total, FACTORY)
    step = next((found for key in STEPS if (found := _count(row.get(key))) is not None), None)
    return Place(step, total, "") if step is not None else None


def seconds_of(value: object) -> float | None:
    """Seconds of a span as it is printed: `1h 2m 3s`, `45s`, `0:02:10`, `1 day, 0:02:10`."""
    if not isinstance(value, str):
        return None
    if (clock := _CLOCK.fullmatch(value.strip())) is not None:
        days, hours, minutes, seconds = clock.groups()
        return float(days or 0) * 86_400 + float(hours) * 3600 + float(minutes) * 60 + float(seconds)
    parts = _PARTS.findall(value)
    return sum(float(count) * _SECONDS[unit] for count, unit in parts) if parts else None


def _numbers(row: Mapping[str, object], place: Place) -> dict[str, float]:
    """The numbers of a row by TRL's names."""
    renamed = RENAMED if place.writer == FACTORY else {}
    values = {
        renamed.get(key, key): value for key, item in row.items() if (value := _number(item)) is not None
    }
    for key in (*STEPS, *TOTALS, FACTORY_STEP):
        values.pop(key, None)
    return values


def _time(row: Mapping[str, object]) -> float | None:
    """When a row was logged, unix seconds."""
    for key in TIMES:
        value = row.get(key)
        if isinstance(value, str):
            if (at := stamp_of(value[:64])) is not None:
                return at
        elif isinstance(value, int | float) and EPOCH_S[0] < value < EPOCH_S[1]:
            return float(value)
    return None


def _read(text: str) -> Mapping[str, object] | None:
    try:
        value: object = from_json(text)
    except ValueError:
        return None
    return cast("dict[str, object]", value) if isinstance(value, dict) else None


def _fraction(value: object) -> tuple[int, int] | None:
    """(step, total) of `'1/100'`."""
    if not isinstance(value, str):
        return None
    step, _, total = value.partition("/")
    if not step.isdecimal() or not total.isdecimal() or len(step) > 12 or len(total) > 12 or int(step) < 1:
        return None
    return int(step), int(total)


def _count(value: object) -> int | None:
    """A number of steps, of which there is at least one."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 2**53 else None


def _number(value: object) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        return number_of(value)
    if isinstance(value, int | float):
        number = float(value) if abs(value) < 1e300 else math.nan
        return number
    return None
