"""trackio: one SQLite database a project, with a row a log call. Read at version 0.43.

A database holds several runs: `PROJECT.db` is the newest of them, `PROJECT.db#NAME` the one of that name.
"""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, cast

from pydantic_core import from_json

from ...models.event import Event, LogLine, SourceStatus
from ...models.run import RunInfo
from ..source import Format, Held, Probe, Source
from ..tells import tells_of_tracker
from .several import Choice, calls, choose
from .sqlitefile import columns_in, columns_of, found, opened, polled
from .tracked import TrackedRun, flattened
from .trackergpus import gpus_of

NEEDED = frozenset({"run_name", "metrics", "step", "timestamp"})
"""Columns of `metrics`; older versions have no `run_id`."""
ROWS_A_POLL = 5000
LEVELS = {"info": "info", "warn": "warning", "error": "error"}


class TrackioSource:
    """Follows one run of a database."""

    def __init__(self, path: Path, run: str = "", rows_a_poll: int = ROWS_A_POLL) -> None:
        self.more = False
        self._path = path
        self._wanted = run
        self._rows_a_poll = rows_a_poll
        self._choice = Choice()
        """Its id is the `run_id`, or the name in databases of old."""
        self._named = False
        self._by = "run_id"
        self._tables: dict[str, frozenset[str]] = {}
        """Their columns by name."""
        self._tracked = TrackedRun()
        self._last = {"metrics": 0, "system_metrics": 0, "alerts": 0}
        """Newest row that was read, by table."""
        self._config = ""
        self._rows = 0
        self._bad = 0
        self._first_bad = ""
        self._status: SourceStatus | None = None

    def poll(self, now: float) -> list[Event]:
        """Events of the rows that have come."""
        self.more = False
        events, reason = polled(self._path, self._read)
        events.extend(self._changed_status(reason))
        return events

    def find_run(self) -> None:
        """Look for the run that is wanted.

        Raises:
            Unreadable: it is not there, or the database cannot be read now.
        """
        self._choice = found(self._path, self._choose)

    def close(self) -> list[Event]:
        """Rows whose framework was never known."""
        return list(self._tracked.flush())

    def _read(self, database: sqlite3.Connection) -> Iterator[Event]:
        if not self._choice.id:
            self._choice = self._choose(database)
        if not self._choice.id:
            return
        if not self._named:
            self._named = True
            yield RunInfo(name=self._choice.name)
        yield from self._configured(database)
        rows = self._news(database, "metrics", "step, timestamp, metrics", self._rows_a_poll)
        self.more = len(rows) == self._rows_a_poll
        for row, step, timestamp, document in rows:
            values = _numbers(document)
            if values is None:
                self._bad += 1
                self._first_bad = self._first_bad or f"row {row} of metrics: no JSON object"
                continue
            self._rows += 1
            yield from self._tracked.row(values, _float(step), unix_s(timestamp))
        yield from self._beside(database)

    def _choose(self, database: sqlite3.Connection) -> Choice:
        self._tables = columns_in(database)
        self._by = _key(self._tables)
        return choose(self._path, self._wanted, [(id, name) for id, name, _ in _runs(database, self._by)])

    def _configured(self, database: sqlite3.Connection) -> Iterator[Event]:
        row = database.execute(
            f"SELECT config FROM configs WHERE {self._by} = ?", (self._choice.id,)
        ).fetchone()
        text = _text(row[0]) if row else ""
        if not text or text == self._config:
            return
        self._config = text
        document = _object(text) or {}
        yield from self._tracked.configured(flattened({k: v for k, v in document.items() if k[:1] != "_"}))
        yield RunInfo(started_at=unix_s(document.get("_Created")))

    def _beside(self, database: sqlite3.Connection) -> Iterator[Event]:
        """GPU readings and the alerts that the script raised itself: tables that older versions lack."""
        samples, alerts = [], []
        if "system_metrics" in self._tables:
            samples = self._news(database, "system_metrics", "timestamp, metrics", 1000)
        if "alerts" in self._tables:
            alerts = self._news(database, "alerts", "timestamp, level, title, text", 100)
        for _, timestamp, document in samples[-1:]:
            sample = gpus_of(_numbers(document) or {}, unix_s(timestamp), "trackio")
            if sample is not None:
                yield sample
        for _, timestamp, level, title, text in alerts:
            words = f"{_text(title)}: {_text(text)}" if text else _text(title)
            kind = LEVELS.get(_text(level), "warning")
            yield LogLine.model_validate({"text": words, "level": kind, "at": unix_s(timestamp)})

    def _news(
        self, database: sqlite3.Connection, table: str, columns: str, most: int
    ) -> list[tuple[Any, ...]]:
        rows = database.execute(
            f"SELECT id, {columns} FROM {table} WHERE id > ? AND {self._by} = ? ORDER BY id LIMIT ?",
            (self._last[table], self._choice.id, most),
        ).fetchall()
        if rows:
            self._last[table] = int(rows[-1][0])
        return rows

    def _changed_status(self, reason: str) -> Iterator[SourceStatus]:
        waiting = not self._choice.id and not reason
        status = SourceStatus(
            source="trackio",
            path=str(self._path),
            state="lost" if reason else "waiting" if waiting else "reading",
            reason=reason or (self._choice.note or "no run yet" if waiting else ""),
            lines=self._rows,
            bad_lines=self._bad,
            first_bad=self._first_bad,
            notes=(self._choice.note,) if self._choice.note and not waiting else (),
        )
        if status != self._status:
            self._status = status
            yield status


def _key(tables: Mapping[str, frozenset[str]]) -> str:
    """The column that tells runs apart."""
    return "run_id" if "run_id" in tables.get("metrics", ()) else "run_name"


def _runs(database: sqlite3.Connection, by: str) -> list[tuple[Any, Any, Any]]:
    """(id, name, time of the newest row) of all runs, the newest first."""
    rows: list[tuple[Any, ...]] = database.execute(
        f"SELECT {by}, run_name, timestamp, MAX(id) FROM metrics GROUP BY {by} ORDER BY 4 DESC"
    ).fetchall()
    return [(id, name, stamp) for id, name, stamp, _ in rows]


def runs_of(path: Path) -> Sequence[Held]:
    """All runs of a database.

    Raises:
        Unreadable: it cannot be read now.
    """
    with opened(path) as database:
        rows = _runs(database, _key(columns_in(database)))
    called = calls([(str(id), str(name or "")) for id, name, _ in rows])
    return [Held(run, unix_s(stamp)) for run, (_, _, stamp) in zip(called, rows, strict=True)]


def unix_s(stamp: object) -> float | None:
    """Unix seconds of an ISO time."""
    try:
        return datetime.fromisoformat(_text(stamp)).timestamp()
    except (ValueError, OverflowError):
        return None


def _numbers(document: object) -> dict[str, float] | None:
    """The numbers of a row. JSON has no NaN: trackio writes it as a word."""
    row = _object(_text(document))
    if row is None:
        return None
    numbers = {key: _float(value) for key, value in row.items()}
    return {key: number for key, number in numbers.items() if number is not None}


def _float(value: object) -> float | None:
    if value in ("NaN", "Infinity", "-Infinity"):
        return float(cast("str", value))
    try:
        return float(value) if isinstance(value, int | float) else None
    except OverflowError:
        return None


def _object(text: str) -> dict[str, object] | None:
    try:
        value: object = from_json(text)
    except ValueError:
        return None
    return cast("dict[str, object]", value) if isinstance(value, dict) else None


def _text(value: object) -> str:
    """Text columns may hold bytes: the JSON library that trackio uses makes bytes."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value or "")


def _score(probe: Probe) -> float:
    tables = columns_of(probe.path) if probe.is_sqlite else {}
    return 1.0 if "configs" in tables and tables.get("metrics", frozenset()) >= NEEDED else 0.0


def _open(path: Path) -> Sequence[Source]:
    return [TrackioSource(path)]


def _open_run(path: Path, run: str) -> Sequence[Source]:
    source = TrackioSource(path, run)
    source.find_run()
    return [source]


TELLS = tells_of_tracker(
    steps="`step` of the row",
    total="config",
    time="`timestamp` of the row",
    gpus="system metrics; config",
    config="config",
)
FORMAT = Format(
    name="trackio database", score=_score, open=_open, open_run=_open_run, runs=runs_of, tells=TELLS
)
