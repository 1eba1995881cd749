"""`rltop [TARGET…]`: the screen, on a run that grows or has ended, or on many.

Its one rule: the first picture waits for nothing. Runs are looked for and opened, and all that reads, prices
and projects is imported, once the screen is there.
"""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..models.settings import Settings
from ..monitor.frame import Frame
from ..monitor.places import place_of
from ..tui.runner import ManyRuns
from .flags import complain, gpus_of, has_screen, on_screen, settings_of
from .telling import Telling

if TYPE_CHECKING:
    from ..monitor.fleet.discover import Found
    from ..monitor.session import Session
    from ..monitor.telemetry.source import GpuSource
    from .fleet import Fleet

LOOK_S = 1.0
"""How long the folders named are looked through in all for one run each, before they are shown as of many."""


def run(args: argparse.Namespace) -> int:
    """Follow targets on the screen until the user leaves."""
    targets: list[str] = args.target
    if len(targets) > 1 and (why := _unfit(targets, args)):
        return complain(why)
    if args.plain:
        return _plain(targets, args)
    if not has_screen():
        return complain("the screen needs a terminal; --plain, `rltop check` and `rltop follow` do not")
    pipe = 0
    if targets == ["-"]:
        from .opening import spare_the_keyboard

        pipe = spare_the_keyboard()
    for target in (*targets, *args.also):
        if place_of(target) is not None and (why := _unusable(target)):
            return complain(why)
    settings, gpus = settings_of(args), gpus_of(args)
    telling = Telling(args, settings.notify)
    try:
        return on_screen(Opening(targets, args, settings, pipe, telling, gpus, args.also), args)
    finally:
        telling.close()


def _plain(targets: Sequence[str], args: argparse.Namespace) -> int:
    """One run as lines."""
    from .follow import follow
    from .plain import LinePrinter

    one = targets[0] if targets else only_run_below(Path())
    if one is None:
        return complain("--plain shows one run: give a run folder or a log")
    return follow(args, str(one), "never", LinePrinter())


def _unfit(targets: Sequence[str], args: argparse.Namespace) -> str:
    """Why several targets cannot be shown at once."""
    if "-" in targets:
        return "- is a run by itself: pipe it into an rltop of its own"
    if args.plain:
        return "--plain shows one run; several were named"
    if args.record is not None:
        return "--record needs one run; several were named"
    if args.also:
        return "--with needs one run that the log is of; several were named"
    return ""


def _unusable(target: str) -> str:
    """Why the words of a place mean nothing, while there is still a shell to say it on."""
    from ..monitor.target import TargetError
    from .opening import sources_of

    try:
        sources_of(target)
    except TargetError as error:
        return str(error)
    return ""


class Opening:
    """Opens the run when the screen is up, then follows it; or says that there are many."""

    control = None

    def __init__(
        self,
        targets: Sequence[str],
        args: argparse.Namespace,
        settings: Settings,
        pipe: int = 0,
        telling: Telling | None = None,
        gpus: "GpuSource | None" = None,
        also: Sequence[str] = (),
        one: bool = False,
    ) -> None:
        """`one`: it is one run, and is not looked into for others."""
        self._targets = targets
        self._args = args
        self._settings = settings
        self._pipe = pipe
        self._telling = telling
        self._gpus = gpus
        self._also = also
        self._other: str | None = getattr(args, "against", None)
        self._is_one = one or bool(also)

    async def run(self, publish: Callable[[Frame], None]) -> None:
        import asyncio

        session = await asyncio.to_thread(self._open)
        if self._other is not None:
            from .against import against

            publish = await asyncio.to_thread(against, self._other, publish)
        passing = publish if self._telling is None else self._telling.passing(publish)
        await session.run(passing)

    def _open(self) -> "Session":
        target = self._target()
        from ..monitor.clock import SystemClock
        from ..monitor.session import Session
        from ..monitor.telemetry.places import local
        from .opening import pipeline, recorder_of, waiting_sources_of

        if self._telling is not None:
            self._telling.open(check=False)
        gpus = self._gpus or local(want_tensor=True)
        sources = (*waiting_sources_of(target, self._pipe, self._also), gpus)
        record = recorder_of(self._args.record)
        # What is said of this run alone is known by its name, which a folder may have had to be searched for.
        settings = settings_of(self._args, target)
        return Session(sources, pipeline(settings), SystemClock(), recorder=record, make=pipeline)

    def _target(self) -> str:
        """The one target there is.

        Raises:
            ManyRuns: several are named, or lie below the folder or in the database named; or none does yet.
        """
        if len(self._targets) > 1:
            each_s = LOOK_S / len(self._targets)
            stores = [target for target in self._targets if _holds_several(target, each_s)]
            named = [target for target in self._targets if target not in stores]
            raise ManyRuns(self._fleet(named, [Path(store) for store in stores]))
        target = self._targets[0] if self._targets else "."
        folder = Path(target)
        if self._is_one or target == "-" or place_of(target) is not None:
            return target
        if not folder.is_dir():
            if _holds_several(target):
                raise ManyRuns(self._fleet(roots=[folder]))
            return target
        one = only_run_below(folder)
        if one is None:
            raise ManyRuns(self._fleet(roots=[folder]))
        return str(one)

    def _fleet(self, named: Sequence[str] = (), roots: Sequence[Path] = ()) -> "Fleet":
        from .fleet import Fleet

        keep = not self._args.no_cache
        return Fleet(self._settings, self._opened, named, roots, keep, self._telling)

    def _opened(self, target: str, also: Sequence[str]) -> "Opening":
        """A run of the fleet, which goes on telling of it."""
        gpus = gpus_of(self._args)
        return Opening([target], self._args, self._settings, gpus=gpus, also=also, one=True)


def _holds_several(target: str, seconds: float = LOOK_S) -> bool:
    """Whether a target is a database or a folder of several runs, or takes longer to be looked through."""
    if target == "-" or place_of(target) is not None:
        return False
    from ..monitor.target import runs_in

    path = Path(target)
    if not path.is_dir():
        return len(runs_in(path)) > 1
    found, complete = _runs_below(path, seconds)
    return len(found) > 1 or not complete


def only_run_below(folder: Path) -> Path | None:
    """The run that a folder is, or the only one that lies below it; None where there are several, or none."""
    from ..monitor.target import TargetError, open_target

    found, complete = _runs_below(folder, LOOK_S)
    if len(found) > 1 or not complete:
        return None
    try:
        open_target(folder)
    except TargetError:
        return found[0].path if found else None
    return folder


def _runs_below(folder: Path, seconds: float) -> "tuple[Sequence[Found], bool]":
    """The runs found below a folder in this time, and whether that was enough for all of it."""
    from ..monitor.clock import SystemClock
    from ..monitor.fleet.discover import Discovery

    search = Discovery([folder], SystemClock())
    complete = search.look(seconds)
    return search.found, complete
