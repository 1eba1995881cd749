"""MLflow on this machine: its SQLite store and its file store. Read at version 3.17.

Both are several runs in one place: the target alone is the newest run, `TARGET#NAME` the one of that name or
id. The readers are in mlflow_db.py and mlflow_files.py; what rows and parameters mean is here.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ...models.event import Ended, Event, LogLine
from ...models.run import ConfigValue, RunInfo
from ..source import Format, Held, Probe, Source
from ..tells import tells_of_tracker
from .sqlitefile import columns_of
from .tracked import TrackedRun
from .trackergpus import gpus_of

if TYPE_CHECKING:
    from .mlflow_db import MlflowDatabase
    from .mlflow_files import MlflowFiles

TABLES = frozenset({"metrics", "params", "runs", "experiments", "latest_metrics"})
META = "meta.yaml"
SYSTEM = "system/"
"""Readings of the machine, which have a step count of their own."""
ENDED = {
    "FINISHED": "finished",
    "3": "finished",
    "FAILED": "crashed",
    "4": "crashed",
    "KILLED": "crashed",
    "5": "crashed",
}


class MlflowRun:
    """Makes events of what a store holds of one run."""

    def __init__(self) -> None:
        self._tracked = TrackedRun()
        self._params: dict[str, str] = {}
        self._status = ""

    def step(self, step: int, at: float, values: Mapping[str, float]) -> Iterator[Event]:
        """The events of the values of one step, the newest logged `at` (unix s)."""
        machine = {key: value for key, value in values.items() if key.startswith(SYSTEM)}
        train = {key: value for key, value in values.items() if key not in machine}
        if train:
            yield from self._tracked.row(train, step, at)
        sample = gpus_of(machine, at, "mlflow")
        if sample is not None:
            yield sample

    def told(self, params: Mapping[str, str]) -> Iterator[Event]:
        """The events of the parameters, of which only new ones count."""
        if params == self._params:
            return
        self._params = dict(params)
        # veRL joins the names of nested parameters by slashes, Hydra and we by dots.
        yield from self._tracked.configured(
            {name.replace("/", "."): scalar(text) for name, text in params.items()}
        )

    def stands(
        self, name: str, status: str, started_at: float | None, ended_at: float | None
    ) -> Iterator[Event]:
        """The events of the run's own record; times in unix seconds."""
        if status == self._status:
            return
        if not self._status:
            yield RunInfo(name=name or None, started_at=started_at)
        self._status = status
        end = ENDED.get(status)
        if end == "finished" and self._tracked.short:
            # A trainer's crash may end the `with` block of the run in good order.
            words = f"MLflow calls the run finished, but it is at {self._tracked.short}"
            yield LogLine(text=words, level="warning", at=ended_at)
        if end == "finished":
            yield Ended(status="finished", at=ended_at, message="MLflow: finished")
        elif end == "crashed":
            yield Ended(status="crashed", at=ended_at, message=f"MLflow: {status.lower()}")

    def flush(self) -> Iterable[Event]:
        """Rows whose framework was never known."""
        return self._tracked.flush()


def scalar(text: str) -> ConfigValue:
    """The value of a parameter, which MLflow keeps as text."""
    if text in ("True", "true", "False", "false"):
        return text in ("True", "true")
    if text in ("None", "null"):
        return None
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def run_folders(path: Path) -> list[Path]:
    """The runs of a file store, newest first: `path` is a run, an experiment, or the store."""
    if _is_run(path):
        return [path]
    runs: list[Path] = []
    for folder in (path, *_folders(path)):
        runs += [inner for inner in _folders(folder) if _is_run(inner)]
    return sorted(runs, key=_changed_at, reverse=True)


def _is_run(path: Path) -> bool:
    return (path / META).is_file() and (path / "metrics").is_dir()


def _folders(path: Path) -> list[Path]:
    try:
        entries = sorted(os.scandir(path), key=lambda entry: entry.name)
    except OSError:
        return []
    return [Path(entry.path) for entry in entries if entry.is_dir() and not entry.name.startswith(".")]


def _changed_at(run: Path) -> float:
    """When something was last logged: the folders of a run change when a metric is new, its files always."""
    times = [0.0]
    for folder, _, names in os.walk(run / "metrics"):
        for name in (".", *names):
            try:
                times.append(os.stat(os.path.join(folder, name)).st_mtime)
            except OSError:
                continue
    return max(times)


def _score(probe: Probe) -> float:
    if probe.is_dir:
        if META in probe.names and "metrics" in probe.names:
            return 0.95
        likely = META in probe.names or probe.path.name == "mlruns"
        return 0.7 if likely and run_folders(probe.path) else 0.0
    return 1.0 if probe.is_sqlite and columns_of(probe.path).keys() >= TABLES else 0.0


def _open(path: Path) -> Sequence[Source]:
    return [_store(path, "")]


def _open_run(path: Path, run: str) -> Sequence[Source]:
    store = _store(path, run)
    store.find_run()
    return [store]


def _runs(path: Path) -> Sequence[Held]:
    if path.is_dir():  # its runs are folders, which are found as such
        return ()
    from .mlflow_db import runs_of

    return runs_of(path)


def _store(path: Path, run: str) -> "MlflowFiles | MlflowDatabase":
    if path.is_dir():
        from .mlflow_files import MlflowFiles

        return MlflowFiles(path, run)
    from .mlflow_db import MlflowDatabase

    return MlflowDatabase(path, run)


TELLS = tells_of_tracker(
    steps="`step` of the metric",
    total="parameters",
    time="`timestamp` of the metric",
    gpus="system metrics; parameters",
    config="parameters",
    state="status, doubted where steps are missing",
)
FORMAT = Format(name="MLflow store", score=_score, open=_open, open_run=_open_run, runs=_runs, tells=TELLS)
