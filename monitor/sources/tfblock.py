"""The records of a whole step of a TensorBoard file at once. Its one rule: it fits only where all is as in
the step before, but for the times, the step, the values and the checksums.
"""

import struct
from collections.abc import Sequence
from typing import NamedTuple

_DOUBLE = struct.Struct("<d").unpack_from
FRAME = 12
"""Bytes of a frame before its message."""
AROUND = 9
"""Bytes of a message before its step: a tag, and the time."""


class Simple(NamedTuple):
    """A record of one plain value: frame header, bytes between step and value, and what tag they give."""

    header: bytes
    shape: bytes
    tag: str


class Scalars(NamedTuple):
    """What the records of one step say."""

    prefix: bytes
    """The step as it is written."""
    at: float
    """Unix seconds of the last one."""
    values: dict[str, float]


class Block:
    """The layout of the records that a logger writes for each step."""

    def __init__(self, records: Sequence[Simple]) -> None:
        self.count = len(records)
        self._heads = tuple(record.header + b"\x09" for record in records)
        self._shapes = tuple(record.shape for record in records)
        self._tags = tuple(record.tag for record in records)
        length = int.from_bytes(records[0].header[:8], "little")
        step = length - AROUND - len(records[0].shape) - 4
        layout = [f"{FRAME + 1}s{AROUND - 1}x{step}s{len(record.shape)}sf4x" for record in records]
        self._struct = struct.Struct("<" + "".join(layout))
        self.size = self._struct.size
        self.first_message = FRAME, FRAME + length
        """Where in the block the message of its first record lies; its checksum follows."""
        self._last_time = self.size - struct.calcsize("<" + layout[-1]) + FRAME + 1

    def read(self, buffer: bytes, position: int) -> Scalars | None:
        """The step whose records begin at `position`, all of them in the buffer; None where they differ."""
        parts = self._struct.unpack_from(buffer, position)
        prefixes = parts[1::4]
        if (
            parts[0::4] != self._heads
            or parts[2::4] != self._shapes
            or prefixes.count(prefixes[0]) != self.count
        ):
            return None
        (at,) = _DOUBLE(buffer, position + self._last_time)
        return Scalars(prefixes[0], at, dict(zip(self._tags, parts[3::4], strict=True)))
