"""Goes through the folders below a root and picks the files that may be logs, by their names alone.

Its one rule: it can be stopped after any folder. Folders come nearest first, and each once, whatever links
lead to it.
"""

import os
import re
import stat
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

MAX_DEPTH = 8
MAX_ENTRIES = 400_000
"""Files and folders gone through in one walk: a home folder ends, a root file system is cut."""
SKIPPED = frozenset(
    (
        "venv",
        "env",
        "node_modules",
        "site-packages",
        "dist-packages",
        "__pycache__",
        "lost+found",
        "proc",
        "sys",
    )
)
CHECKPOINT = re.compile(r"(?:checkpoint|ckpt|global_step|iteration|iter|epoch|step)s?[-_]?\d+", re.IGNORECASE)
"""Folders of weights and rollouts, one for each so many steps."""
WANDB_RUN = re.compile(r"(?:offline-)?run-\d{8}_\d{6}-[\w-]+")
LOG_ENDS = (".jsonl", ".ndjson", ".log", ".out", ".err", ".txt", ".wandb", ".swanlab", ".db", ".sqlite")
LOG_NAMES = frozenset(("trainer_state.json", "stdout", "stderr", "log", "output", "console"))
EVENTS = "tfevents"
NOT_RUNS = re.compile(
    r"timing_spans|checkpoints\.jsonl|rollout_?summar|requirements|readme|license|\.pre_resume_|debug-internal|^top_level"
    r"|^entry_points|^sources\.txt",
    re.IGNORECASE,
)
"""Files that lie beside runs, or in every repository, and tell of no steps."""


@dataclass(frozen=True, slots=True)
class Log:
    """A file whose name may be that of a log."""

    path: Path
    size: int
    modified_at: float
    """Unix seconds."""


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder that has been gone through."""

    path: Path
    logs: tuple[Log, ...]
    names: frozenset[str]
    """Of all that lies directly in it."""


class Walk:
    """One walk, below a folder or of a single file; the counts tell how far it has come."""

    def __init__(self, root: Path, max_depth: int = MAX_DEPTH, max_entries: int = MAX_ENTRIES) -> None:
        self.files = 0
        self.folders = 0
        self.unreadable = 0
        """Folders that may not be read."""
        self.cut = False
        """More lies deeper, or the most entries were reached."""
        self._root = root
        self._max_depth = max_depth
        self._max_entries = max_entries
        self._seen: set[tuple[int, int]] = set()

    def __iter__(self) -> Iterator[Folder]:
        try:
            place = os.stat(self._root)
        except OSError:
            self.unreadable += 1
            return
        if stat.S_ISREG(place.st_mode):
            self.files = 1
            log = Log(self._root, place.st_size, place.st_mtime)
            yield Folder(self._root.parent, (log,), frozenset((self._root.name,)))
            return
        # A link back to where the walk began, or above it, would lead through everything once more.
        self._seen.add((place.st_dev, place.st_ino))
        self._seen.update(_above(self._root))
        waiting = deque([(self._root, 0)])
        while waiting:
            path, depth = waiting.popleft()
            read = self._read(path)
            if read is None:
                continue
            folder, below = read
            if depth < self._max_depth:
                waiting.extend((place, depth + 1) for place in below)
            else:
                self.cut |= bool(below)
            yield folder
            if self.files + self.folders >= self._max_entries:
                self.cut |= bool(waiting)
                return

    def _read(self, path: Path) -> tuple[Folder, list[Path]] | None:
        """A folder, and the folders in it that are worth going into; None where there is nothing to see."""
        try:
            with os.scandir(path) as listing:
                entries = list(listing)
        except OSError:
            self.unreadable += 1
            return None
        self.folders += 1
        names = frozenset(entry.name for entry in entries)
        if "pyvenv.cfg" in names:
            return None
        within_wandb = WANDB_RUN.fullmatch(path.name) is not None
        logs: list[Log] = []
        below: list[Path] = []
        for entry in entries:
            try:
                if entry.is_dir():
                    if not within_wandb and self._is_worth(entry):
                        below.append(Path(entry.path))
                    continue
            except OSError:
                continue
            self.files += 1
            if may_be_log(entry.name) and (log := self._log(entry)) is not None:
                logs.append(log)
        below.sort()
        logs.sort(key=lambda log: log.path)
        return Folder(path, tuple(logs), names), below

    def _is_worth(self, entry: "os.DirEntry[str]") -> bool:
        """Whether to go into a folder, which has not been gone into by another way."""
        name = entry.name
        if (
            name.startswith(".")
            or name in SKIPPED
            or CHECKPOINT.fullmatch(name)
            or name.endswith(".egg-info")
        ):
            return False
        return self._is_new(entry)

    def _is_new(self, entry: "os.DirEntry[str]") -> bool:
        try:
            place = entry.stat()
        except OSError:
            return False
        key = (place.st_dev, place.st_ino)
        if key in self._seen:
            return False
        self._seen.add(key)
        return True

    def _log(self, entry: "os.DirEntry[str]") -> Log | None:
        """A regular file that is not empty; a link to a file that was met before is left out."""
        try:
            about = entry.stat()
        except OSError:
            return None
        if not stat.S_ISREG(about.st_mode) or not about.st_size:
            return None
        key = (about.st_dev, about.st_ino)
        if key in self._seen:
            return None
        self._seen.add(key)
        return Log(Path(entry.path), about.st_size, about.st_mtime)


def may_be_log(name: str) -> bool:
    """Whether a file of this name may tell of a run."""
    if name.startswith("."):
        return False
    bare = name.removesuffix(".gz").lower()
    return (bare.endswith(LOG_ENDS) or bare in LOG_NAMES or EVENTS in bare) and not NOT_RUNS.search(name)


def _above(root: Path) -> set[tuple[int, int]]:
    """The folders that a root lies in."""
    places: set[tuple[int, int]] = set()
    for path in root.absolute().resolve().parents:
        try:
            place = path.stat()
        except OSError:
            continue
        places.add((place.st_dev, place.st_ino))
    return places
