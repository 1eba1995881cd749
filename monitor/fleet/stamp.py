"""What a run is read from, as it is on the disk now: by this a summary kept of it is told to be still right.

Its one rule: rather one file too many than one too few. What may be read for a run counts, whether it was or
not; where that is more than can be looked at quickly, there is no stamp.
"""

import os
from collections.abc import Iterator, Sequence
from hashlib import sha256
from pathlib import Path

from ..target import run_in
from .walk import EVENTS, may_be_log

MAX_DEPTH = 3
"""Levels below a run's folder: as deep as its other logs are looked for."""
MOST_FILES = 5000
MOST_BESIDE = 2000
"""Entries of a folder in which a log lies; where there are more, only names tell what belongs to the log."""
BESIDE = (
    "config.json",
    "checkpoints.jsonl",
    "logs.log",
    "metrics.jsonl",
    "logging.jsonl",
    "trainer_log.jsonl",
)
"""What readers take up with a log that lies beside it, although it may have the name of another run's log."""
FOLDERS_BESIDE = (".hydra", "files")
"""Folders beside a log in which readers look: of Hydra, W&B and SwanLab."""
SETTLED_NS = 2_000_000_000
"""A file that has changed within the last two seconds may change again and look the same."""


class TooMany(Exception):
    """There is more in a folder than is worth looking at."""


class Stamps:
    """Makes stamps; remembers how folders were that many logs lie in."""

    def __init__(self) -> None:
        self._listed: dict[str, tuple[int, tuple[str, ...]]] = {}

    def of(self, targets: Sequence[str], sources: Sequence[str], now: float | None = None) -> str | None:
        """The stamp of a run with these targets, that is read from these files.

        None where it has none: something is not there, is no file or folder of this machine, is too much to
        look at, or, where `now` (unix s) is given, has just changed.
        """
        found: list[str] = []
        newest = 0
        try:
            for path in dict.fromkeys(path for path in (*targets, *sources)):
                for name, about in self._below(path):
                    found.append(f"{name}\0{about.st_size}\0{about.st_mtime_ns}\0{about.st_ino}")
                    newest = max(newest, about.st_mtime_ns)
        except (OSError, TooMany, ValueError):  # ValueError: a NUL in a name
            return None
        if not found or (now is not None and newest > now * 1e9 - SETTLED_NS):
            return None
        return sha256("\n".join(found).encode("utf-8", "surrogateescape")).hexdigest()

    def _below(self, target: str) -> Iterator[tuple[str, os.stat_result]]:
        """What counts for one target; (resolved path, what the file system says of it).

        Raises:
            OSError: it is not there.
            TooMany: see there.
        """
        place, run = run_in(Path(target))
        path = os.path.realpath(place)
        if os.path.isdir(path):
            yield from _files(path)
            return
        yield path, os.stat(path)
        folder, name = os.path.split(path)
        beside = (f"{name}-wal",) if run else (*self._beside(folder, name), *BESIDE, *_inside(folder))
        for other in beside:
            try:
                about = os.stat(os.path.join(folder, other))
            except OSError:
                continue
            if about.st_size or not other.endswith("-wal"):
                yield os.path.join(folder, other), about

    def _beside(self, folder: str, name: str) -> list[str]:
        """Files in a log's folder that may belong to it: all but logs under other names."""
        changed = os.stat(folder).st_mtime_ns
        known = self._listed.get(folder)
        if known is None or known[0] != changed:
            with os.scandir(folder) as listing:
                names = sorted(entry.name for entry in listing if not entry.is_dir())
            known = self._listed[folder] = (changed, tuple(names))
        if len(known[1]) > MOST_BESIDE:
            return []
        return [
            other
            for other in known[1]
            if other != name and (other.startswith(name) or EVENTS in other or not may_be_log(other))
        ]


def _inside(folder: str) -> Iterator[str]:
    """Files in the folders beside a log, as paths from there."""
    for name in FOLDERS_BESIDE:
        try:
            with os.scandir(os.path.join(folder, name)) as listing:
                files = sorted(entry.name for entry in listing if not entry.is_dir())
        except OSError:
            continue
        if len(files) > MOST_BESIDE:
            raise TooMany
        yield from (os.path.join(name, file) for file in files)


def _files(folder: str) -> Iterator[tuple[str, os.stat_result]]:
    """All files below a folder, links followed where they lead to files."""
    left = MOST_FILES
    for place, folders, names in os.walk(folder):
        folders.sort()
        if place.removeprefix(folder).count(os.sep) >= MAX_DEPTH:
            folders.clear()
        left -= len(names) + len(folders)
        if left < 0:
            raise TooMany
        for name in sorted(names):
            path = os.path.join(place, name)
            try:
                yield path, os.stat(path)
            except OSError:  # a link that leads nowhere
                continue
        for name in folders:
            path = os.path.join(place, name)
            if os.path.islink(path):
                yield f"{path}\0{os.readlink(path)}", os.lstat(path)
