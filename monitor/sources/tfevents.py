"""Reads the scalars of a TensorBoard event file as its bytes come. No TensorFlow, no protobuf package.

A file is a row of frames: length (u64), masked CRC-32C of the length, an Event message, masked CRC-32C of
that. Source: tensorflow/core/lib/io/record_writer.h.

Its one rule: a record of a known shape is not parsed. A logger writes the same tags again and again, and
two records of one tag and one step differ in their time and value alone. So what lies between the two is
looked up; and where two steps in turn had the same records, the next one is read as a whole. Checksums: of
lengths always; of messages where the shape is new, hence of every first record of a step and of every record
whose tag was damaged. A damaged value of a known tag is not noticed.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

from .protowire import BadWire, fields_of
from .tfblock import AROUND, Block, Simple
from .tfmessage import said

HEADER = 12
LARGEST_BYTES = 1 << 30
MAX_SHAPES = 65_536
MAX_LENGTHS = 512
"""Message lengths that are remembered: behind damage, each of them is looked for."""
MAX_TEXTS = 100
FEWEST, LONGEST_ROW = 4, 4096
"""Records of a step that are worth a block."""
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
        self._parts: list[bytes] = []
        """What is not whole yet; joined once it may be, since joining at each chunk would be quadratic."""
        self._held = 0
        self._needed = HEADER
        """Bytes that must be held before anything can come of them."""
        self._group: Group | None = None
        self._prefix: bytes = b""
        """How the step of the present group is written."""
        self._frames: dict[bytes, int] = {}
        """Message length by frame header, checked once for each length that occurs."""
        self._shapes: dict[bytes, str] = {}
        """Tag by the bytes between step and value."""
        self._row: list[Simple] | None = None
        """The present group's records so far; None where some are not simple, or were not noted."""
        self._row_before: list[Simple] | None = None
        self._block: Block | None = None
        self._in_step = 0
        """Records of the present group; -1 where it has been seen not to fit the block."""

    @property
    def open(self) -> Group | None:
        """The newest group, which may still grow."""
        return self._group

    def feed(self, data: bytes) -> Iterator[Group]:
        """Groups that the bytes have brought to their end."""
        self._parts.append(data)
        self._held += len(data)
        if self._held < self._needed:
            return
        buffer = b"".join(self._parts)
        position, size = 0, len(buffer)
        self._needed = HEADER
        while size - position >= HEADER:
            block = self._block
            if block is not None and self._in_step == block.count and position + block.size <= size:
                whole = self._whole_step(block, buffer, position)
                if whole is not None:
                    position += block.size
                    yield whole
                    continue
            start = position + HEADER
            header = buffer[position:start]
            length = self._frames.get(header)
            if length is None:
                length = self._checked(header)
                if length is None:
                    position = self._next_frame(buffer, position + 1)
                    continue
            end = start + length
            if end + 4 > size:
                self._needed = end + 4 - position
                break
            position = end + 4
            done = self._record(buffer, header, start, end)
            if done is not None:
                yield done
        self._parts = [buffer[position:]]
        self._held = size - position

    def _whole_step(self, block: Block, buffer: bytes, position: int) -> Group | None:
        """Take in the next step, if its records are as expected; the group before it."""
        self._in_step = -1
        scalars = block.read(buffer, position)
        if scalars is None or scalars.prefix == self._prefix:
            return None
        start, end = (position + offset for offset in block.first_message)
        if _CRC.unpack_from(buffer, end)[0] != masked_crc(buffer[start:end]):
            return None
        try:
            step = fields_of(scalars.prefix).integer(2) or 0
        except BadWire:
            return None
        if _step_prefix(step) != scalars.prefix:
            return None
        done, self._group = self._group, Group(step, scalars.at, scalars.values)
        self._prefix = scalars.prefix
        self._in_step, self._row = block.count, None
        self.records += block.count
        return done

    def _record(self, buffer: bytes, header: bytes, start: int, end: int) -> Group | None:
        """Take in one record, whose message lies between; the group that it ends."""
        self.records += 1
        group, prefix = self._group, self._prefix
        if group is not None and buffer.startswith(prefix, start + AROUND):
            shape = buffer[start + AROUND + len(prefix) : end - 4]
            tag = self._shapes.get(shape)
            if tag is not None:
                group.values[tag] = _FLOAT(buffer, end - 4)[0]
                group.at = _DOUBLE(buffer, start + 1)[0]
                self._note(Simple(header, shape, tag))
                return None
        self._parse(buffer[start:end], buffer[end : end + 4])
        done = group if self._group is not group else None
        if self._group is not group:
            self._begin_row()
        shape = buffer[start + AROUND + len(self._prefix) : end - 4]
        tag = self._shapes.get(shape)
        self._note(Simple(header, shape, tag) if tag is not None else None)
        return done

    def _note(self, record: Simple | None) -> None:
        """Add a record to those of the present step; None for one that is not simple."""
        if self._in_step >= 0:
            self._in_step += 1
        if record is None or self._row is None or len(self._row) == LONGEST_ROW:
            self._row = None
        else:
            self._row.append(record)

    def _begin_row(self) -> None:
        """A step begins. If the two before it had the same records, they make the block."""
        row, before = self._row, self._row_before
        if row is not None and len(row) >= FEWEST and row == before:
            self._block = Block(row)
        self._row_before, self._row, self._in_step = row, [], 0

    def _checked(self, header: bytes) -> int | None:
        """The length in a frame header, or None where the header is damaged."""
        length, crc = _LENGTH.unpack(header)
        if crc != masked_crc(header[:8]) or length > LARGEST_BYTES:
            self.bad_records += 1
            return None
        if len(self._frames) < MAX_LENGTHS:
            self._frames[header] = length
        return length

    def _next_frame(self, buffer: bytes, start: int) -> int:
        """Where a frame of a known length begins after a damaged one; near the end where there is none."""
        found = [at for header in self._frames if (at := buffer.find(header, start)) >= 0]
        return min(found) if found else max(start, len(buffer) - HEADER + 1)

    def _parse(self, message: bytes, crc: bytes) -> None:
        """Take in a record of a new shape or step."""
        if _CRC.unpack(crc)[0] != masked_crc(message):
            self.bad_records += 1
            return
        try:
            step, at, scalars, texts = said(message)
        except BadWire:
            self.bad_records += 1
            return
        self.texts += texts[: MAX_TEXTS - len(self.texts)]
        if not scalars:
            return
        if self._group is None or self._group.step != step:
            self._group = Group(step, at)
            self._prefix = _step_prefix(step)
        self._group.at = at
        self._group.values.update(scalars)
        if len(scalars) == 1:
            self._remember(message, *scalars[0])

    def _remember(self, message: bytes, tag: str, number: float) -> None:
        """Keep the shape of a record that is one simple value at its end, written in the usual order."""
        start = AROUND + len(self._prefix)
        plain = (
            message[:1] == b"\x09" and message.startswith(self._prefix, AROUND) and message[-5:-4] == b"\x15"
        )
        if plain and message[start : start + 1] == b"\x2a" and len(self._shapes) < MAX_SHAPES:
            (last,) = _FLOAT(message, len(message) - 4)
            if last == number or (last != last and number != number):
                self._shapes[message[start:-4]] = tag


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
