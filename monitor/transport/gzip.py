"""Reads a finished log that was compressed with gzip. Its one rule: a damaged file gives what it can.

Streamed, so that neither a large file nor one made to expand without end sits in memory.
"""

import os
import zlib
from collections.abc import Iterator
from contextlib import suppress
from io import FileIO
from pathlib import Path

from ..source import Chunk, TransportState

MAGIC = b"\x1f\x8b"
CHUNK_BYTES = 128 * 1024
WITH_HEADER = zlib.MAX_WBITS | 16
"""Tells zlib to expect, and check, the gzip header and check sum."""
PACKED_BYTES = 64 * 1024
"""Compressed bytes taken at a time."""


class GzipFile:
    """One gzip file of one or more members (RFC 1952). It does not grow: read once, then ended."""

    def __init__(self, path: Path) -> None:
        self.path = os.fsencode(path).decode("utf-8", "replace")
        self.state: TransportState = "waiting"
        self.reason = "not looked at yet"
        self.modified_at: float | None = None
        self._path = path
        self._file: FileIO | None = None
        self._packed = b""
        self._member = zlib.decompressobj(wbits=WITH_HEADER)
        self._in_member = False
        self._members = 0

    @property
    def settled(self) -> bool:
        """Nothing more comes once the end, or the damage, is reached."""
        return self.state == "ended"

    def read(self, now: float) -> Iterator[Chunk]:
        """The text of the file in chunks of at most 128 KiB, without times."""
        if self.settled:
            return
        try:
            file = self._open()
            while not self.settled:
                if not self._packed:
                    self._packed = file.read(PACKED_BYTES) or b""
                    if not self._packed:
                        self._end("cut off in the middle" if self._in_member else "")
                        break
                for data in self._unpack():
                    yield Chunk(data, None)
        except FileNotFoundError:
            self.state, self.reason = "lost", "the file is gone"
        except PermissionError:
            self.state, self.reason = "denied", "no permission to read it"
        except OSError as error:
            self.state, self.reason = "lost", error.strerror or str(error)

    def close(self) -> None:
        """Let go of the handle. A file not read to its end is not gone on with."""
        self.state = "ended"
        if self._file is not None:
            self._file.close()

    def _open(self) -> FileIO:
        if self._file is None:
            self._file = FileIO(self._path)
            self.modified_at = os.fstat(self._file.fileno()).st_mtime
        self.state, self.reason = "reading", ""
        return self._file

    def _unpack(self) -> Iterator[bytes]:
        """What the packed bytes at hand hold; they are used up by it, or the state is `ended`."""
        if not self._in_member:
            if self._members:
                self._packed = self._packed.lstrip(b"\0")  # padding between members, as tape drives leave
            if not self._packed:
                return
            if not MAGIC.startswith(self._packed[:2]):
                self._end("followed by bytes that are not gzip" if self._members else "not gzip")
                return
            self._in_member = True
        before = self._member.copy()
        try:
            data = self._member.decompress(self._packed, CHUNK_BYTES)
        except zlib.error as error:
            self._member = before
            salvaged = self._salvage(self._packed)
            self._end(f"damaged: {error}")
            if salvaged:
                yield salvaged
            return
        self._packed = self._member.unconsumed_tail
        if self._member.eof:
            self._packed = self._member.unused_data
            self._member = zlib.decompressobj(wbits=WITH_HEADER)
            self._in_member = False
            self._members += 1
        if data:
            yield data

    def _end(self, reason: str) -> None:
        self.reason = reason
        self._packed = b""
        self.close()

    def _salvage(self, packed: bytes) -> bytes:
        """What comes out before the damage: zlib drops the output of a failing call, so one byte a call."""
        parts: list[bytes] = []
        with suppress(zlib.error):
            for index in range(len(packed)):
                parts.append(self._member.decompress(packed[index : index + 1]))
        return b"".join(parts)
