"""One run of a fleet: opened, read, followed as closely as it moves, and let go of once it is over.

Its one rule: a look is bounded. A run that fails in any way is a row that says so, and the others go on.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from ...models.fleet import FleetRow
from ..frame import Frame
from ..session import Session
from ..target import TargetError, run_in
from .row import row_of
from .stamp import Stamps
from .twins import Print, print_of

MOVING_S, SILENT_S, OVER_S = 2.0, 10.0, 30.0
"""Pauses between looks at a run that goes on, at one that is silent, and at whether an ended one went on."""
WAITING_S = 0.05
"""A source that asks over the network, or reads several logs before it tells, is asked again after this."""
REFRESH_S = 10.0
"""With nothing new, the figures that depend on the time alone are made anew this often."""
NEWS_S = 1.0
"""Shortest time between two new lines of one run."""
SETTLED_S = 60.0
"""A run at its last step may still write, so long after it."""

Open = Callable[[Sequence[str], bool], Session]
"""Opens the run that some targets tell of; whether the user has said that they are of one."""


class FleetRun:
    """A run by its targets. `due_at` (unix s) says when it wants to be looked at."""

    def __init__(
        self,
        targets: Sequence[str],
        open_: Open,
        said: bool = True,
        row: FleetRow | None = None,
        stamps: Stamps | None = None,
    ) -> None:
        self.targets = tuple(targets)
        self.row = row or FleetRow(id=targets[0], name=_called(targets[0]), also=tuple(targets[1:]))
        self.print: Print = frozenset()
        """The fingerprint of what was there when it had been read once."""
        self.path = os.path.realpath(targets[0])
        place, held = run_in(Path(targets[0]))
        self.store = os.path.realpath(place) if held else ""
        """The database that it is one of the runs of."""
        self.told_at: float | None = None
        """Unix seconds of its newest row in the database, as far as others have seen."""
        self.stamp: str | None = None
        """Of a run that is over: how the files are that its line was made of."""
        self.tell: Callable[[Frame], None] | None = None
        """Takes the frames of a run that has been seen going on."""
        self.apart: set[str] = set()
        """Paths of runs that look like it, and turned out to be others."""
        self.due_at = float("-inf")
        self.read = False
        """Everything that was there has been read once."""
        self._open = open_
        self._said = said
        self._stamps = stamps
        self._session: Session | None = None
        self._pace = 1.0
        self._made_at = float("-inf")
        self._goes_on = False
        self._stale = False
        self._over_at: float | None = None

    @property
    def id(self) -> str:
        """The target that opens it."""
        return self.targets[0]

    def look(self, now: float, pace: float = 1.0) -> bool:
        """Read a bounded amount, and say when to come again; whether the row has changed.

        `pace` is how many times as long as alone it is to wait among many that go on.
        """
        self._pace = pace
        before = self.row
        try:
            self._look(now)
        except TargetError as error:
            self._fail(str(error), now)
        except Exception as error:  # noqa: BLE001 - one run that cannot be read must not end all others
            self._fail(f"{self.id}: {(str(error) or type(error).__name__).splitlines()[0]}", now)
        return self.row is not before

    def end(self, now: float) -> None:
        """Take what there is as all there will be: what a log's last lines prove is known only now."""
        if self._session is not None:
            self._let_go(self._session, now)

    def restore(self, row: FleetRow, found: Print, apart: Iterable[str], stamp: str, now: float) -> None:
        """Take a line that was kept of it as read: the run is over, and its files are as they were."""
        self.row, self.print, self.stamp = row, found, stamp
        self.apart.update(apart)
        self.read = True
        self._over_at = self._changed_at()
        self.due_at = now + OVER_S

    def look_again(self) -> None:
        """Make the line anew at once, with nothing new too."""
        self._stale, self.due_at = True, float("-inf")

    def close(self) -> None:
        """Let go of all files."""
        if self._session is not None:
            self._session.end()
            self._session = None

    def _look(self, now: float) -> None:
        if self._session is None:
            if self._over_at is not None and not self._has_grown():
                self.due_at = now + OVER_S
                return
            self.stamp = None
            self.apart.clear()
            self._session = self._open(self.targets, self._said)
        looked = self._session.look()
        if looked in ("more", "waiting"):
            self.due_at = now if looked == "more" else now + WAITING_S
            return
        self._stale |= looked == "news" or not self.read
        since_s = now - self._made_at
        due = (
            since_s >= NEWS_S
            if self._stale
            else since_s >= REFRESH_S * self._pace and self.row.state == "running"
        )
        if due or not self.read:
            self._bring_up_to_date(self._session, now)
        self.read = True
        moving = self.row.state == "running"
        self.due_at = now + self._pace * (MOVING_S if moving or self._stale else SILENT_S)
        if self._is_over(self._session, now):
            self._let_go(self._session, now)

    def _bring_up_to_date(self, session: Session, now: float) -> None:
        frame = session.pipeline.frame(now)
        self._take(frame)
        self._made_at, self._stale = now, False
        if not self.read:
            self.print = print_of(frame.state.history)

    def _take(self, frame: Frame) -> None:
        self.row = row_of(self.row, frame)
        self._goes_on |= frame.status == "running"
        if self.tell is not None and self._goes_on:
            self.tell(frame)

    def _is_over(self, session: Session, now: float) -> bool:
        ended = self.row.state in ("finished", "crashed")
        silent_s = now - (self.row.modified_at or 0.0)
        return bool(self.row.step) and ((ended and silent_s > SETTLED_S) or session.over(now))

    def _let_go(self, session: Session, now: float) -> None:
        """The run has ended: its last line stays, and what it takes of memory and files does not."""
        self.stamp = self._whole(session, now)
        self._session = None
        self._take(session.end())
        self._over_at = self._changed_at()
        self.due_at = now + OVER_S

    def _whole(self, session: Session, now: float) -> str | None:
        """The stamp of the files, where everything in them has been read by then."""
        if self._stamps is None:
            return None
        targets = (self.id, *(os.path.abspath(target) for target in self.targets[1:]))
        stamp = self._stamps.of(targets, self.row.sources, now)
        return stamp if stamp is not None and session.look() == "nothing" else None

    def _has_grown(self) -> bool:
        """Whether a run that had ended has been written to since: resumed into the same log."""
        return self._changed_at() > (self._over_at or 0.0)

    def _changed_at(self) -> float:
        if self.told_at is not None:
            return self.told_at  # the database changes with every run in it
        return max([_changed_at(path) for path in self.row.sources], default=0.0)

    def _fail(self, problem: str, now: float) -> None:
        self._session = None
        self.read = True
        self.row = self.row.model_copy(update={"state": "unreadable", "problem": problem})
        self.due_at = now + OVER_S


def _called(target: str) -> str:
    """A name until the run tells its own: the end of its path."""
    path = Path(target)
    name = (
        path.parent.name
        if path.name in ("train.log", "console.log", "output.log", "metrics.jsonl")
        else path.name
    )
    return name or target


def _changed_at(path: str) -> float:
    try:
        return Path(path).stat().st_mtime
    except OSError:
        return 0.0
