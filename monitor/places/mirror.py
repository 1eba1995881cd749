"""A run elsewhere, kept in a temporary folder and read there like a local one.

Its one rule: the user never sees the temporary folder. A thread fills it (`reader.py`); what is read from it
says `ssh://…` or `ray:…`.
"""

import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from ...models.event import Ended, Event, LogLine, SourceStatus
from ...models.run import RunInfo
from ...models.text import printable
from ..pending import PendingSource
from ..reader import Pause, Reader
from ..source import TransportState

AGAIN_S = (1.0, 60.0)
"""Seconds to the first further try at a place that was lost, and at most; twice as long each time."""
REFUSED_AGAIN_S = (30.0, 600.0)
"""Where we were turned away: whoever knocks too often is locked out."""
REST = 9.0
"""A look that takes long is followed by this many times as long a rest."""


class Filling(Protocol):
    """Brings what is elsewhere into a folder."""

    @property
    def target(self) -> Path | None:
        """What to open, as soon as enough is there to recognise it by."""
        ...

    @property
    def shown(self) -> tuple[Path, str]:
        """A path of the mirror, and what the user calls it. Asked for once `target` is known."""
        ...

    def fill(self, folder: Path, pause: Pause) -> Iterable[list[Event]]:
        """Fill an empty folder, and go on as `Reader` says. What goes wrong is a SourceStatus."""
        ...


class MirrorSource:
    """A run that is brought here by a `Filling`. Nothing is connected or created before the first poll."""

    def __init__(self, name: str, filling: Filling) -> None:
        self.more = False
        self._filling = filling
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._reader = Reader(name, self._fill)
        self._run: PendingSource | None = None
        self._ends: list[Event] = []
        self._over = False

    def poll(self, now: float) -> list[Event]:
        """What the run says, and how the way to it is."""
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="rltop-", ignore_cleanup_errors=True)
        told = self._reader.poll(now)
        # Asked before the files are read: what is brought meanwhile must be read by one more poll.
        coming = self._reader.more
        self._ends += [event for event in told if isinstance(event, Ended)]
        events = [event for event in told if not isinstance(event, Ended)] + self._read(now)
        if self._ends and not (self._run is not None and self._run.more):
            events += self._end()
        self.more = coming or self._reader.more or (self._run is not None and self._run.more)
        return events

    def close(self) -> list[Event]:
        """What the run had held back; the temporary folder goes."""
        told = self._reader.close() + self._end()
        if self._folder is not None:
            self._folder.cleanup()
        self.more = False
        return told

    def _end(self) -> list[Event]:
        """What the run had held back, and only then that it has ended: a step after an end undoes it."""
        told = [] if self._run is None else [self._named(event) for event in self._run.close()]
        self._run, self._over = None, True
        ends, self._ends = self._ends, []
        return told + ends

    def _fill(self, pause: Pause) -> Iterable[list[Event]]:
        assert self._folder is not None
        return self._filling.fill(Path(self._folder.name), pause)

    def _read(self, now: float) -> list[Event]:
        if self._over:
            return []
        if self._run is None:
            target = self._filling.target
            if target is None:
                return []
            self._run = PendingSource(target)
        return [self._named(event) for event in self._run.poll(now)]

    def _named(self, event: Event) -> Event:
        """The event as if the run had been read where it is."""
        match event:
            case SourceStatus():
                notes = tuple(self._shown(note) for note in event.notes)
                return event.model_copy(
                    update={
                        "path": self._shown(event.path),
                        "reason": self._shown(event.reason),
                        "first_bad": self._shown(event.first_bad),
                        "notes": notes,
                    }
                )
            case RunInfo() if event.notes or event.name:
                update: dict[str, object] = {"notes": tuple(self._shown(note) for note in event.notes)}
                if event.name:
                    update["name"] = self._shown(event.name)
                return event.model_copy(update=update)
            case LogLine():
                return event.model_copy(update={"text": self._shown(event.text)})
            case Ended():
                return event.model_copy(update={"message": self._shown(event.message)})
            case _:
                return event

    def _shown(self, text: str) -> str:
        path, name = self._filling.shown
        return text.replace(str(path), name)


class Telling:
    """How the way to a place is: each state once, and that all is well only after trouble.

    `pending` is a place that has not been reached yet, or has nothing to read; it is no source any more
    when there is. A place that was lost is a source of its own beside the run's.
    """

    def __init__(self, source: str, name: str) -> None:
        self.name = name
        self._source = source
        self._reached = False
        self._said: dict[str, SourceStatus] = {}

    def waiting(self, why: str) -> Iterable[list[Event]]:
        """There is nothing to read yet."""
        return self._say("pending", "waiting", why)

    def denied(self, why: str) -> Iterable[list[Event]]:
        """There is something, and it may not be read."""
        return self._say("pending", "denied", why)

    def trouble(self, why: str, again_s: float) -> Iterable[list[Event]]:
        """The place cannot be reached; it is tried again after so many seconds."""
        if not self._reached:
            return self._say("pending", "denied", why)
        return self._say(self._source, "lost", f"{why}; next try in {again_s:g} s")

    def reached(self) -> Iterable[list[Event]]:
        """The place answers."""
        self._reached = True
        if self._source in self._said:
            yield from self._say(self._source, "reading")

    def well(self, notes: tuple[str, ...] = ()) -> Iterable[list[Event]]:
        """There is something to read; `notes` are remarks on it."""
        if "pending" in self._said:
            yield from self._say("pending", "reading")
        if notes or self._source in self._said:
            yield from self._say(self._source, "reading", notes=notes)

    def _say(
        self, source: str, state: TransportState, why: str = "", notes: tuple[str, ...] = ()
    ) -> Iterable[list[Event]]:
        reason = printable(f"{self.name}: {why}") if why else ""
        status = SourceStatus(source=source, path=self.name, state=state, reason=reason, notes=notes)
        if status != self._said.get(source):
            self._said[source] = status
            yield [status]
