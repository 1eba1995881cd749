"""The mirror's files: what is still to be fetched of each, and what becomes of it here.

Its one rule is that of a followed local file: nothing twice, nothing lost. Each piece is fetched with those
before it, which tell a file that grew from one that was written anew. A copy is grown in place, so that its
reader goes on; a file written anew becomes a new one here, so that its reader starts anew.
"""

import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import NamedTuple

from .ssh_script import Entry, Listing, is_whole

PART_BYTES = 4 * 1024 * 1024
BATCH_BYTES = 4 * 1024 * 1024
BATCH_PARTS = 64
FINGERPRINT_BYTES = 64
MOST_FILES = 1000
MOST_BYTES = 1024 * 1024 * 1024
"""Of all files together."""


class Part(NamedTuple):
    """A piece to be fetched."""

    name: str
    """Where it is to be read: another file than it is for, when that was renamed."""
    offset: int
    size: int
    of: str
    """The file that it is for."""


@dataclass
class _Copy:
    """How far one file has been brought here."""

    name: str
    inode: str
    whole: bool
    scratch: Path
    size: int = 0
    """What there is to fetch; of a renamed file, under its new name."""
    modified_at: float = 0.0
    offset: int = 0
    before: bytes = b""
    """The last bytes before the offset."""
    begun: bool = False
    """Whether what is here is of the present file, and not of one before."""
    renamed: str | None = None
    """Where the rest is of the file that was here before."""
    doubted: bool = False
    """Touched without having grown: its last bytes are to be compared."""
    unreadable: bool = False

    @property
    def wants(self) -> bool:
        return not self.unreadable and (self.offset < self.size or self.doubted or not self.begun)

    def begin_anew(self, entry: Entry) -> None:
        self.inode, self.size, self.modified_at = entry.inode, entry.size, entry.modified_at
        self.offset, self.before, self.begun = 0, b"", False
        self.renamed, self.doubted, self.unreadable = None, False, False


class Copies:
    """All files of one mirror, in `folder`; `scratch` is another, for what is not complete."""

    def __init__(self, folder: Path, scratch: Path, first: str | None = None) -> None:
        """`first` is the file that was named, and is fetched before those beside it."""
        self.notes: set[str] = set()
        """What the user should know: what was left out, and why."""
        self._folder = folder
        self._scratch = scratch
        self._first = first
        self._copies: dict[str, _Copy] = {}
        self._numbers = count()
        self._fetched_bytes = 0
        self._ahead_s = 0.0

    @property
    def progress(self) -> tuple[int, int]:
        """Bytes that are here, and of all that is wanted."""
        copies = self._copies.values()
        return sum(copy.offset for copy in copies), sum(max(copy.offset, copy.size) for copy in copies)

    def unreadable(self, name: str) -> bool:
        """Whether a file is there and may not be read."""
        copy = self._copies.get(name)
        return copy is not None and copy.unreadable

    def update(self, look: Listing, ahead_s: float) -> None:
        """Take note of a look. `ahead_s` is how far our clock is before that of the far side, seconds."""
        self._ahead_s = ahead_s
        by_name = {entry.name: entry for entry in look.entries}
        by_inode = {entry.inode: entry for entry in look.entries}
        if look.complete:
            for name in [name for name in self._copies if name not in by_name]:
                self._vanished(self._copies[name], by_inode)
        for entry in sorted(look.entries, key=lambda entry: (entry.name.count("/"), -entry.modified_at)):
            copy = self._copies.get(entry.name)
            if copy is None and len(self._copies) >= MOST_FILES:
                self.notes.add(f"only {MOST_FILES} files are looked at, the nearest and newest")
            elif copy is None:
                name = entry.name
                self._copies[name] = copy = _Copy(
                    name, entry.inode, is_whole(name), self._scratch / str(next(self._numbers))
                )
                copy.begin_anew(entry)
            else:
                self._changed(copy, entry, by_inode)

    def link(self, name: str, to: str) -> None:
        """Keep a link to a folder beside it."""
        path = self._folder / name
        if path.is_symlink() and os.readlink(path) == to:
            return
        with suppress(OSError):
            path.unlink(missing_ok=True)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.symlink_to(to)

    def parts(self) -> list[Part]:
        """What to fetch next: whole files first, as metrics are read in their light."""
        batch: list[Part] = []
        size = 0
        for part in self._in_order():
            if batch and (len(batch) >= BATCH_PARTS or size + part.size > BATCH_BYTES):
                break
            batch.append(part)
            size += part.size
        return batch

    def take(self, part: Part, data: bytes, readable: bool) -> None:
        """Keep what was fetched."""
        copy = self._copies[part.of]
        if not readable:
            copy.unreadable = True
            if copy.renamed is not None:
                copy.inode = ""  # its last lines are lost
            return
        copy.doubted = False
        if data[: len(copy.before)] != copy.before:
            self._anew_or_gone(copy)
            return
        fresh = data[len(copy.before) :]
        if not fresh and copy.offset < copy.size:
            copy.size = copy.offset  # cut short since the look; the next one tells
        try:
            self._keep(copy, fresh)
        except OSError as error:
            self.notes.add(f"{copy.name} cannot be kept here: {error.strerror or error}")
            copy.unreadable = True

    def _in_order(self) -> Iterator[Part]:
        wanting = [copy for copy in self._copies.values() if copy.wants]
        rest = sorted(wanting, key=lambda copy: copy.name != self._first)
        for copy in [copy for copy in wanting if copy.whole] or rest:
            left = MOST_BYTES - self._fetched_bytes
            missing = copy.size - copy.offset
            if left <= 0 < missing:
                self.notes.add(f"{copy.name} is not read further: {MOST_BYTES >> 30} GiB are here")
                copy.unreadable = True
                continue
            known = len(copy.before)
            size = known + max(0, min(missing, PART_BYTES, left))
            yield Part(copy.renamed or copy.name, copy.offset - known, size, copy.name)

    def _changed(self, copy: _Copy, entry: Entry, by_inode: dict[str, Entry]) -> None:
        """A file that was there before."""
        copy.unreadable = False  # it may have been given free: asked for once a look
        if copy.inode != entry.inode:
            old = by_inode.get(copy.inode)
            if old is not None and copy.begun and not copy.whole and old.size > copy.offset:
                copy.renamed, copy.size = old.name, old.size  # its last lines first
            else:
                copy.begin_anew(entry)
        elif entry.size < copy.offset or (copy.whole and self._differs(copy, entry)):
            copy.begin_anew(entry)
        else:
            touched = entry.modified_at != copy.modified_at
            copy.doubted = copy.doubted or (touched and copy.offset == entry.size > 0)
            copy.renamed, copy.size, copy.modified_at = None, entry.size, entry.modified_at
            if touched and copy.begun:
                self._date(copy)

    def _vanished(self, copy: _Copy, by_inode: dict[str, Entry]) -> None:
        old = by_inode.get(copy.inode)
        if old is not None and not copy.whole and old.size > copy.offset:
            copy.renamed, copy.size = old.name, old.size
            return
        if old is not None and not copy.whole:
            return  # rotated away, and the new file is not there yet
        del self._copies[copy.name]
        with suppress(OSError):
            (self._folder / copy.name).unlink()

    def _anew_or_gone(self, copy: _Copy) -> None:
        """Its bytes are not those that were there: fetched again, unless it is the rest of a renamed file."""
        if copy.renamed is not None:
            copy.renamed, copy.size, copy.inode = None, copy.offset, ""
        else:
            copy.offset, copy.before, copy.begun = 0, b"", False

    def _keep(self, copy: _Copy, fresh: bytes) -> None:
        """Write the bytes behind those that are here, or begin a new file with them."""
        path = self._folder / copy.name
        if not copy.begun and copy.offset == 0:
            path.parent.mkdir(parents=True, exist_ok=True)
            copy.scratch.write_bytes(fresh)
        elif fresh:
            # By its place: what a full disk has cut short is written over, not twice.
            with (path if copy.begun else copy.scratch).open("r+b") as file:
                file.seek(copy.offset)
                file.write(fresh)
        copy.offset += len(fresh)
        copy.before = (copy.before + fresh)[-FINGERPRINT_BYTES:]
        self._fetched_bytes += len(fresh)
        if not copy.begun and (not copy.whole or copy.offset >= copy.size):
            os.replace(copy.scratch, path)
            copy.begun = True
        if copy.begun:
            self._date(copy)

    def _date(self, copy: _Copy) -> None:
        at = copy.modified_at + self._ahead_s
        with suppress(OSError, OverflowError):
            os.utime(self._folder / copy.name, (at, at))

    @staticmethod
    def _differs(copy: _Copy, entry: Entry) -> bool:
        return (entry.size, entry.modified_at) != (copy.size, copy.modified_at)
