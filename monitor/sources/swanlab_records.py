"""What the records of a SwanLab log say, in both of its versions. Its one rule: a scalar, which is nearly
every record, is read by two regular expressions; one that those do not fit is read field by field.

Version 2 (swanlab 0.8 and later; read at 0.10) keeps protobuf, message Record of swanlab.record.v1: the
numbers below are its fields. Version 1 (0.6 and 0.7, `backup.swanlab`) keeps a JSON object a record. Which of
both a record is, its first byte tells.
"""

import re
import struct
from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple, cast

from pydantic_core import from_json

from .protowire import BadWire, Fields, fields_of, varint

START, FINISH, SCALAR, LOG = 10, 11, 13, 16
FINISHED = 1
STATES = {2: "crashed", 3: "aborted"}
"""RunState, but for `finished`."""
_NUMBER = rb"[\x80-\xff]*[\x00-\x7f]"
_STAMP = rb"[\x00-\x7f](?:\x08(%b))?(?:\x10(%b))?" % (_NUMBER, _NUMBER)
_HEAD = re.compile(rb"(?:\x08%b)?\x12%b\x6a%b\x0a([\x01-\x7f])" % (_NUMBER, _STAMP, _NUMBER), re.DOTALL).match
_REST = re.compile(
    rb"(?:\x10(%b))?\x18\x01\x22%b\x2a[\x00-\x7f](?:\x09(.{8}))?\Z" % (_NUMBER, _STAMP), re.DOTALL
).match
_DOUBLE = struct.Struct("<d").unpack
WORDS = {"NaN": "nan", "INF": "inf", "-INF": "-inf"}
"""Numbers that JSON has not, as version 1 writes them."""


class Scalar(NamedTuple):
    """One number of one step; `at` in unix seconds."""

    key: str
    step: int
    value: float
    at: float | None


class Started(NamedTuple):
    """The run's own name, and when it began (unix s)."""

    name: str
    at: float | None


class Finished(NamedTuple):
    """How the run ended: `state` is empty for well."""

    state: str
    error: str
    at: float | None


class Printed(NamedTuple):
    """A line of the console."""

    text: str
    at: float | None


Said = Scalar | Started | Finished | Printed | None


def said_by(record: bytes) -> Said:
    """What a record says; None where it is of no concern.

    Raises:
        BadWire: it is no record of either version.
    """
    if record[:1] == b"{":
        return _first_version(record)
    head = _HEAD(record)
    if head is not None:
        start = head.end()
        end = start + head[3][0]
        rest = _REST(record, end)
        if rest is not None:
            step, seconds, nanos, value = rest.groups()
            return Scalar(
                record[start:end].decode("utf-8", "replace"),
                _whole(step),
                _DOUBLE(value)[0] if value else 0.0,
                _moment(seconds, nanos),
            )
    return _second_version(fields_of(record))


@lru_cache(maxsize=64)
def _whole(number: bytes | None) -> int:
    """A varint, 0 where there is none. The numbers of a step have their step and time in common."""
    return varint(number, 0)[0] if number else 0


@lru_cache(maxsize=64)
def _moment(seconds: bytes | None, nanos: bytes | None) -> float:
    return _whole(seconds) + _whole(nanos) / 1e9


def _second_version(record: Fields) -> Said:
    if (payload := record.payload(SCALAR)) is not None:
        scalar = fields_of(payload)
        value = scalar.payload(5)
        number = None if value is None else fields_of(value).double(1) or 0.0
        key = scalar.text(1)
        if not key or number is None:
            return None
        return Scalar(key, scalar.integer(2) or 0, number, _at(scalar.payload(4)))
    if (payload := record.payload(START)) is not None:
        run = fields_of(payload)
        return Started(run.text(4) or run.text(10) or "", _at(run.payload(12)))
    if (payload := record.payload(FINISH)) is not None:
        end = fields_of(payload)
        state = end.integer(1) or 0
        if state != FINISHED and state not in STATES:
            return None
        return Finished(STATES.get(state, ""), end.text(2) or "", _at(end.payload(3)))
    if (payload := record.payload(LOG)) is not None:
        line = fields_of(payload)
        return Printed(line.text(1) or "", _at(line.payload(3)))
    return None


def _first_version(record: bytes) -> Said:
    try:
        document: object = from_json(record)
    except ValueError:
        raise BadWire from None
    kind, data = (_part(document, name) for name in ("model_type", "data"))
    if kind == "Scalar":
        metric = _part(data, "metric")
        key, step, value = _part(data, "key"), _part(data, "step"), _number(_part(metric, "data"))
        if not isinstance(key, str) or not isinstance(step, int) or value is None:
            return None
        return Scalar(key, step, value, _unix_s(_part(metric, "create_time")))
    at = _unix_s(_part(data, "create_time"))
    if kind == "Experiment":
        return Started(_words(_part(data, "name")), at)
    if kind == "Footer":
        return Finished("" if _part(data, "success") is True else "crashed", "", at)
    if kind == "Log":
        return Printed(_words(_part(data, "message")), at)
    return None


def _part(document: object, name: str) -> object:
    return cast("Mapping[str, object]", document).get(name) if isinstance(document, dict) else None


def _words(value: object) -> str:
    return value if isinstance(value, str) else ""


def _number(value: object) -> float | None:
    if isinstance(value, str):
        value = float(WORDS[value]) if value in WORDS else None
    try:
        return float(value) if isinstance(value, int | float) else None
    except OverflowError:  # a whole number of more than 308 digits
        return None


def _at(stamp: bytes | None) -> float | None:
    if stamp is None:
        return None
    time = fields_of(stamp)
    return (time.integer(1) or 0) + (time.integer(2) or 0) / 1e9


def _unix_s(stamp: object) -> float | None:
    try:
        return datetime.fromisoformat(_words(stamp)).timestamp()
    except (ValueError, OverflowError):
        return None
