"""MLflow's file store: a folder a run, in it a file a metric, each line `milliseconds value step`.

A step's values lie in many files, appended one after the other: a step is taken as whole when a later one has
begun, or when a poll finds nothing new.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from ...models.event import Event, SourceStatus
from ..lines import Lines
from ..transport.local import LocalFile
from .mlflow import META, MlflowRun, run_folders
from .several import Choice, choose
from .tfevents import Group


class MlflowFiles:
    """Follows one run of a store."""

    more = False

    def __init__(self, path: Path, run: str = "") -> None:
        self._path = path
        self._wanted = run
        self._folder: Path | None = None
        self._choice = Choice()
        self._run = MlflowRun()
        self._files: dict[str, tuple[LocalFile, Lines]] = {}
        self._waiting: dict[int, Group] = {}
        self._lines = 0
        self._bad = 0
        self._first_bad = ""
        self._status: SourceStatus | None = None

    def poll(self, now: float) -> list[Event]:
        """Events of what has come."""
        events: list[Event] = []
        if self._folder is None:
            self._choose()
        if self._folder is not None:
            events += self._run.told(dict(_texts(self._folder / "params")))
            new = self._read(self._folder, now)
            newest = max(self._waiting, default=0)
            whole = [step for step in sorted(self._waiting) if step < newest or not new]
            events += self._told(whole)
            if not new:
                events += self._record(self._folder)
        events += self._changed_status()
        return events

    def find_run(self) -> None:
        """Look for the run that is wanted.

        Raises:
            Unreadable: it is not there, or the store cannot be read now.
        """
        self._choose()
        self._choice.required()

    def close(self) -> list[Event]:
        """Steps that were held back; lets go of the files."""
        events = self._told(sorted(self._waiting))
        if self._folder is not None:
            events += self._record(self._folder)
        events += self._run.flush()
        for file, _ in self._files.values():
            file.close()
        return events

    def _choose(self) -> None:
        folders = {folder.name: folder for folder in reversed(run_folders(self._path))}
        runs = [(id, _meta(folder).get("run_name")) for id, folder in reversed(folders.items())]
        self._choice = choose(self._path, self._wanted, runs)
        self._folder = folders.get(self._choice.id)

    def _read(self, folder: Path, now: float) -> bool:
        """Whether a file had something new."""
        new = False
        for key, path in _files(folder / "metrics"):
            if key not in self._files:
                self._files[key] = LocalFile(path), Lines()
            file, lines = self._files[key]
            for chunk in file.read(now):
                new = True
                if chunk.restarted:
                    lines.restart()
                for line in lines.feed(chunk):
                    self._line(key, line.text, line.number)
        return new

    def _line(self, key: str, text: str, number: int) -> None:
        self._lines += 1
        parts = text.split()
        try:
            at, value = int(parts[0]) / 1000, float(parts[1])
            step = int(parts[2]) if len(parts) > 2 else 0
        except (ValueError, IndexError, OverflowError):
            self._bad += 1
            self._first_bad = self._first_bad or f"{key}, line {number}: not `milliseconds value step`"
            return
        group = self._waiting.setdefault(step, Group(step, at))
        group.at = max(group.at, at)
        group.values[key] = value

    def _told(self, steps: list[int]) -> list[Event]:
        events: list[Event] = []
        for step in steps:
            group = self._waiting.pop(step)
            events += self._run.step(step, group.at, group.values)
        return events

    def _record(self, folder: Path) -> Iterator[Event]:
        meta = _meta(folder)
        if meta:
            start, end = _seconds(meta.get("start_time")), _seconds(meta.get("end_time"))
            yield from self._run.stands(meta.get("run_name", ""), meta.get("status", ""), start, end)

    def _changed_status(self) -> Iterator[SourceStatus]:
        waiting = self._folder is None
        status = SourceStatus(
            source="mlflow",
            path=str(self._folder or self._path),
            state="waiting" if waiting else "reading",
            reason=(self._choice.note or "no run yet") if waiting else "",
            lines=self._lines,
            bad_lines=self._bad,
            first_bad=self._first_bad,
            notes=(self._choice.note,) if self._choice.note and not waiting else (),
        )
        if status != self._status:
            self._status = status
            yield status


def _files(folder: Path) -> Iterator[tuple[str, Path]]:
    """(key, file) below a folder; a key with slashes is a path. No links are followed."""
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = Path(place, name)
            if not path.is_symlink():
                yield path.relative_to(folder).as_posix(), path


def _texts(folder: Path) -> Iterator[tuple[str, str]]:
    for key, path in _files(folder):
        try:
            yield key, path.read_bytes()[:65536].decode("utf-8", "replace")
        except OSError:
            continue


def _meta(folder: Path) -> dict[str, str]:
    """The run's record: flat YAML, of which `name: value` is all that is needed."""
    try:
        text = (folder / META).read_bytes()[:65536].decode("utf-8", "replace")
    except OSError:
        return {}
    pairs = (line.partition(":") for line in text.splitlines() if not line.startswith((" ", "-")))
    return {name.strip(): value.strip().strip("'\"") for name, _, value in pairs}


def _seconds(milliseconds: str | None) -> float | None:
    try:
        return float(milliseconds) / 1000 if milliseconds else None
    except ValueError:
        return None
