"""The transaction log of a W&B run (`run-ID.wandb`): records out of bytes as they come.

Its one rule: a record that is not whole yet waits. The writer fills blocks of 32 KiB and flushes where
a block ends, so that a live file nearly always ends inside a record.

Layout: 7 bytes of header, counted into the first block; then chunks of CRC-32 (u32), length (u16) and
kind (u8). A record is one FULL chunk, or FIRST, MIDDLE … LAST. Seen in files of wandb 0.31; the framing is
LevelDB's (doc/log_format.md there), but with a plain CRC-32 over kind and payload.
SwanLab's logs have the same frames behind another header; which it is, the readers look at.
"""

import struct
import zlib
from collections.abc import Iterator

MAGIC = b":W&B"
FILE_HEADER = 7
BLOCK = 32_768
CHUNK_HEADER = 7
FULL, FIRST, MIDDLE, LAST = 1, 2, 3, 4
LARGEST_RECORD = 256 * 1024 * 1024
_CHUNK = struct.Struct("<IHB").unpack_from


class WandbLog:
    """Cuts one file into records. Bytes may be cut anywhere."""

    def __init__(self) -> None:
        self.records = 0
        self.bad_records = 0
        self._rest = b""
        self._offset = 0
        """Where in the file the rest begins."""
        self._parts: list[bytes] | None = None
        self._held = 0

    @property
    def is_between(self) -> bool:
        """Whether what was fed ends where a record ends."""
        return not self._rest and self._parts is None

    def feed(self, data: bytes) -> Iterator[bytes]:
        """The records that have become whole."""
        buffer = self._rest + data if self._rest else data
        base, size = self._offset, len(buffer)
        position = 0
        if base == 0:
            if size < FILE_HEADER:
                self._rest = buffer
                return
            position = FILE_HEADER
        view = memoryview(buffer)
        while (chunk := self._next(view, base, position)) is not None:
            kind, start, position = chunk
            record = self._chunk(kind, buffer[start:position]) if kind else None
            if record is not None:
                self.records += 1
                yield record
        position = min(position, size)
        self._rest = buffer[position:]
        self._offset = base + position

    def _next(self, buffer: memoryview, base: int, position: int) -> tuple[int, int, int] | None:
        """(kind, start, end) of the next chunk's payload; kind 0 for what is to be skipped, None to wait."""
        size = len(buffer)
        left = BLOCK - (base + position) % BLOCK
        if left < CHUNK_HEADER:  # too little room for a chunk: padding
            return (0, position, position + left) if position + left <= size else None
        start = position + CHUNK_HEADER
        if start > size:
            return None
        crc, length, kind = _CHUNK(buffer, position)
        end = start + length
        if not FULL <= kind <= LAST or length > left - CHUNK_HEADER:
            # Nothing behind it in this block can be framed. A block that was never written is all zeros.
            if position + left > size:
                return None
            if kind or crc or length:
                self._damaged()
            return 0, position, position + left
        if end > size:
            return None
        if zlib.crc32(buffer[position + 6 : end]) != crc:
            self._damaged()
            return 0, start, end
        return kind, start, end

    def _chunk(self, kind: int, payload: bytes) -> bytes | None:
        """The record that a chunk completes."""
        if kind == FULL:
            self._parts = None
            return payload
        if kind == FIRST:
            self._parts, self._held = [payload], len(payload)
            return None
        if self._parts is None:
            return None  # the record's beginning was damaged
        self._parts.append(payload)
        self._held += len(payload)
        if self._held > LARGEST_RECORD:
            self._damaged()
        elif kind == LAST:
            record = b"".join(self._parts)
            self._parts = None
            return record
        return None

    def _damaged(self) -> None:
        self.bad_records += 1
        self._parts = None
