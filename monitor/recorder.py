"""Writes a session's events to a file, and reads such a recording. Its one rule: nothing breaks the session.

JSON lines: a header, then `{"at": unix seconds, "event": {…}}` for each event. NaN and infinities are
written as the constants that Python's JSON has always read, because a log that says NaN must still
say NaN when it is played back. Fields that were not set are left out, as the fold tells them apart.
"""

import os
import stat
from array import array
from collections.abc import Iterable, Sequence
from contextlib import suppress
from io import BufferedWriter
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError, from_json, to_json

from ..models.event import EVENT, Event
from ..models.value import utf8
from .filesource import FileSource
from .source import Format, Line, Probe, Source
from .tells import QUANTITIES, Tells
from .transport import open_transport

MARK = "rltop_recording"
VERSION = 1
LARGEST = 2.0**63
"""A time beyond is no time, and may not even fit a float."""


class Recorder:
    """A recording being written. When writing fails it stops, and `state` and `reason` tell.

    A file that is there already is written over only if it is a recording itself.
    """

    def __init__(self, path: Path) -> None:
        self.path = os.fsencode(path).decode("utf-8", "replace")
        self.state: Literal["recording", "failed", "closed"] = "recording"
        self.reason = ""
        self._file: BufferedWriter | None = None
        try:
            if _is_other_file(path):
                self._fail("exists and is not a recording: not written over")
                return
            self._file = path.open("wb")
        except OSError as error:
            self._fail(error.strerror or str(error))
            return
        self._put(to_json({MARK: VERSION}))

    def write(self, event: Event, now: float) -> None:
        """Add an event that was seen at `now`, unix seconds. Does nothing once recording has failed."""
        if self._file is None:
            return
        # Python values first: the models write NaN as null, which is right everywhere but here.
        value = {"kind": event.kind, **event.model_dump(exclude_unset=True)}
        try:
            line = to_json({"at": now, "event": value}, inf_nan_mode="constants")
        except PydanticSerializationError:
            line = to_json({"at": now, "event": utf8(value)}, inf_nan_mode="constants")
        self._put(line)

    def close(self) -> None:
        """End the recording. May be called twice."""
        if self.state == "recording":
            self.state = "closed"
        if self._file is not None:
            with suppress(OSError):  # it has been told already, by the write that failed
                self._file.close()
            self._file = None

    def _put(self, line: bytes) -> None:
        """Whole lines, flushed one by one: whoever reads along, or comes after a crash, finds no halves."""
        if self._file is None:
            return
        try:
            self._file.write(line + b"\n")
            self._file.flush()
        except OSError as error:
            self._fail(error.strerror or str(error))
            self.close()

    def _fail(self, reason: str) -> None:
        self.state, self.reason = "failed", reason


class Recorded(NamedTuple):
    """One line of a recording."""

    at: float | None
    """When the event was seen, unix seconds."""
    event: Event | None
    problem: str = ""
    """What could not be read of the line; with an event, only a part of it."""


def read_recording(line: str) -> tuple[float, Event] | None:
    """The event of a line and when it was seen; None for the header and what cannot be read."""
    found = read_recorded(line)
    return None if found.event is None or found.at is None else (found.at, found.event)


def read_recorded(line: str) -> Recorded:
    """Like `read_recording`, with what was wrong. Fields of a newer rltop are left out and named."""
    try:
        record: Any = from_json(line)
    except ValueError:
        return Recorded(None, None, "not JSON")
    if not isinstance(record, dict):
        return Recorded(None, None, "not a recorded event")
    fields = cast("dict[str, Any]", record)
    if MARK in fields:
        return Recorded(None, None)
    at, value = fields.get("at"), fields.get("event")
    if isinstance(at, bool) or not isinstance(at, int | float) or not abs(at) < LARGEST:
        return Recorded(None, None, "not a recorded event")
    if not isinstance(value, dict):
        return Recorded(None, None, "not a recorded event")
    event, problem = _event(cast("dict[str, Any]", value))
    return Recorded(float(at), event, problem)


class RecordingParser:
    """Makes events of a recording, so that it is opened like any log."""

    source = "recording"

    def __init__(self) -> None:
        self.bad_lines = 0
        self.first_bad = ""
        self._seen = array("q")
        """Hashes of the lines told, by position, to know them again when the file is written anew."""
        self._position = 0

    def feed(self, line: Line) -> Sequence[Event]:
        """The event of one line."""
        position, told = self._position, hash(line.text)
        self._position += 1
        if position < len(self._seen):
            if self._seen[position] == told:
                return ()
            del self._seen[position:]
        self._seen.append(told)
        if not line.text.strip():
            return ()
        found = read_recorded(line.text)
        if found.problem:
            self.bad_lines += 1
            self.first_bad = self.first_bad or f"line {line.number}: {found.problem}"
        return () if found.event is None else (found.event,)

    def flush(self) -> Iterable[Event]:
        """Nothing is ever held back."""
        return ()

    def restart(self) -> Iterable[Event]:
        """Lines that are the same as before are not told twice."""
        self._position = 0
        return ()


def _event(value: dict[str, Any]) -> tuple[Event | None, str]:
    """The event, without what this version does not know; and the first such thing, named."""
    try:
        return EVENT.validate_python(value), ""
    except ValidationError as error:
        errors = error.errors(include_url=False)
        unknown = [_place(item["loc"]) for item in errors if item["type"] in _NEWER]
        if not unknown:
            first = errors[0]
            where = ".".join(str(part) for part in first["loc"])
            return None, f"{where or 'event'}: {first['msg']}"
    for place in unknown:
        _drop(value, place)
    name = ".".join(str(part) for part in unknown[0])
    try:
        return EVENT.validate_python(value), f"unknown field {name} left out"
    except ValidationError:
        return None, f"unknown field {name}"


_NEWER = ("extra_forbidden", "literal_error")
"""The errors that a recording of a newer version makes: a field, or a word in one, that we do not know."""


def _place(loc: tuple[int | str, ...]) -> tuple[int | str, ...]:
    """Where a field lies: pydantic puts the kind of event before it, and `[key]` behind a key it refuses."""
    return loc[1:-1] if loc[-1] == "[key]" else loc[1:]


def _drop(value: Any, place: tuple[int | str, ...]) -> None:
    """Take a field out of nested JSON."""
    *outer, name = place
    for part in outer:
        value = value[part]
    if isinstance(value, dict):
        cast("dict[int | str, Any]", value).pop(name, None)


def _is_other_file(path: Path) -> bool:
    """Whether something lies there that is not ours, such as the log that is being watched."""
    if not path.exists() or not stat.S_ISREG(path.stat().st_mode) or not path.stat().st_size:
        return False
    with path.open("rb") as file:
        return not _is_header(file.readline(4096).decode("utf-8", "replace"))


def _is_header(line: str) -> bool:
    try:
        head: Any = from_json(line)
    except ValueError:
        return False
    return isinstance(head, dict) and MARK in head


def _score(probe: Probe) -> float:
    return 1.0 if _is_header(probe.head.partition("\n")[0]) else 0.0


def _open(path: Path) -> Sequence[Source]:
    return [FileSource(open_transport(path), RecordingParser())]


_RECORDED = "as recorded"
TELLS = Tells(*(_RECORDED for _ in QUANTITIES))
FORMAT = Format("recording", _score, _open, TELLS)
