"""A Tinker run as one source: its metrics with the files beside them.

The one rule is the order of reading: the config first, because the metrics need its token cap; then all
metrics that there are; then checkpoints and logs, because what they say of an end depends on the steps.
"""

import os
from collections.abc import Callable, Sequence
from pathlib import Path

from ....models.event import Event
from ....models.run import RunInfo
from ...filesource import FileSource
from ...source import Parser, Source
from ...transport import open_transport
from .checkpoints import CheckpointParser
from .config import ConfigFile
from .facts import RunFacts
from .logs import LogParser
from .metrics import MetricsParser
from .recognise import metrics_in
from .resumes import Resumes
from .rollouts import Rollouts

POLL_BYTES = 1024 * 1024
"""Some 400 rows. Each may have a file of rollouts to read, so that a poll takes less than by default."""


def open_run(path: Path) -> Sequence[Source]:
    """The source of a run: of a run folder, or of a metrics file and what lies beside it."""
    if not path.is_dir():
        return [TinkerRun(path)]
    try:
        names = sorted(os.listdir(path))
    except OSError:
        names = []
    return [TinkerRun(metrics_in(path, names) or path / "metrics.jsonl")]


class TinkerRun:
    """One run, read from its metrics file and its neighbours."""

    def __init__(self, metrics: Path) -> None:
        folder = metrics.parent
        facts = RunFacts()
        self._named = False
        self._name = folder.resolve().name if metrics.name.startswith("metrics.jsonl") else metrics.stem
        self._config = ConfigFile(folder / "config.json", facts)
        self._parser = MetricsParser(facts, Rollouts(folder), Resumes(metrics))
        self._metrics = FileSource(open_transport(metrics), self._parser, POLL_BYTES)
        self._beside = (
            Neighbour(folder / "checkpoints.jsonl", lambda: CheckpointParser(facts)),
            Neighbour(folder / "logs.log", lambda: LogParser(facts)),
        )

    @property
    def more(self) -> bool:
        """Whether more lies waiting already."""
        return self._metrics.more or any(file.more for file in self._beside)

    def poll(self, now: float) -> list[Event]:
        """Everything new, in the order that the files depend on each other."""
        events: list[Event] = []
        if not self._named:
            self._named = True
            events.append(RunInfo(framework="tinker", platform="tinker", name=self._name or None))
        events.extend(self._config.poll())
        events.extend(self._metrics.poll(now))
        events.extend(self._parser.late())
        if not self._metrics.more:
            for file in self._beside:
                events.extend(file.poll(now))
        return events

    def close(self) -> list[Event]:
        """What the files had held back."""
        events = self._metrics.close()
        for file in self._beside:
            events.extend(file.close())
        return events


class Neighbour:
    """A file beside the metrics that need not be there: read from when it is."""

    def __init__(self, path: Path, parser: Callable[[], Parser]) -> None:
        self._path = path
        self._parser = parser
        self._source: FileSource | None = None

    @property
    def more(self) -> bool:
        """Whether more lies waiting already."""
        return self._source is not None and self._source.more

    def poll(self, now: float) -> list[Event]:
        """Events since the last call; none while the file is not there."""
        if self._source is None:
            if not self._path.is_file():
                return []
            self._source = FileSource(open_transport(self._path), self._parser())
        return self._source.poll(now)

    def close(self) -> list[Event]:
        """What was held back."""
        return self._source.close() if self._source is not None else []
