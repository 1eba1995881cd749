"""From flags to a run: its sources, a pipeline with the price book, a recorder."""

import os
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from platformdirs import user_data_path

from ..models.settings import Settings, SettingsError
from ..monitor.money.book import Book
from ..monitor.pipeline import Pipeline
from ..monitor.places import open_place, place_of
from ..monitor.recorder import Recorder
from ..monitor.source import Source
from ..monitor.target import open_target


def pipeline(settings: Settings, priced_at: float | None = None) -> Pipeline:
    """An empty pipeline with the price book; `priced_at` (unix s) is when a replayed run ran."""
    return Pipeline(settings, price_book(), priced_at)


@cache
def price_book() -> Book:
    """The built-in price book, and the lists that `rltop prices refresh` has kept."""
    folder = price_folder()
    if not folder.is_dir():
        return Book.load()
    from ..monitor.money.refresh import kept  # urllib takes 30 ms to import, for the few who have refreshed

    snapshots, bad = kept(folder)
    for line in bad:
        print(f"rltop: {line}", file=sys.stderr)
    return Book.load().with_snapshots(snapshots)


def price_folder() -> Path:
    """Where refreshed price lists are kept."""
    return user_data_path("rltop") / "prices"


def sources_of(target: str, also: Sequence[str] = ()) -> Sequence[Source]:
    """The sources of a target that must be there now; `-` is a pipe. `also` are further logs of the same run.

    Raises:
        TargetError: one of them is not there or cannot be used.
    """
    if also:
        return _together([(one, sources_of(one)) for one in (target, *also)])
    if target == "-":
        return open_pipe(whole=True)
    place = place_of(target)
    return open_target(Path(target)) if place is None else open_place(place, target)


def followed(target: str) -> Sequence[Source]:
    """The sources of a target that must be there now, and another run's that takes its place there.

    Raises:
        TargetError: it is not there or cannot be used.
    """
    from ..monitor.pending import PendingSource

    sources = sources_of(target)
    is_path = target != "-" and place_of(target) is None
    return (PendingSource(Path(target), sources),) if is_path else sources


def waiting_sources_of(
    target: str, pipe: int = 0, also: Sequence[str] = (), renews: bool = True, chosen: bool = True
) -> Sequence[Source]:
    """The sources of a target that may still have to come; for `-`, what is piped into descriptor `pipe`.

    `also` are further logs of the same run. `renews`: a run that takes its place in the log is followed then.
    `chosen`: whether the target is known to be one run, or may become it.

    Raises:
        TargetError: one of them names a place, and its words mean nothing there; or, where it is not
            `chosen`, one is a folder of several runs.
    """
    from ..monitor.pending import PendingSource
    from ..monitor.target import SeveralRuns, TargetError, open_target

    if also:
        parts = [(one, waiting_sources_of(one, pipe, renews=False, chosen=chosen)) for one in (target, *also)]
        return _together(parts)

    if target == "-":
        return open_pipe(pipe)
    place = place_of(target)
    if place is not None:
        return open_place(place, target)
    opened: Sequence[Source] = ()
    if not chosen:
        try:
            opened = open_target(Path(target))
        except SeveralRuns:
            raise
        except TargetError:
            pass  # it may still come
    return (PendingSource(Path(target), opened, renews=renews),)


def _together(named: Sequence[tuple[str, Sequence[Source]]]) -> Sequence[Source]:
    from ..monitor.fleet.beside import joined  # few runs are named by several logs

    return joined(named)


def open_pipe(pipe: int = 0, whole: bool = False) -> Sequence[Source]:
    """Whatever is piped in, recognised by its first lines; where `whole`, once its writer is done."""
    from ..monitor.piped import PipedSource

    source = PipedSource(pipe)
    if whole:
        source.drain()
    return (source,)


def spare_the_keyboard() -> int:
    """Put the terminal where the screen looks for keys, on descriptor 0; the pipe's new descriptor.

    Raises:
        OSError: there is no terminal.
    """
    pipe = os.dup(0)
    terminal = os.open("/dev/tty", os.O_RDWR)
    os.dup2(terminal, 0)
    os.close(terminal)
    return pipe


def recorder_of(path: Path | None) -> Recorder | None:
    """The recorder that --record asks for.

    Raises:
        SettingsError: nothing can be recorded there.
    """
    if path is None:
        return None
    recorder = Recorder(path)
    if recorder.state == "failed":
        raise SettingsError(f"--record {path}: {recorder.reason}")
    return recorder
