"""A log on a Ray node, kept here as a file that only grows.

Its one rule: nothing twice, nothing lost, though all that can be asked for is the last so many lines. What
comes is laid over the end of what is here; where it fits nowhere, or in several places, more lines are asked
for, and in the end all of them. Only a log that says the same 4 KiB twice, word for word, could deceive it.
"""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

FEWEST_LINES = 10
MOST_LINES = 8000
MORE = 16
"""Times as many lines, where so many did not suffice."""
MOST_BYTES = 16 * 1024 * 1024
"""Of lines asked for at once; more are asked for as the whole log, which is not held in memory."""
ANCHOR_BYTES = 64
OVERLAP_BYTES = 4096
"""What has to be the same for lines to be taken for those that are here."""
MOST_PLACES = 50
ALL = -1

Ask = Callable[[int], Iterable[bytes]]
"""Gives the last so many lines, or ALL."""


class LogCopy:
    """The copy at `path`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size = 0
        self._lines = FEWEST_LINES

    def update(self, ask: Ask) -> Iterator[int]:
        """Bring what is new; the size now and then, while much is coming."""
        lines = self._lines
        while self.size >= OVERLAP_BYTES and lines <= MOST_LINES:
            fresh = self._behind(_gathered(ask(lines)))
            if fresh is not None:
                self._append(fresh)
                known = self._read(max(0, self.size - OVERLAP_BYTES), OVERLAP_BYTES)
                self._lines = min(MOST_LINES, FEWEST_LINES + known.count(b"\n") + 2 * fresh.count(b"\n"))
                return
            lines *= MORE
        yield from self.take(ask(ALL))

    def take(self, whole: Iterable[bytes]) -> Iterator[int]:
        """Bring what is new out of all of it."""
        given = 0
        self._append(b"")  # an empty log is a log
        for data in whole:
            known = self._read(given, len(data)) if given < self.size else b""
            if known != data[: len(known)]:
                self._begin_anew(given)
                known = b""
            given += len(data)
            self._append(data[len(known) :])
            yield self.size
        if given < self.size:
            self._begin_anew(given)

    def _behind(self, window: bytes) -> bytes | None:
        """What of the log's last lines is not here yet; None where that cannot be told."""
        anchor = self._read(self.size - ANCHOR_BYTES, ANCHOR_BYTES)
        ends: list[int] = []
        at = window.find(anchor)
        for _ in range(MOST_PLACES):
            if at < 0:
                break
            end = at + ANCHOR_BYTES
            if (
                min(self.size, OVERLAP_BYTES) <= end <= self.size
                and self._read(self.size - end, end) == window[:end]
            ):
                ends.append(end)
            at = window.find(anchor, at + 1)
        else:
            return None
        return window[ends[0] :] if len(ends) == 1 else None

    def _begin_anew(self, kept: int) -> None:
        """The log was written anew behind its first `kept` bytes: so is the copy, as a new file."""
        before = self._read(0, kept)
        self.path.unlink()
        self.size = 0
        self._append(before)

    def _append(self, data: bytes) -> None:
        if not self.size:
            self.path.touch()
        if data:
            # By its place: what a full disk has cut short is written over, not twice.
            with self.path.open("r+b") as file:
                file.seek(self.size)
                file.write(data)
            self.size += len(data)

    def _read(self, offset: int, size: int) -> bytes:
        with self.path.open("rb") as file:
            file.seek(offset)
            return file.read(size)


def _gathered(pieces: Iterable[bytes]) -> bytes:
    """A window, or nothing where it is too large to be one."""
    data = bytearray()
    for piece in pieces:
        data += piece
        if len(data) > MOST_BYTES:
            return b""
    return bytes(data)
