"""A SwanLab run on this machine, offline or online: its log, followed as it grows.

Its one rule: a step is told once it is whole. A record is one number, and the writer lets go of its buffer in
the middle of a step: what is missing comes with the next.

The frames are those of W&B's transaction log, behind a header of its own: `:SWL`, 0xE1D6 and the version.
"""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from ...models.event import Ended, Event, LogLine, SourceStatus
from ...models.run import RunInfo
from ..source import Format, Probe, Source
from ..tells import tells_of_tracker
from ..transport import open_transport
from .protowire import BadWire
from .swanlab_beside import Beside
from .swanlab_records import Finished, Printed, Scalar, Started, said_by
from .tfevents import Group
from .tracked import TrackedRun
from .trackergpus import gpus_of
from .verl.faults import Faults
from .verl.rayline import said
from .wandb_log import WandbLog

MAGIC = b":SWL\xd6\xe1"
VERSIONS = (1, 2)
POLL_BYTES = 8 * 1024 * 1024
FOLDER = "swanlog"
RUN_FOLDER = re.compile(r"run-\d{8}_\d{6}-[\w-]+")
RUN_FILE = re.compile(r"(?:run-[\w-]+|backup)\.swanlab")
SYSTEM = "__swanlab__."
"""Readings of the machine, which have a step count of their own."""
SILENT_S = 60.0
"""So long after the last byte, a step is taken as it is, even though a record behind it is cut."""


class SwanlabSource:
    """Follows one log."""

    def __init__(self, path: Path, poll_bytes: int = POLL_BYTES, notes: tuple[str, ...] = ()) -> None:
        """`notes` are what the user should know of the choice of the log."""
        self.more = False
        self._of_choice = notes
        self._path = path
        self._transport = open_transport(path)
        self._poll_bytes = poll_bytes
        self._status: SourceStatus | None = None
        self._begin()

    def _begin(self) -> None:
        """Nothing has been read of the log, or it is another one from now on."""
        self._beside = Beside(self._path)
        self._log = WandbLog()
        self._head = b""
        self._run = TrackedRun(resumes=False)
        self._faults = Faults()
        self._step: Group | None = None
        self._machine: Group | None = None
        self._fed_at: float | None = None
        self._bad = 0

    def poll(self, now: float) -> list[Event]:
        """Events of at most about `poll_bytes` of new bytes; `more` tells whether that was not all."""
        events: list[Event] = [*self._run.configured(self._beside.config()), *self._beside.machine()]
        left = self._poll_bytes
        self.more = False
        for chunk in self._transport.read(now):
            if chunk.restarted:
                self._begin()
            if len(self._head) < len(MAGIC) + 1:
                self._head += chunk.data[: len(MAGIC) + 1 - len(self._head)]
            for record in self._log.feed(chunk.data):
                events.extend(self._record(record))
            left -= len(chunk.data)
            if left <= 0:
                self.more = True
                break
        if left < self._poll_bytes:
            self._fed_at = now
        elif self._fed_at is not None and (self._log.is_between or now - self._fed_at >= SILENT_S):
            events.extend(self._whole())
        events.extend(self._changed_status())
        return events

    def close(self) -> list[Event]:
        """The last step, and rows whose framework was never known; lets go of the file."""
        events = [*self._whole(), *self._run.flush(), *self._faults.flush(), *self._changed_status()]
        self._transport.close()
        return events

    def _record(self, data: bytes) -> Iterable[Event]:
        try:
            told = said_by(data)
        except BadWire:
            self._bad += 1
            return ()
        if isinstance(told, Scalar):
            return self._reading(told) if told.key.startswith(SYSTEM) else self._number(told)
        if isinstance(told, Started):
            return (RunInfo(name=told.name or None, started_at=told.at),)
        if isinstance(told, Printed):
            return self._printed(told)
        return self._finished(told) if told is not None else ()

    def _number(self, scalar: Scalar) -> Iterable[Event]:
        events: Iterable[Event] = ()
        step = self._step
        if step is None or step.step != scalar.step or scalar.key in step.values:
            events = self._told()
            step = self._step = Group(scalar.step, 0.0)
        step.values[scalar.key] = scalar.value
        step.at = max(step.at, scalar.at or 0.0)
        return events

    def _reading(self, scalar: Scalar) -> Iterable[Event]:
        key = scalar.key.removeprefix(SYSTEM)
        if not key.startswith("gpu."):
            return ()
        events: Iterable[Event] = ()
        machine = self._machine
        if machine is None or key in machine.values:
            events = self._sampled()
            machine = self._machine = Group(scalar.step, 0.0)
        machine.values[key] = scalar.value
        machine.at = max(machine.at, scalar.at or 0.0)
        return events

    def _told(self) -> Iterable[Event]:
        step, self._step = self._step, None
        return self._run.row(step.values, step.step, step.at or None) if step is not None else ()

    def _sampled(self) -> Iterable[Event]:
        machine, self._machine = self._machine, None
        sample = gpus_of(machine.values, machine.at or None, "swanlab") if machine is not None else None
        return (sample,) if sample is not None else ()

    def _whole(self) -> Iterator[Event]:
        """Nothing more is to come of the step, and of the reading, that is being read."""
        yield from self._told()
        yield from self._sampled()

    def _printed(self, line: Printed) -> Iterator[Event]:
        """What the console's lines say of failures."""
        for text in line.text.splitlines():
            if self._faults.reading or "rror" in text or "Traceback" in text or "memory" in text:
                for one in said(text):
                    yield from self._faults.read(one.by, one.words, line.at)

    def _finished(self, end: Finished) -> Iterator[Event]:
        yield from self._whole()
        if end.state:
            cause = end.error.strip().rpartition("\n")[2]
            message = f"SwanLab: {end.state}{f': {cause}' if cause else ''}"
            yield Ended(status="crashed", at=end.at, message=message)
            return
        if short := self._run.short:
            words = f"SwanLab: finished, but at {short}: trainers report that after a crash too"
            yield LogLine(text=words, level="warning", at=end.at)
        yield Ended(status="finished", at=end.at, message="SwanLab: finished")

    def _changed_status(self) -> Iterator[SourceStatus]:
        transport, log = self._transport, self._log
        bad = log.bad_records + self._bad
        status = SourceStatus(
            source="swanlab-local",
            path=transport.path,
            state=transport.state,
            reason=transport.reason,
            lines=log.records,
            bad_lines=bad,
            first_bad="records with a wrong checksum or of no known shape were left out" if bad else "",
            modified_at=transport.modified_at,
            notes=self._notes(),
        )
        if status != self._status:
            self._status = status
            yield status

    def _notes(self) -> tuple[str, ...]:
        version = self._head[len(MAGIC) :]
        if not version or version[0] in VERSIONS:
            return self._of_choice
        unknown = f"version {version[0]} of SwanLab's log is not known: what can be read of it is shown"
        return (*self._of_choice, unknown)


def run_files(path: Path) -> list[Path]:
    """The logs of a target, the newest run first: a file, a run's folder, or the runs of a `swanlog`."""
    if not path.is_dir():
        return [path]
    for folder in (path, path / FOLDER):
        if (file := _file_in(folder)) is not None:
            return [file]
        # The name begins with the date, so that the newest run is the last.
        runs = sorted((name for name in _names(folder) if RUN_FOLDER.fullmatch(name)), reverse=True)
        files = [file for name in runs if (file := _file_in(folder / name)) is not None]
        if files:
            return files
    return []


def _file_in(folder: Path) -> Path | None:
    names = sorted(name for name in _names(folder) if RUN_FILE.fullmatch(name))
    return folder / names[-1] if names else None


def _names(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _score(probe: Probe) -> float:
    if not probe.is_dir:
        return 1.0 if probe.magic.startswith(MAGIC) else 0.0
    likely = any(
        name == FOLDER or RUN_FOLDER.fullmatch(name) or RUN_FILE.fullmatch(name) for name in probe.names
    )
    return 0.65 if likely and run_files(probe.path) else 0.0


def _open(path: Path) -> Sequence[Source]:
    file, *others = run_files(path) or [path]
    more = f"the newest of {len(others) + 1} runs; another: {others[0].parent}" if others else ""
    return [SwanlabSource(file, notes=(more,) if more else ())]


TELLS = tells_of_tracker(
    steps="`train/global_step`, …, or SwanLab's step",
    total="config",
    time="time of the record",
    gpus="system metrics of the host that logs; config",
    config="`files/config.yaml`",
    state="state of the end, doubted where steps are missing",
)
FORMAT = Format(name="SwanLab run (.swanlab)", score=_score, open=_open, tells=TELLS)
