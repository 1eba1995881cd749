"""MLflow's SQLite store: a row for each metric of each step."""

import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ...models.event import Event, SourceStatus
from ..source import Held
from .mlflow import MlflowRun
from .several import Choice, calls, choose
from .sqlitefile import found, opened, polled

ROWS_A_POLL = 100_000
Number = int | float
_ACTIVE = "FROM runs WHERE lifecycle_stage = 'active' ORDER BY start_time DESC"


class MlflowDatabase:
    """Follows one run of a store."""

    def __init__(self, path: Path, run: str = "", rows_a_poll: int = ROWS_A_POLL) -> None:
        self.more = False
        self._path = path
        self._wanted = run
        self._rows_a_poll = rows_a_poll
        self._choice = Choice()
        self._run = MlflowRun()
        self._last = 0
        """Newest row of `metrics` that was read: its key is of many columns, but SQLite numbers rows too."""
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
            Unreadable: it is not there, or the store cannot be read now.
        """
        self._choice = found(self._path, self._choose)

    def close(self) -> list[Event]:
        """Rows whose framework was never known."""
        return list(self._run.flush())

    def _read(self, database: sqlite3.Connection) -> Iterator[Event]:
        if not self._choice.id:
            self._choice = self._choose(database)
        if not self._choice.id:
            return
        params = database.execute("SELECT key, value FROM params WHERE run_uuid = ?", (self._choice.id,))
        yield from self._run.told({str(key): str(value) for key, value in params})
        yield from self._steps(database)
        if not self.more:
            yield from self._record(database)

    def _choose(self, database: sqlite3.Connection) -> Choice:
        runs: list[tuple[Any, Any]] = database.execute(f"SELECT run_uuid, name {_ACTIVE}").fetchall()
        return choose(self._path, self._wanted, runs)

    def _steps(self, database: sqlite3.Connection) -> Iterator[Event]:
        """What was logged of one step in one go comes in one transaction, hence whole."""
        rows = database.execute(
            "SELECT rowid, step, timestamp, key, value, is_nan FROM metrics"
            " WHERE run_uuid = ? AND rowid > ? ORDER BY rowid LIMIT ?",
            (self._choice.id, self._last, self._rows_a_poll),
        ).fetchall()
        self.more = len(rows) == self._rows_a_poll
        if self.more:
            # The last step may be cut by the limit: it waits for the next poll, unless it is all there is.
            cut = next((i for i in range(len(rows) - 1, 0, -1) if rows[i][1] != rows[-1][1]), None)
            rows = rows[: cut + 1] if cut is not None else rows
        values: dict[str, float] = {}
        step, at = 0, 0.0
        for row, number, timestamp, key, value, is_nan in rows:
            self._last = row
            if not (isinstance(number, int) and isinstance(timestamp, Number) and isinstance(value, Number)):
                self._bad += 1  # SQLite puts anything into a column
                self._first_bad = self._first_bad or f"row {row} of metrics: not numbers"
                continue
            if values and (number != step or str(key) in values):
                yield from self._run.step(step, at, values)
                values = {}
            step, at = number, timestamp / 1000
            values[str(key)] = float("nan") if is_nan else _infinite(float(value))
        if values:
            yield from self._run.step(step, at, values)
        self._rows += len(rows)

    def _record(self, database: sqlite3.Connection) -> Iterator[Event]:
        row = database.execute(
            "SELECT name, status, start_time, end_time FROM runs WHERE run_uuid = ?", (self._choice.id,)
        ).fetchone()
        if row is not None:
            name, status, start, end = row
            yield from self._run.stands(str(name or ""), str(status), _seconds(start), _seconds(end))

    def _changed_status(self, reason: str) -> Iterator[SourceStatus]:
        waiting = not self._choice.id and not reason
        status = SourceStatus(
            source="mlflow",
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


def runs_of(path: Path) -> Sequence[Held]:
    """All runs of a store.

    Raises:
        Unreadable: it cannot be read now.
    """
    newest = "SELECT MAX(timestamp) FROM latest_metrics AS told WHERE told.run_uuid = runs.run_uuid"
    with opened(path) as database:
        rows: list[tuple[Any, Any, Any]] = database.execute(
            f"SELECT run_uuid, name, COALESCE(({newest}), start_time) {_ACTIVE}"
        ).fetchall()
    called = calls([(str(id), str(name or "")) for id, name, _ in rows])
    return [Held(run, _seconds(at)) for run, (_, _, at) in zip(called, rows, strict=True)]


def _infinite(value: float) -> float:
    """MLflow writes infinities as the largest float, which databases can hold."""
    return value if abs(value) < 1.7976931348623157e308 else float("inf") * value


def _seconds(milliseconds: object) -> float | None:
    return milliseconds / 1000 if isinstance(milliseconds, int | float) else None
