"""Databases of experiment trackers, laid out as those lay them out."""

import json
import sqlite3
from collections.abc import Mapping
from pathlib import Path


class Trackio:
    """A database as trackio 0.43 lays it out."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.database = sqlite3.connect(path)
        self.database.executescript(
            "CREATE TABLE metrics (id INTEGER PRIMARY KEY AUTOINCREMENT, run_id TEXT, timestamp TEXT,"
            " run_name TEXT, step INTEGER, metrics TEXT);"
            "CREATE TABLE system_metrics (id INTEGER PRIMARY KEY AUTOINCREMENT, run_id TEXT, timestamp TEXT,"
            " run_name TEXT, metrics TEXT);"
            "CREATE TABLE configs (id INTEGER PRIMARY KEY AUTOINCREMENT, run_id TEXT, run_name TEXT,"
            " config TEXT, created_at TEXT);"
            "CREATE TABLE alerts (id INTEGER PRIMARY KEY AUTOINCREMENT, run_id TEXT, timestamp TEXT,"
            " run_name TEXT, title TEXT, text TEXT, level TEXT);"
        )

    def log(self, run: str, step: int, row: object) -> None:
        document = json.dumps(row).encode()
        stamp = f"2026-11-29T19:{step % 60:02}:00+00:00"
        self.database.execute(
            "INSERT INTO metrics (run_id, timestamp, run_name, step, metrics) VALUES (?, ?, ?, ?, ?)",
            (run, stamp, run, step, document),
        )
        self.database.commit()

    def log_many(self, runs: int, row: object) -> None:
        """One row of each of so many runs, `r0` the oldest."""
        document = json.dumps(row).encode()
        self.database.executemany(
            "INSERT INTO metrics (run_id, timestamp, run_name, step, metrics) VALUES (?, ?, ?, 1, ?)",
            [
                (f"r{n}", f"2026-11-29T{n // 60:02}:{n % 60:02}:00+00:00", f"r{n}", document)
                for n in range(runs)
            ],
        )
        self.database.commit()

    def configure(self, run: str, config: Mapping[str, object]) -> None:
        self.database.execute(
            "INSERT INTO configs (run_id, run_name, config) VALUES (?, ?, ?)", (run, run, json.dumps(config))
        )
        self.database.commit()


class Mlflow:
    """A SQLite store as MLflow 3.17 lays it out."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.database = sqlite3.connect(path)
        self.database.executescript(
            "CREATE TABLE runs (run_uuid TEXT PRIMARY KEY, name TEXT, status TEXT, start_time BIGINT,"
            " end_time BIGINT, lifecycle_stage TEXT);"
            "CREATE TABLE metrics (key TEXT, value FLOAT, timestamp BIGINT, run_uuid TEXT, step BIGINT,"
            " is_nan BOOLEAN, PRIMARY KEY (key, timestamp, step, run_uuid, value, is_nan));"
            "CREATE TABLE latest_metrics (key TEXT, value FLOAT, timestamp BIGINT, step BIGINT,"
            " is_nan BOOLEAN, run_uuid TEXT, PRIMARY KEY (key, run_uuid));"
            "CREATE TABLE experiments (name TEXT);"
            "CREATE TABLE params (key TEXT, value TEXT, run_uuid TEXT);"
        )

    def start(self, run: str, at: int, params: Mapping[str, str] = {}) -> None:
        row = (run, f"name-{run}", at * 1000)
        self.database.execute("INSERT INTO runs VALUES (?, ?, 'RUNNING', ?, NULL, 'active')", row)
        self.database.executemany(
            "INSERT INTO params VALUES (?, ?, ?)", [(k, v, run) for k, v in params.items()]
        )
        self.database.commit()

    def log(self, run: str, step: int, row: Mapping[str, float]) -> None:
        self.database.executemany(
            "INSERT INTO metrics VALUES (?, ?, ?, ?, ?, ?)",
            [
                (key, 0.0 if value != value else value, 1_795_980_000_000 + step, run, step, value != value)
                for key, value in row.items()
            ],
        )
        self.database.executemany(
            "INSERT OR REPLACE INTO latest_metrics VALUES (?, 0, ?, ?, 0, ?)",
            [(key, 1_795_980_000_000 + step, step, run) for key in row],
        )
        self.database.commit()

    def end(self, run: str, status: str) -> None:
        self.database.execute("UPDATE runs SET status = ?, end_time = 5000 WHERE run_uuid = ?", (status, run))
        self.database.commit()
