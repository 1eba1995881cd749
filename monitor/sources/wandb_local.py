"""A W&B run on this machine, offline or online: its transaction log, followed as it grows.

Its one rule: W&B's exit code is not believed alone. Trainers call `finish` from a destructor, so that a crash
may end with code 0; what the log shows of the steps is said beside it.
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
from .protowire import BadWire, Fields, fields_of
from .wandb_files import METADATA, WandbFilesSource
from .wandb_log import MAGIC, WandbLog
from .wandb_records import (
    CONFIG,
    ENVIRONMENT,
    EXIT,
    HISTORY,
    OUTPUT_RAW,
    RUN,
    STATS,
    Record,
    config_of,
    record_of,
    row_of,
)
from .wandb_stats import Hardware, gpus_of
from .wandb_telling import WandbTelling

POLL_BYTES = 8 * 1024 * 1024
LATEST = "latest-run"
RUN_FILE = re.compile(r"run-[\w-]+\.wandb")


class WandbSource:
    """Follows one transaction log."""

    def __init__(self, path: Path, poll_bytes: int = POLL_BYTES) -> None:
        self.more = False
        self._transport = open_transport(path)
        self._poll_bytes = poll_bytes
        self._log = WandbLog()
        self._hardware = Hardware()
        self._telling = WandbTelling()
        self._bad = 0
        self._status: SourceStatus | None = None

    def poll(self, now: float) -> list[Event]:
        """Events of at most about `poll_bytes` of new bytes; `more` tells whether that was not all."""
        events: list[Event] = []
        left = self._poll_bytes
        self.more = False
        for chunk in self._transport.read(now):
            if chunk.restarted:
                self._log = WandbLog()
            for data in self._log.feed(chunk.data):
                events.extend(self._record(data))
            left -= len(chunk.data)
            if left <= 0:
                self.more = True
                break
        events.extend(self._telling.progress())
        events.extend(self._changed_status())
        return events

    def close(self) -> list[Event]:
        """Rows whose framework was never known; lets go of the file."""
        events = [*self._telling.flush(), *self._changed_status()]
        self._transport.close()
        return events

    def _record(self, data: bytes) -> Iterable[Event]:
        try:
            record = record_of(data)
            if record.kind == HISTORY:
                return self._telling.row(row_of(record.payload))
            return list(self._other(record))
        except BadWire:
            self._bad += 1
            return ()

    def _other(self, record: Record) -> Iterator[Event]:
        """Records that come seldom."""
        if record.kind not in (RUN, CONFIG, STATS, OUTPUT_RAW, EXIT, ENVIRONMENT):
            return
        fields = fields_of(record.payload)
        if record.kind == RUN:
            yield from self._run(fields)
        elif record.kind == CONFIG:
            yield from self._telling.configured(config_of(fields))
        elif record.kind == STATS:
            yield from gpus_of(fields, self._hardware)
        elif record.kind == OUTPUT_RAW:
            yield from self._telling.output(fields.text(3) or "")
        elif record.kind == EXIT:
            yield from self._exit(fields.integer(1) or 0)
        else:
            yield from self._hardware.learn(fields)

    def _run(self, fields: Fields) -> Iterator[Event]:
        started = fields.payload(17)
        started_at = fields_of(started).integer(1) if started else None
        yield RunInfo(
            name=fields.text(8) or fields.text(1) or None,
            started_at=float(started_at) if started_at else None,
        )
        config = fields.payload(4)
        if config is not None:
            yield from self._telling.configured(config_of(fields_of(config)))

    def _exit(self, code: int) -> Iterator[Event]:
        if code:
            yield Ended(status="crashed", message=f"W&B exit code {code}")
            return
        message = "W&B exit code 0"
        if short := self._telling.short:
            message += f", but at {short}"
            yield LogLine(text=f"{message}: trainers report 0 after a crash too", level="warning")
        yield Ended(status="finished", message=message)

    def _changed_status(self) -> Iterator[SourceStatus]:
        transport, log = self._transport, self._log
        bad = log.bad_records + self._bad
        status = SourceStatus(
            source="wandb-local",
            path=transport.path,
            state=transport.state,
            reason=transport.reason,
            lines=log.records,
            bad_lines=bad,
            first_bad="records with a wrong checksum or of no known shape were left out" if bad else "",
            modified_at=transport.modified_at,
        )
        if status != self._status:
            self._status = status
            yield status


def run_file(path: Path) -> Path | None:
    """The transaction log of a target: a file itself, a run's folder, or a `wandb` folder's latest run."""
    if not path.is_dir():
        return path
    for folder in (path, path / LATEST, path / "wandb" / LATEST):
        try:
            names = sorted(name for name in os.listdir(folder) if RUN_FILE.fullmatch(name))
        except OSError:
            continue
        if names:
            return folder / names[-1]
    return None


def _score(probe: Probe) -> float:
    if probe.is_dir:
        if not any(name == LATEST or name == "wandb" or RUN_FILE.fullmatch(name) for name in probe.names):
            return 0.0
        return 0.65 if run_file(probe.path) is not None else 0.0
    return 1.0 if probe.magic.startswith(MAGIC) else 0.0


def _open(path: Path) -> Sequence[Source]:
    log = run_file(path) or path
    beside = [WandbFilesSource(log.parent)] if (log.parent / METADATA).parent.is_dir() else []
    return [WandbSource(log), *beside]


TELLS = tells_of_tracker(
    steps="`train/global_step`, …, or `_step`",
    total="config",
    time="`_timestamp`, `_runtime`",
    gpus="system metrics of the host that logs; config",
    config="config, environment",
    state="exit code, doubted where steps are missing",
)
FORMAT = Format(name="W&B run (.wandb)", score=_score, open=_open, tells=TELLS)
