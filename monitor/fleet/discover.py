"""Finds the runs below some folders: walks, then looks at what may be a log, the newest first.

Its one rule: it works in slices of time. What a slice did not get to is looked at by the next, and what has
been looked at once is looked at again only if it has grown.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..clock import Clock
from ..source import Format, Held, Probe, Unreadable
from ..sources.json_rows import FORMAT as LISTS
from ..sources.jsonl import FORMAT as JSONL
from ..sources.mlflow import FORMAT as MLFLOW
from ..sources.tensorboard import FORMAT as TENSORBOARD
from ..sources.tinker import FORMAT as TINKER
from ..sources.train_bar import FORMAT as BARS
from ..sources.train_console import FORMAT as PRINTS
from ..sources.trl import FORMAT as TRL
from ..target import LIKELY, TargetError, probe, recognise
from .frame import Scan
from .walk import Folder, Log, Walk

HEAD_BYTES = 64 * 1024
TAIL_BYTES = 32 * 1024
WORDS = ("step", "loss", "reward", "rollout", "perf", "epoch", "iter", "verl")
"""Every trainer prints one of these. Looking for them is quicker than asking each format."""
MOST_HELD = 100
"""Runs of one database, or of one experiment in files, that are shown: the newest."""
STATE = "trainer_state.json"
MLFLOW_RUN = {"meta.yaml", "metrics", "params"}
"""What an MLflow store keeps of each run."""


@dataclass(frozen=True, slots=True)
class Found:
    """A run, or one of several logs of a run."""

    path: Path
    """As `rltop PATH` takes it."""
    modified_at: float
    """Unix seconds of the newest change."""


@dataclass(frozen=True, slots=True)
class _Verdict:
    """What a look at a log gave."""

    log: Log
    form: Format | None
    held: Sequence[Held] = ()
    """The runs of a database that may hold several, the newest first."""
    state: "_State | None" = None
    """How the database was when they were seen."""


_State = tuple[tuple[int, int], ...]


class Discovery:
    """The runs below some folders. `look` goes on with the search, `again` starts it anew."""

    def __init__(self, roots: Sequence[Path], clock: Clock) -> None:
        self._roots = roots
        self._clock = clock
        self._verdicts: dict[Path, _Verdict] = {}
        self._denied: set[Path] = set()
        self._starting: dict[Path, float] = {}
        """Run folders that hold no log of steps yet, and when they were changed."""
        self._stored: defaultdict[Path, dict[Path, float]] = defaultdict(dict)
        """Likewise, by experiment, the runs in file stores of MLflow: a folder each."""
        self._scan = Scan()
        self.again()

    def again(self) -> None:
        """Walk anew, for runs that have begun since. What is known of unchanged files is kept."""
        self._walks = [Walk(root) for root in self._roots]
        self._folders = (folder for walk in self._walks for folder in walk)
        self._walked = False
        self._met: dict[Path, Log] = {}
        self._queue: list[Log] = []
        self._scan = replace(self._scan, complete=False)

    @property
    def scan(self) -> Scan:
        """How far the search has come."""
        return self._scan

    def look(self, budget_s: float) -> bool:
        """Go on for about this long, wall seconds; whether everything has been looked at."""
        until = self._clock.now() + budget_s
        while not self._walked and self._clock.now() < until:
            self._take(next(self._folders, None))
        if self._walked:
            while self._queue and self._clock.now() < until:
                log = self._queue.pop()
                self._verdicts[log.path] = self._judged(log)
        self._scan = Scan(
            files=sum(walk.files for walk in self._walks),
            folders=sum(walk.folders for walk in self._walks),
            unreadable=sum(walk.unreadable for walk in self._walks) + len(self._denied),
            waiting=len(self._queue),
            held_back=sum(max(0, count - MOST_HELD) for count in self._held_counts()),
            cut=any(walk.cut for walk in self._walks),
            complete=self._walked and not self._queue,
        )
        return self._scan.complete

    @property
    def found(self) -> list[Found]:
        """The runs found so far, the newest first."""
        folders: defaultdict[Path, list[_Verdict]] = defaultdict(list)
        for path, verdict in self._verdicts.items():
            if verdict.form is not None:
                folders[path.parent].append(verdict)
        runs = [run for path, verdicts in folders.items() for run in _runs_in(path, verdicts)]
        known = {run.path for run in runs}
        starting = dict(self._starting)
        for stored in self._stored.values():
            starting |= sorted(stored.items(), key=lambda run: -run[1])[:MOST_HELD]
        runs += [Found(path, at) for path, at in starting.items() if path not in known]
        return sorted(runs, key=lambda run: (-run.modified_at, run.path))

    def _held_counts(self) -> Iterator[int]:
        """How many runs each database and each experiment of a file store holds."""
        yield from (len(verdict.held) for verdict in self._verdicts.values())
        yield from map(len, self._stored.values())

    def _take(self, folder: Folder | None) -> None:
        """What lies in one folder; None when all have been walked through."""
        if folder is not None:
            self._met.update((log.path, log) for log in folder.logs)
            self._look_for_start(folder)
            return
        self._walked = True
        self._verdicts = {path: known for path, known in self._verdicts.items() if path in self._met}
        self._denied &= self._met.keys()
        self._queue = [log for log in self._met.values() if self._is_news(log)]
        self._queue.sort(key=lambda log: log.modified_at)  # taken from its end: the newest first

    def _is_news(self, log: Log) -> bool:
        """Whether a log was never looked at, or told nothing when there was less of it."""
        known = self._verdicts.get(log.path)
        if known is None or known.form is None:
            return known is None or log.size != known.log.size
        return known.form.runs is not None and known.state != _state_of(log.path)

    def _look_for_start(self, folder: Folder) -> None:
        """A run folder that no log of steps lies in: they are below it, or none has come yet."""
        self._starting.pop(folder.path, None)
        self._stored[folder.path.parent].pop(folder.path, None)
        names = folder.names
        saved = STATE not in names and any(name.startswith("checkpoint-") for name in names)
        form = TINKER if "config.json" in names else TRL if saved else None
        if names >= MLFLOW_RUN:
            form = MLFLOW
        if form is None:
            return
        try:
            if form.score(probe(folder.path)) >= 0.5:
                place = self._stored[folder.path.parent] if form is MLFLOW else self._starting
                place[folder.path] = folder.path.stat().st_mtime
        except (OSError, TargetError):
            return

    def _judged(self, log: Log) -> _Verdict:
        known = self._verdicts.get(log.path)
        form = known.form if known is not None else None
        form = form or self._recognised(log.path)
        if form is None or form.runs is None:
            return _Verdict(log, form)
        state = _state_of(log.path)
        try:
            return _Verdict(log, form, form.runs(log.path), state)
        except Unreadable:  # held by its writer: asked again with the next walk
            return _Verdict(log, form, known.held if known is not None else ())

    def _recognised(self, path: Path) -> Format | None:
        try:
            seen = probe(path, HEAD_BYTES, TAIL_BYTES)
            form, score = recognise(seen) if _may_tell(seen) else (None, 0.0)
        except TargetError:
            self._denied.add(path)
            return None
        self._denied.discard(path)
        return form if score >= LIKELY else None


def _runs_in(folder: Path, verdicts: Sequence[_Verdict]) -> Iterator[Found]:
    """Logs of one folder as runs: the folder where a reader takes several files, single files otherwise."""
    told = [verdict.log for verdict in verdicts if verdict.form is TINKER]
    whole = [v.log for v in verdicts if v.form is TENSORBOARD or v.log.path.name == STATE]
    if len(told) == 1 or whole:
        yield Found(folder, max(verdict.log.modified_at for verdict in verdicts))
    for verdict in verdicts:
        log = verdict.log
        if verdict.form is not None and verdict.form.runs is not None:
            for run, modified_at in verdict.held[:MOST_HELD]:
                yield Found(Path(f"{log.path}#{run}"), modified_at or log.modified_at)
            continue
        if log in whole or (len(told) == 1 and verdict.form in (TINKER, JSONL, LISTS, PRINTS, BARS)):
            continue  # part of the folder; beside the metrics of a Tinker run lie lists of other things
        yield Found(log.path, log.modified_at)


def _state_of(path: Path) -> _State:
    """What changes when a database does. What was written last may lie in a file beside it."""
    state: list[tuple[int, int]] = []
    for name in (path, Path(f"{path}-wal")):
        try:
            about = name.stat()
        except OSError:
            continue
        state.append((about.st_mtime_ns, about.st_size))
    return tuple(state)


def _may_tell(seen: Probe) -> bool:
    """Whether a file may be of a run: not text without a single word of a trainer's."""
    if b"\0" in seen.magic:
        return True
    text = f"{seen.head}{seen.tail}".lower()
    return any(word in text for word in WORDS)
