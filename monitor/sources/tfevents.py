"""Reads the scalars of a TensorBoard event file as its bytes come. No TensorFlow, no protobuf package.

A file is a row of frames: length (u64), masked CRC-32C of the length, an Event message, masked CRC-32C of
that. Sources: tensorflow/core/lib/io/record_writer.h, core/util/event.proto, core/framework/summary.proto.

Its one rule: a record of a known shape is not parsed. A logger writes the same tags again and again, and
two records of one tag and one step differ in their time and value alone. So what lies between the two is
looked up. Checksums: of lengths always; of messages where the shape is new, hence of every first record
of a step and of every record whose tag was damaged. A damaged value of a known tag is not noticed.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

from .protowire import BadWire, Fields, fields_of, floats_of

HEADER = 12
LARGEST_BYTES = 1 << 30
MAX_SHAPES = 65_536
_LENGTH = struct.Struct("<QI")
_CRC = struct.Struct("<I")
_DOUBLE = struct.Struct("<d").unpack_from
_FLOAT = struct.Struct("<f").unpack_from


def _crc_table() -> list[int]:
    table: list[int] = []
    for byte in range(256):
        for _ in range(8):
            byte = (byte >> 1) ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


_TABLE = _crc_table()


def masked_crc(data: bytes) -> int:
    """The masked CRC-32C (Castagnoli) that frames carry."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _TABLE[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    crc ^= 0xFFFFFFFF
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


@dataclass(slots=True)
class Group:
    """Scalars that were written one after the other for one step."""

    step: int
    at: float
    """Unix seconds of the newest of them."""
    values: dict[str, float] = field(default_factory=dict[str, float])


class EventReader:
    """Reads one file. Bytes may be cut anywhere; a frame that is not whole yet waits for the rest."""

    def __init__(self) -> None:
        self.records = 0
        self.bad_records = 0
        self.texts: list[tuple[str, str]] = []
        """(tag, text) of what was logged as text and not looked at yet."""
        self._rest = b""
        self._group: Group | None = None
        self._prefix = b""
        """How the step of the present group is written."""
        self._frames: dict[bytes, int] = {}
        """Message length by frame header, checked once for each length that occurs."""
        self._shapes: dict[bytes, str] = {}
        """Tag by the bytes between step and value."""

    @property
    def open(self) -> Group | None:
        """The newest group, which may still grow."""
        return self._group

    def feed(self, data: bytes) -> Iterator[Group]:
        """Groups that the bytes have brought to their end."""
        buffer = self._rest + data if self._rest else data
        position, size = 0, len(buffer)
        frames, shapes = self._frames, self._shapes
        prefix, group = self._prefix, self._group
        skip = 9 + len(prefix)
        while size - position >= HEADER:
            start = position + HEADER
            length = frames.get(buffer[position:start])
            if length is None:
                length = self._checked(buffer[position:start])
                if length is None:
                    position = self._next_frame(buffer, position + 1)
                    continue
            end = start + length
            if end + 4 > size:
                break
            self.records += 1
            position = end + 4
            if group is not None and buffer.startswith(prefix, start + 9):
                tag = shapes.get(buffer[start + skip : end - 4])
                if tag is not None:
                    group.values[tag] = _FLOAT(buffer, end - 4)[0]
                    group.at = _DOUBLE(buffer, start + 1)[0]
                    continue
            done = self._parse(buffer[start:end], buffer[end:position])
            if done is not None:
                yield done
            prefix, group = self._prefix, self._group
            skip = 9 + len(prefix)
        self._rest = buffer[position:]

    def _checked(self, header: bytes) -> int | None:
        """The length in a frame header, or None where the header is damaged."""
        length, crc = _LENGTH.unpack(header)
        if crc != masked_crc(header[:8]) or length > LARGEST_BYTES:
            self.bad_records += 1
            return None
        if len(self._frames) < MAX_SHAPES:
            self._frames[header] = length
        return length

    def _next_frame(self, buffer: bytes, start: int) -> int:
        """Where a frame of a known length begins after a damaged one; near the end where there is none."""
        found = [at for header in self._frames if (at := buffer.find(header, start)) >= 0]
        return min(found) if found else max(start, len(buffer) - HEADER + 1)

    def _parse(self, message: bytes, crc: bytes) -> Group | None:
        """Take in a record of a new shape or step; the group that it ends."""
        if _CRC.unpack(crc)[0] != masked_crc(message):
            self.bad_records += 1
            return None
        try:
            event = fields_of(message)
            summaries = event.all_bytes(5)
            scalars = [scalar for summary in summaries for scalar in self._scalars(summary)]
        except BadWire:
            self.bad_records += 1
            return None
        if not scalars:
            return None
        step, at = event.integer(2) or 0, event.double(1) or 0.0
        done = None
        group = self._group
        if group is None or group.step != step:
            done, group = group, Group(step, at)
            self._group = group
            self._prefix = _step_prefix(step)
        group.at = at
        group.values.update(scalars)
        self._remember(message, scalars)
        return done

    def _scalars(self, summary: bytes) -> Iterator[tuple[str, float]]:
        for value in fields_of(summary).all_bytes(1):
            fields = fields_of(value)
            tag = fields.text(1)
            if tag is None:
                continue
            number = fields.single(2)
            if number is None and (tensor := fields.payload(8)) is not None:
                number = _tensor(fields_of(tensor))
                if number is None and len(self.texts) < 100:
                    self.texts += [(tag, text) for text in fields_of(tensor).all_text(8)]
            if number is not None:
                yield tag, number

    def _remember(self, message: bytes, scalars: list[tuple[str, float]]) -> None:
        """Keep the shape of a record that is one simple value at its end, written in the usual order."""
        start = 9 + len(self._prefix)
        plain = message[:1] == b"\x09" and message.startswith(self._prefix, 9) and message[-5:-4] == b"\x15"
        if (
            len(scalars) == 1
            and plain
            and message[start : start + 1] == b"\x2a"
            and len(self._shapes) < MAX_SHAPES
        ):
            (number,) = _FLOAT(message, len(message) - 4)
            told = scalars[0][1]
            if number == told or (number != number and told != told):
                self._shapes[message[start:-4]] = scalars[0][0]


def _step_prefix(step: int) -> bytes:
    """A step as the Event message writes it: not at all when it is 0."""
    if step == 0:
        return b""
    rest = step & 0xFFFFFFFFFFFFFFFF
    encoded = bytearray(b"\x10")
    while rest > 127:
        encoded.append(rest & 127 | 128)
        rest >>= 7
    encoded.append(rest)
    return bytes(encoded)


def _tensor(tensor: Fields) -> float | None:
    """The one number of a tensor, as TF2 writes scalars; None where it holds more, or none."""
    kind = tensor.integer(1)
    layout = {1: ("<f", 5), 2: ("<d", 6)}.get(kind or 0)
    if layout is not None:
        content = tensor.payload(4)
        numbers = floats_of(content, layout[0]) if content else tensor.packed(layout[1], layout[0])
        return numbers[0] if len(numbers) == 1 else None
    if kind in (3, 9):
        content = tensor.payload(4)
        if content:
            whole = floats_of(content, "<i" if kind == 3 else "<q")
        else:
            whole = [float(number) for number in tensor.integers(7 if kind == 3 else 10)]
        return whole[0] if len(whole) == 1 else None
    return None
