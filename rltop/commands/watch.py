"""`rltop TARGET`: the screen, on a run that grows or has ended.

Its one rule: the first picture waits for nothing. The run is opened, and all that reads, prices and projects
is imported, once the screen is there.
"""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..models.settings import Settings
from ..monitor.frame import Frame
from ..monitor.places import place_of
from .flags import complain, gpus_of, has_screen, on_screen, settings_of
from .telling import Telling

if TYPE_CHECKING:
    from ..monitor.session import Session
    from ..monitor.telemetry.source import GpuSource


def run(args: argparse.Namespace) -> int:
    """Follow a target on the screen until the user leaves."""
    target = args.target or only_run_here()
    if target is None:
        return complain("no run named: give a run folder or a log, or try `rltop demo`")
    if args.plain:
        from .follow import follow
        from .plain import LinePrinter

        return follow(args, target, "never", LinePrinter())
    if not has_screen():
        return complain("the screen needs a terminal; --plain, `rltop check` and `rltop follow` do not")
    pipe = 0
    if target == "-":
        from .opening import spare_the_keyboard

        pipe = spare_the_keyboard()
    if place_of(target) is not None and (why := _unusable(target)):
        return complain(why)
    settings, gpus = settings_of(args), gpus_of(args)
    telling = Telling(args, settings.notify)
    try:
        return on_screen(_Opening(target, args.also, settings, args.record, pipe, telling, gpus), args)
    finally:
        telling.close()


def _unusable(target: str) -> str:
    """Why the words of a place mean nothing, while there is still a shell to say it on."""
    from ..monitor.target import TargetError
    from .opening import sources_of

    try:
        sources_of(target)
    except TargetError as error:
        return str(error)
    return ""


class _Opening:
    """Opens the run when the screen is up, then follows it."""

    control = None

    def __init__(
        self,
        target: str,
        also: Sequence[str],
        settings: Settings,
        record: Path | None,
        pipe: int,
        telling: Telling,
        gpus: "GpuSource | None",
    ) -> None:
        self._target = target
        self._also = also
        self._settings = settings
        self._record = record
        self._pipe = pipe
        self._telling = telling
        self._gpus = gpus

    async def run(self, publish: Callable[[Frame], None]) -> None:
        import asyncio

        session = await asyncio.to_thread(self._open)
        await session.run(self._telling.passing(publish))

    def _open(self) -> "Session":
        from ..monitor.clock import SystemClock
        from ..monitor.session import Session
        from ..monitor.telemetry.places import local
        from .opening import pipeline, recorder_of, waiting_sources_of

        self._telling.open(check=False)
        gpus = self._gpus or local(want_tensor=True)
        sources = (*waiting_sources_of(self._target, self._pipe, self._also), gpus)
        return Session(sources, pipeline(self._settings), SystemClock(), recorder=recorder_of(self._record))


def only_run_here() -> str | None:
    """The current folder, when it holds a run."""
    from ..monitor.target import TargetError, open_target

    try:
        open_target(Path())
    except TargetError:
        return None
    return "."
