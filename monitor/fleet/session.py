"""Follows many runs at once: finds them, reads one after another, the newest first, and adds them up.

Its one rule: a turn takes a bounded time, whatever there is to do. A run that is over is read once; one that
is silent is looked at seldom; what turns out to be one run in two logs becomes one line.
"""

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from ...models.fleet import FleetRow
from ..clock import Clock
from ..frame import Frame
from ..session import in_thread
from .discover import Discovery
from .frame import FleetFrame, Scan
from .kept import Kept, KeptRows
from .run import FleetRun, Open
from .totals import totals_of
from .twins import Twins

TURN_S = 0.15
"""Work between two looks at the screen."""
SEARCH_S = 0.05
REST_S, BUSY_REST_S = 0.5, 0.02
"""Pauses between turns: with nothing to do, and while there is."""
SHOW_S = 0.25
"""Shortest time between two frames."""
TICK_S = 5.0
"""With nothing new, a frame is made this often."""
SEARCH_AGAIN_S = 30.0
FULL_PACE = 25
"""Runs that can go on at once before each is looked at less often, so that many cost no more than these."""


class FleetSession:
    """The runs that the user has named, and those below some folders or in some databases."""

    def __init__(
        self,
        open_: Open,
        clock: Clock,
        *,
        named: Sequence[str] = (),
        roots: Sequence[Path] = (),
        budget_usd: float | None = None,
        kept: KeptRows | None = None,
        tell: Callable[[str, Frame], None] | None = None,
    ) -> None:
        """`kept` are the lines of runs that were over when they were last read; `tell` takes frames of runs
        that go on, each with the target of its run."""
        self._open = open_
        self._clock = clock
        self._roots = roots
        self._budget_usd = budget_usd
        self._discovery = Discovery(roots, clock) if roots else None
        self._search_at = float("-inf")
        self._scan: Scan | None = Scan() if roots else None
        self._kept = kept
        self._tell = tell
        self._untold: set[FleetRun] = set()
        """Runs that go on, of which nothing was told yet: it was not known which logs are of one run."""
        self._runs = {target: self._run([target]) for target in dict.fromkeys(named)}
        self._asked: set[str] = set()
        """Targets that a line was looked for of."""
        self._twins = Twins()
        self._suspected: list[tuple[str, str]] = []
        """Pairs of runs to be read together, to see whether they are one."""
        self._trial: FleetRun | None = None
        self._absorbed: set[str] = set()
        """Targets, in full, that turned out to be logs of a run with another name."""
        self._changed = True
        self._pace = 1.0

    async def run(self, publish: Callable[[FleetFrame], None]) -> None:
        """Publish a frame whenever a row has changed, until cancelled."""
        published_at = float("-inf")
        try:
            while True:
                busy = await in_thread(self.turn)
                now = self._clock.now()
                since_s = now - published_at
                if (self._changed and since_s >= SHOW_S) or since_s >= TICK_S:
                    publish(self.frame(now))
                    published_at = now
                await self._clock.sleep(BUSY_REST_S if busy else REST_S)
        finally:
            for run in self._runs.values():
                run.close()

    def turn(self) -> bool:
        """Work for a bounded time; whether there is more to do at once."""
        until = self._clock.now() + TURN_S
        searching = self._search()
        following = sum(run.row.state not in ("finished", "crashed") for run in self._runs.values())
        self._pace = max(1.0, following / FULL_PACE)
        if not self._take_kept(until):
            return True
        while True:
            now = self._clock.now()
            run = self._next(now)
            if run is None:
                return searching
            self._look(run, now)
            if self._clock.now() >= until:
                return True

    def read_all(self) -> FleetFrame:
        """Read everything that is there, take it as all there will be, and give the one frame of it."""
        while self.turn() or not all(run.read for run in self._runs.values()):
            pass
        for run in self._runs.values():
            run.end(self._clock.now())
        return self.frame(self._clock.now())

    def frame(self, now: float) -> FleetFrame:
        """All runs as they stand."""
        self._changed = False
        rows = sorted((run.row for run in self._runs.values()), key=_by_age)
        return FleetFrame(
            now=now,
            rows=tuple(rows),
            totals=totals_of(rows, self._budget_usd),
            scan=self._scan,
            roots=tuple(_called(root) for root in self._roots),
        )

    def _search(self) -> bool:
        """Go on looking for runs; whether the search is under way."""
        discovery, now = self._discovery, self._clock.now()
        if discovery is None or now < self._search_at:
            return False
        complete = discovery.look(SEARCH_S)
        for found in discovery.found:
            target = str(found.path)
            run = self._runs.get(target)
            if run is not None and run.store:
                run.told_at = found.modified_at
            if target not in self._runs and os.path.abspath(target) not in self._absorbed:
                self._add(target, found.modified_at)
        if complete or self._scan is None or not self._scan.complete:
            self._changed = True
            self._scan = discovery.scan  # of a further search, what counts is where it ends
        if complete:
            discovery.again()
            self._search_at = now + SEARCH_AGAIN_S
        return not complete

    def _add(self, target: str, modified_at: float) -> None:
        run = self._run([target])
        folders = (root if root.is_dir() else root.parent for root in self._roots)
        place = next(
            (os.path.relpath(target, folder) for folder in folders if Path(target).is_relative_to(folder)),
            target,
        )
        run.row = run.row.model_copy(update={"modified_at": modified_at, "place": place})
        run.told_at = modified_at if run.store else None
        self._runs[target] = run
        self._changed = True

    def _run(self, targets: Sequence[str], said: bool = True, row: FleetRow | None = None) -> FleetRun:
        stamps = self._kept.stamps if self._kept is not None else None
        run = FleetRun(targets, self._open, said, row, stamps)
        if self._tell is not None:
            run.tell = partial(self._pass_on, run)
        return run

    def _pass_on(self, run: FleetRun, frame: Frame) -> None:
        """Tell of a run, once it is known that no other line is of the same one."""
        if self._tell is None or self._runs.get(run.id) is not run:
            return
        if self._is_settled():
            self._tell(run.id, frame)
        else:
            self._untold.add(run)

    def _is_settled(self) -> bool:
        return self._trial is None and not self._suspected and all(run.read for run in self._runs.values())

    def _next(self, now: float) -> FleetRun | None:
        """The run to look at now: one not read yet, the newest first; else the one most overdue."""
        unread = [run for run in self._runs.values() if not run.read and run.due_at <= now]
        if unread:
            return min(unread, key=lambda run: (run.due_at == float("-inf"), _by_age(run.row)))
        while self._trial is None and self._suspected:
            self._try_next()
        if self._trial is not None:
            return self._trial
        due = [run for run in self._runs.values() if run.due_at <= now]
        return min(due, key=lambda run: run.due_at, default=None)

    def _look(self, run: FleetRun, now: float) -> None:
        was_read, stamp = run.read, run.stamp
        changed = run.look(now, self._pace)
        if run is self._trial:
            if run.read:
                self._decide(run)
            return
        self._changed |= changed
        if run.read and not was_read:
            self._compare(run)
        if run.stamp is not None and stamp is None:
            self._keep(run)
        if self._untold and self._is_settled():
            for untold in self._untold:
                untold.look_again()
            self._untold.clear()

    # Runs that were over when they were last read

    def _take_kept(self, until: float) -> bool:
        """Look for what was kept of runs that are new here, the newest first; whether there was time for all.

        That comes before any of them is read: one may turn out to be among the logs of another.
        """
        if self._kept is None:
            return True
        unasked = [run for run in self._runs.values() if not run.read and run.id not in self._asked]
        for run in sorted(unasked, key=lambda run: _by_age(run.row)):
            if self._clock.now() >= until:
                return False
            self._asked.add(run.id)
            kept = self._kept.get(run.id) if self._runs.get(run.id) is run else None
            if kept is not None:
                self._restore(run, kept, self._clock.now())
        return True

    def _restore(self, run: FleetRun, kept: Kept, now: float) -> None:
        """Take what was kept of a run as read."""
        again = self._run(kept.targets, said=len(kept.targets) == 1)
        again.told_at = run.told_at
        row = kept.row.model_copy(update={"place": run.row.place, "also": kept.targets[1:]})
        again.restore(row, frozenset(kept.print), kept.apart, kept.stamp, now)
        self._runs[run.id] = again
        others = {os.path.realpath(target) for target in kept.targets[1:]}
        self._absorbed.update(map(os.path.abspath, kept.targets[1:]))
        for other in [other for other in self._runs.values() if other.path in others]:
            self._drop(other)
        self._compare(again)
        self._changed = True

    def _keep(self, run: FleetRun) -> None:
        """Keep the line of a run that is over."""
        if self._kept is None or run.stamp is None or self._runs.get(run.id) is not run:
            return
        others = (os.path.abspath(target) for target in run.targets[1:])
        self._kept.put(
            Kept(
                targets=(run.id, *others),
                stamp=run.stamp,
                row=run.row,
                print=tuple(sorted(run.print)),
                apart=tuple(sorted(run.apart)),
            )
        )

    # One run in two logs

    def _compare(self, run: FleetRun) -> None:
        """A run has been read: drop what it has read too, and suspect what has the same numbers."""
        mine = {os.path.realpath(source) for source in run.row.sources} - {run.store}
        for other in list(self._runs.values()):
            if other is not run and other.path in mine - {run.path}:
                self._drop(other)
        if run.id in self._runs:
            for other in self._twins.add(run.id, run.print):
                twin = self._runs.get(other)
                if twin is None or (run.store and run.store == twin.store):
                    continue  # in one database two are two
                if not self._are_apart(run, twin):
                    self._suspected.append((run.id, other))

    def _are_apart(self, one: FleetRun, other: FleetRun) -> bool:
        """Whether both were read together before, as they are now, and turned out to be two."""
        return other.path in one.apart and one.path in other.apart

    def _try_next(self) -> None:
        """Open the next pair of logs together."""
        one, other = (self._runs.get(id) for id in self._suspected.pop(0))
        if one is None or other is None or one is other:
            return
        first, second = sorted((one, other), key=lambda run: (-(run.row.step or 0), len(run.id), run.id))
        row = first.row.model_copy(update={"also": (*first.targets[1:], *second.targets)})
        self._trial = self._run([*first.targets, *second.targets], said=False, row=row)

    def _decide(self, trial: FleetRun) -> None:
        """Take two runs for one if their logs were joined when they were read together."""
        self._trial = None
        first = self._runs.get(trial.id)
        other = next(
            (run for run in self._runs.values() if run is not first and run.id in trial.targets), None
        )
        joined = other is not None and first is not None and set(other.row.sources) <= set(trial.row.sources)
        if not joined or other is None or first is None:
            trial.close()
            if other is not None and first is not None and first.stamp and other.stamp:
                first.apart.add(other.path)
                other.apart.add(first.path)
                self._keep(first)
                self._keep(other)
            return
        first.close()
        self._runs[trial.id] = trial
        self._drop(other)
        self._keep(trial)

    def _drop(self, run: FleetRun) -> None:
        """A run is part of another."""
        run.close()
        self._absorbed.update(map(os.path.abspath, run.targets))
        if self._kept is not None:
            self._kept.forget(run.id)
        self._runs.pop(run.id, None)
        self._twins.remove(run.id)
        self._changed = True


def _by_age(row: FleetRow) -> tuple[float, str]:
    """The newest first."""
    return (-(row.modified_at or float("inf")), row.id)


def _called(root: Path) -> str:
    """A folder as its user knows it: below the home folder, or in full."""
    path, home = root.absolute(), Path.home()
    return f"~/{path.relative_to(home)}" if path.is_relative_to(home) and path != home else str(path)
