"""The last lines of runs that are over, kept on disk, so that the next start need not read their logs again.

Its one rule: a line that could be wrong is not there. Each is kept under all that its figures depend on, and
whatever is amiss with a file here only means that the run is read.
"""

import os
import tempfile
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from pydantic import ValidationError

from ...models.fleet import FleetRow
from ...models.value import Value
from .stamp import Stamps

LAYOUT = 1
MOST, FEWER = 5000, 4000
"""Files kept; where there are more, the oldest go until so many are left."""
LARGEST = 1024 * 1024


class Kept(Value):
    """What is kept of a run."""

    targets: tuple[str, ...]
    """The one that opens it, then those of its other logs in full."""
    stamp: str
    row: FleetRow
    print: tuple[tuple[int, str], ...] = ()
    """Its fingerprint, by which another log of it is known."""
    apart: tuple[str, ...] = ()
    """Resolved paths of runs that look like it, and turned out to be others."""


class _File(Value):
    layout: int
    known_by: str
    kept: Kept


class KeptRows:
    """The lines in one folder. `context` is what figures depend on beside the logs."""

    def __init__(self, folder: Path, context: str) -> None:
        self.stamps = Stamps()
        self._folder = folder
        self._context = context
        self._pruned = False

    def get(self, id: str) -> Kept | None:
        """The line of the run that this target opens, where its logs are as they were."""
        known_by, path = self._place(id)
        try:
            with path.open("rb") as file:
                found = _File.model_validate_json(file.read(LARGEST))
        except (OSError, ValidationError):
            return None
        kept = found.kept
        if (found.layout, found.known_by) != (LAYOUT, known_by) or kept.targets[:1] != (id,):
            return None
        return kept if self.stamps.of(kept.targets, kept.row.sources) == kept.stamp else None

    def put(self, kept: Kept) -> None:
        """Keep a line. Where nothing can be written, nothing is."""
        known_by, path = self._place(kept.targets[0])
        data = _File(layout=LAYOUT, known_by=known_by, kept=kept).model_dump_json().encode()
        if len(data) > LARGEST:
            return
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._prune()
            written, name = tempfile.mkstemp(dir=self._folder, prefix=".")  # for nobody else to read
            try:
                with os.fdopen(written, "wb") as file:
                    file.write(data)
                os.replace(name, path)
            except OSError:
                os.unlink(name)
        except OSError:
            return

    def forget(self, id: str) -> None:
        """A run is part of another: its own line is no more."""
        try:
            self._place(id)[1].unlink(missing_ok=True)
        except OSError:
            return

    def _place(self, id: str) -> tuple[str, Path]:
        known_by = f"{self._context}\n{id}\n{os.path.realpath(id)}"
        digest = sha256(known_by.encode("utf-8", "surrogateescape")).hexdigest()
        return digest, self._folder / f"{digest[:40]}.json"

    def _prune(self) -> None:
        """Once: what was written longest ago goes, where there is too much."""
        if self._pruned:
            return
        self._pruned = True
        with os.scandir(self._folder) as listing:
            files = [(entry.stat().st_mtime, entry.path) for entry in listing if entry.is_file()]
        if len(files) > MOST:
            for _, path in sorted(files)[: len(files) - FEWER]:
                os.unlink(path)


def context_of(parts: Sequence[str]) -> str:
    """What figures depend on beside the logs - settings, prices, the program itself - as one word."""
    return sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()


def state_of_files(folder: Path) -> str:
    """Which files lie below a folder, and how they are: the program's own, or price lists."""
    found: list[str] = []
    for place, folders, names in os.walk(folder, followlinks=True):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for name in sorted(names):
            try:
                about = os.stat(os.path.join(place, name))
            except OSError:
                continue
            found.append(f"{os.path.join(place, name)} {about.st_size} {about.st_mtime_ns}")
    return "\n".join(found)
