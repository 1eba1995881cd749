"""The protobuf wire format, as far as logs need it. Its one rule: what does not fit is BadWire, nothing else.

Source: https://protobuf.dev/programming-guides/encoding/
"""

import struct
from collections.abc import Iterator


class BadWire(ValueError):
    """The bytes are no protobuf message, or are cut."""


class Fields:
    """One message, its fields by number in the order in which they came."""

    __slots__ = ("_found",)

    def __init__(self, found: "dict[int, list[int | bytes]]") -> None:
        self._found = found

    def integer(self, number: int) -> int | None:
        """A signed 64-bit varint field; the last one wins, as protobuf says."""
        value = self._last(number)
        return _signed(value) if isinstance(value, int) else None

    def integers(self, number: int) -> list[int]:
        """A repeated varint field, packed or not."""
        whole: list[int] = []
        for value in self._found.get(number, ()):
            whole += [_signed(value)] if isinstance(value, int) else [_signed(v) for v in _varints(value)]
        return whole

    def double(self, number: int) -> float | None:
        """A fixed64 field."""
        value = self._last(number)
        return struct.unpack("<d", value)[0] if isinstance(value, bytes) and len(value) == 8 else None

    def single(self, number: int) -> float | None:
        """A fixed32 field as float."""
        value = self._last(number)
        return struct.unpack("<f", value)[0] if isinstance(value, bytes) and len(value) == 4 else None

    def packed(self, number: int, layout: str) -> list[float]:
        """A repeated field of floats (`<f`) or doubles (`<d`), packed or not."""
        parts = self.all_bytes(number)
        return [number for part in parts for number in floats_of(part, layout)]

    def payload(self, number: int) -> bytes | None:
        """A length-delimited field."""
        value = self._last(number)
        return value if isinstance(value, bytes) else None

    def all_bytes(self, number: int) -> list[bytes]:
        """A repeated length-delimited field."""
        return [value for value in self._found.get(number, ()) if isinstance(value, bytes)]

    def text(self, number: int) -> str | None:
        """A string field; bytes that are no UTF-8 are replaced."""
        value = self._last(number)
        return value.decode("utf-8", "replace") if isinstance(value, bytes) else None

    def all_text(self, number: int) -> list[str]:
        """A repeated string field."""
        return [value.decode("utf-8", "replace") for value in self.all_bytes(number)]

    def _last(self, number: int) -> "int | bytes | None":
        values = self._found.get(number)
        return values[-1] if values else None


def fields_of(message: bytes) -> Fields:
    """The fields of a message.

    Raises:
        BadWire: it is no message.
    """
    found: dict[int, list[int | bytes]] = {}
    position, size = 0, len(message)
    while position < size:
        key, position = varint(message, position)
        number, kind = key >> 3, key & 7
        value: int | bytes
        if kind == 0:
            value, position = varint(message, position)
        else:
            if kind == 2:
                length, position = varint(message, position)
            elif kind in (1, 5):
                length = 8 if kind == 1 else 4
            else:
                raise BadWire
            end = position + length
            if end > size:
                raise BadWire
            value = message[position:end]
            position = end
        found.setdefault(number, []).append(value)
    return Fields(found)


def varint(data: bytes, position: int) -> tuple[int, int]:
    """An unsigned varint and the position after it.

    Raises:
        BadWire: it is cut, or longer than ten bytes.
    """
    result = shift = 0
    while shift < 70:
        if position >= len(data):
            raise BadWire
        byte = data[position]
        position += 1
        result |= (byte & 127) << shift
        if byte < 128:
            return result, position
        shift += 7
    raise BadWire


def floats_of(data: bytes, layout: str) -> list[float]:
    """Numbers of one fixed layout; what is left over at the end is dropped."""
    size = struct.calcsize(layout)
    whole = data[: len(data) // size * size]
    return [float(number) for (number,) in struct.iter_unpack(layout, whole)]


def _varints(data: bytes) -> Iterator[int]:
    position = 0
    while position < len(data):
        value, position = varint(data, position)
        yield value


def _signed(value: int) -> int:
    value &= 0xFFFFFFFFFFFFFFFF
    return value - (1 << 64) if value >> 63 else value
