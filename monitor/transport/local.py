"""Follows a growing file by looking at it again and again. Its one rule: nothing twice, nothing lost.

Polling, because logs of training runs lie on NFS, where changes made by another machine raise no
notification. The path is opened anew at each look: that is when an NFS client asks the server how
long the file is now. The handle from the look before is kept, so that a file that was rotated away
can still be read to its end.
"""

import os
import stat
import zlib
from collections.abc import Iterator
from pathlib import Path

from ..source import Chunk, TransportState

CHUNK_BYTES = 128 * 1024
"""Stays in the processor's cache while it is cut into lines: measured half again as fast as 1 MiB."""
FINGERPRINT_BYTES = 64
"""Bytes before the offset that are remembered, to tell a file that grew from one written anew."""
SETTLED_S = 60.0
"""After this much silence a last line without an end may be taken as it is."""
_OLD_BYTES: dict[str, int] = {}
"""By path of a copy, see `being_copied`."""


def being_copied(path: Path, size: int) -> None:
    """Say of a copy under way that its first `size` bytes are old, though they come while it is followed."""
    _OLD_BYTES[os.fspath(path)] = size


class LocalFile:
    """A file on this machine or on a mount, read from its start and followed for good."""

    def __init__(self, path: Path) -> None:
        self.path = os.fsencode(path).decode("utf-8", "replace")
        self.state: TransportState = "waiting"
        self.reason = "not looked at yet"
        self.modified_at: float | None = None
        self._path = path
        self._fd: int | None = None
        self._identity: tuple[int, int] | None = None
        """Device and inode. Alone they prove nothing: inodes are used again, and files truncated."""
        self._offset = 0
        self._before = b""
        """The last bytes before the offset: the fingerprint."""
        self._sum = 0
        """Check sum (CRC 32) of all bytes before the offset."""
        self._there_before: int | None = None
        """Size at our first look, or of what is being copied then: bytes up to here were written at a time
        that we do not know."""
        self._restarted = False
        self._all_read = False
        self._looked_at: float | None = None
        self._grew_at: float | None = None

    @property
    def settled(self) -> bool:
        """Whether all is read and the file has not changed for a minute.

        Growth that we saw ourselves counts by our own clock: that of a file server may be wrong.
        """
        if self._looked_at is None or self.modified_at is None or self._restarted or not self._all_read:
            return False
        if self._offset < (self._there_before or 0):
            return False  # a copy that is still being made
        changed_at = max(self.modified_at, self._grew_at or self.modified_at)
        return self._looked_at - changed_at > SETTLED_S

    def read(self, now: float) -> Iterator[Chunk]:
        """Everything new. Opens, checks and reads at each call; errors become `state` and `reason`."""
        self._looked_at = now
        self._all_read = False
        there = self._look()
        if there is not None and self._identity not in (None, _identity(there)):
            # Replaced by rename. Its writer may have gone on with the old file after our last look, and
            # may still do so while the new one is empty (logrotate makes it before it tells the writer).
            yield from self._rest(now)
            if there.st_size == 0 and self._fd is not None:
                return
            if not self._is_put_in_place():
                self._begin_anew()
            self.close()
        if there is not None:
            self._open(there)
        yield from self._rest(now)

    def close(self) -> None:
        """Let go of the handle; a later read opens the file again and goes on where it was."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def _look(self) -> os.stat_result | None:
        """What is at the path, if it is a file. Nothing else is opened: opening a pipe has effects."""
        try:
            there = os.stat(self._path)
        except OSError as error:
            self._fail(error)
            return None
        if not stat.S_ISREG(there.st_mode):
            self.state, self.reason = "denied", _not_a_file(there.st_mode)
            return None
        self.modified_at = there.st_mtime
        self.state, self.reason = "reading", ""
        return there

    def _open(self, there: os.stat_result) -> None:
        """Take a fresh handle; go back to the start if the file is not the one we read, grown."""
        try:
            fd = os.open(self._path, os.O_RDONLY | os.O_NONBLOCK)
        except OSError as error:
            self._fail(error)
            return
        try:
            found = os.fstat(fd)
            before = os.pread(fd, len(self._before), self._offset - len(self._before))
        except OSError as error:
            os.close(fd)
            self._fail(error)
            return
        if _identity(found) != _identity(there):
            os.close(fd)  # replaced between the two calls: the next look sees it and reads the old one out
            return
        self.close()
        self._fd = fd
        self._identity = _identity(found)
        if self._there_before is None:
            self._there_before = max(found.st_size, _OLD_BYTES.pop(os.fspath(self._path), 0))
        if before != self._before:
            # Truncated, or written anew under the same inode; a shorter file gives fewer bytes here.
            self._begin_anew()

    def _is_put_in_place(self) -> bool:
        """Whether the new file is what we read, grown: what rsync and others that copy a log again and again
        put in the place of the copy before. A file that was rotated away still has a name."""
        try:
            if self._fd is not None and os.fstat(self._fd).st_nlink > 0:
                return False
            with open(self._path, "rb", opener=_without_waiting) as file:
                left, found = self._offset, 0
                while left and (data := file.read(min(CHUNK_BYTES, left))):
                    left, found = left - len(data), zlib.crc32(data, found)
        except OSError:
            return False
        return not left and found == self._sum

    def _rest(self, now: float) -> Iterator[Chunk]:
        """What the handle has behind the offset, up to the size at this moment."""
        try:
            end = 0 if self._fd is None else os.fstat(self._fd).st_size
            while self._fd is not None and self._offset < end:
                there_before = self._there_before or 0
                known_time = self._offset >= there_before
                limit = end if known_time else min(end, there_before)
                data = os.pread(self._fd, min(CHUNK_BYTES, limit - self._offset), self._offset)
                if not data:
                    break  # truncated while we read
                if known_time:
                    self._grew_at = now
                # All is noted before the chunk is given, so that a caller may stop here.
                self._offset += len(data)
                self._sum = zlib.crc32(data, self._sum)
                self._before = (data if len(data) >= FINGERPRINT_BYTES else self._before + data)[
                    -FINGERPRINT_BYTES:
                ]
                restarted, self._restarted = self._restarted, False
                yield Chunk(data, now if known_time else None, restarted)
            self._all_read = True
        except OSError as error:
            # Such as a stale NFS handle: the next look opens the path again.
            self._fail(error)
            self.close()

    def _begin_anew(self) -> None:
        self._restarted = self._restarted or self._offset > 0
        self._offset = self._sum = 0
        self._before = b""
        self._there_before = 0

    def _fail(self, error: OSError) -> None:
        seen = self._identity is not None
        if isinstance(error, FileNotFoundError | NotADirectoryError):
            self.state, self.reason = ("lost", "the file is gone") if seen else ("waiting", "not there yet")
            if not seen:
                self._there_before = 0  # whatever comes, comes later than our first look
        elif isinstance(error, PermissionError):
            self.state, self.reason = "denied", "no permission to read it"
        else:
            self.state, self.reason = "lost" if seen else "denied", error.strerror or str(error)


def _without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NONBLOCK)  # a pipe may have come in between


def _identity(there: os.stat_result) -> tuple[int, int]:
    return there.st_dev, there.st_ino


def _not_a_file(mode: int) -> str:
    if stat.S_ISDIR(mode):
        return "is a folder, not a file"
    if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode):
        return "is a pipe, not a file: feed it to standard input and name `-`"
    return "is a device, not a file"
