"""What the records of a W&B transaction log say. Its one rule: history, which is nearly all of it, is cut
by one regular expression a row and read as JSON; a row that does not become JSON is walked field by field.

Field numbers: wandb/proto/wandb_internal.proto (message Record and those in it).
"""

import math
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple, cast

from pydantic_core import from_json

from ...models.run import ConfigValue
from .plainrow import floats_of
from .protowire import Fields, fields_of, varint

HISTORY, SUMMARY, CONFIG, STATS, OUTPUT_RAW, RUN, EXIT, ENVIRONMENT = 2, 3, 5, 7, 13, 17, 18, 26
ITEM_VALUE = 16
_VALUE, _STEP = b"\x82\x01", b"\x12"
"""The tags of a value, and of the step behind the last item. No text holds the two bytes of the first in a
row, and no number any byte of a tag.
"""
_KEY = re.compile(rb"\n[\x00-\x7f][\n\x12][\x00-\x7f]([^\x00-\x1f\"\\\x82]+)\x82\x01[\x01-\x28]")
"""All of an item before its value."""
_USUAL = re.compile(rb"\x08[\x80-\xff]*[\x00-\x7f][\x12\x1a]")
DEEPEST_CONFIG = 8


def row_of(payload: bytes) -> dict[str, float]:
    """The numbers of a history record by key, W&B's own `_step`, `_timestamp` and `_runtime` among them.

    Raises:
        BadWire: it is no history record.
    """
    before, *parts = _KEY.split(payload)  # key, value, key, value …, and the step behind the last value
    if parts and not before:
        parts[-1], _, behind = parts[-1].partition(_STEP)
        numbers = _numbers(parts) if _VALUE not in behind else None
        if numbers is not None:
            return numbers
    return dict(_walked(payload))


def _numbers(parts: list[bytes]) -> dict[str, float] | None:
    """The numbers of keys and values in turn, if they are numbers.

    Made one JSON object, since pydantic's parser reads numbers several times faster than float().
    """
    json = [b',"', b"", b'":', b""] * (len(parts) // 2)
    json[0], json[1::2] = b'{"', parts
    try:
        return floats_of(from_json(b"".join(json) + b"}"))
    except ValueError:
        return None


class Record(NamedTuple):
    """One record: its kind, by field number, and its message."""

    kind: int
    payload: bytes


def record_of(data: bytes) -> Record:
    """What a record holds.

    Raises:
        BadWire: it is no record.
    """
    # The usual case: its number as a varint, then the message in question.
    match = _USUAL.match(data)
    if match is not None:
        if data[match.end() - 1] == SUMMARY << 3 | 2:
            return Record(SUMMARY, b"")  # repeats the row before it, in as many bytes
        length, start = varint(data, match.end())
        if start + length <= len(data):
            return Record(HISTORY, data[start : start + length])
    fields = fields_of(data)
    for kind in (HISTORY, RUN, CONFIG, STATS, OUTPUT_RAW, EXIT, ENVIRONMENT):
        payload = fields.payload(kind)
        if payload is not None:
            return Record(kind, payload)
    return Record(0, b"")


def items_of(fields: Fields, number: int) -> Iterator[tuple[str, str]]:
    """(key, value as JSON) of a repeated item field; nested keys are joined with dots."""
    for raw in fields.all_bytes(number):
        item = fields_of(raw)
        nested = item.all_text(2)
        key = ".".join(nested) if nested else item.text(1)
        value = item.text(ITEM_VALUE)
        if key and value is not None:
            yield key, value


def flattened(config: Mapping[str, object]) -> dict[str, ConfigValue]:
    """A configuration, flattened with dots; without what W&B keeps in it for itself."""
    flat: dict[str, ConfigValue] = {}
    for key, value in config.items():
        if not key.startswith("_wandb"):
            _flatten(flat, key, value, 0)
    return flat


def config_of(fields: Fields, number: int = 1) -> dict[str, ConfigValue]:
    """What a configuration record says, flattened with dots."""
    return flattened({key: _json(text) for key, text in items_of(fields, number)})


def number_of(text: str) -> float | None:
    """A JSON number, or true and false as 1 and 0; None for everything else."""
    if text in ("true", "false"):
        return float(text == "true")
    try:
        return float(text)
    except ValueError:
        return None


def numbers_in(row: Mapping[str, object], prefix: str = "", depth: int = 0) -> Iterator[tuple[str, float]]:
    """The numbers of a history row as the server gives it: nested keys joined with dots, NaN and the
    infinities as text."""
    for key, value in row.items():
        if isinstance(value, int | float):
            yield prefix + key, _float(value)
        elif isinstance(value, str):
            if value in ("NaN", "Infinity", "-Infinity"):
                yield prefix + key, float(value)
        elif isinstance(value, dict) and depth < DEEPEST_CONFIG:
            inner = cast("dict[str, object]", value)
            yield from numbers_in(inner, f"{prefix}{key}.", depth + 1)


def _walked(payload: bytes) -> Iterator[tuple[str, float]]:
    fields = fields_of(payload)
    for key, text in items_of(fields, 1):
        if (number := number_of(text)) is not None:
            yield key, number
    step = fields.payload(2)
    if step is not None and (number := fields_of(step).integer(1)) is not None:
        yield "_step", float(number)


def _flatten(flat: dict[str, ConfigValue], key: str, value: object, depth: int) -> None:
    if isinstance(value, dict) and depth < DEEPEST_CONFIG:
        for inner, item in cast("dict[str, object]", value).items():
            _flatten(flat, f"{key}.{inner}", item, depth + 1)
    elif value is None or isinstance(value, str | int | float | bool):
        flat[key] = value


def _json(text: str) -> object:
    try:
        value: object = from_json(text)
    except ValueError:
        return text
    return value


def _float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:  # a whole number of more than 308 digits
        return math.inf if value > 0 else -math.inf
