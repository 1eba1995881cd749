"""The seams below the fold: a Transport brings bytes, a Parser makes events, a Source is polled.

A new framework is a parser, a `Format` that recognises it by content, and one line in sources/__init__.py.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

from ..models.event import Event
from .tells import Tells

TransportState = Literal["waiting", "reading", "denied", "lost", "ended"]


class Unreadable(Exception):
    """A known kind of file cannot be read now, or lacks the run asked for; the message is one line."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """Bytes in the order in which they were written."""

    data: bytes
    at: float | None
    """Unix seconds when they were seen to arrive; None when they were there before we first looked."""
    restarted: bool = False
    """These are the first bytes of a file that was truncated or replaced: what a reader held is void."""


class Line(NamedTuple):
    """One line without its end. Invalid UTF-8 is replaced, NUL bytes are dropped.

    A tuple, because a log has millions of them and a frozen dataclass takes twice as long to make.
    """

    text: str
    at: float | None = None
    """As in Chunk."""
    number: int = 0
    """1-based. Told again with the same number and more text when a last line, taken after a long
    silence, turned out not to have been finished."""


class Transport(Protocol):
    """A byte stream that may still grow. Nothing is given twice, nothing is lost."""

    @property
    def path(self) -> str:
        """What the user calls it."""
        ...

    @property
    def state(self) -> TransportState: ...

    @property
    def reason(self) -> str:
        """One line for the user when the state is not `reading`."""
        ...

    @property
    def modified_at(self) -> float | None:
        """Unix seconds of the last change."""
        ...

    @property
    def settled(self) -> bool:
        """Whether an unterminated last line may be taken as it is: its writer is gone."""
        ...

    def read(self, now: float) -> Iterable[Chunk]:
        """Everything new, in bounded chunks. Does not raise on a bad file: `state` and `reason` tell.

        A caller may stop in the middle: the next call goes on behind the last chunk given.
        """
        ...

    def close(self) -> None:
        """Let go of open handles. May be called twice."""
        ...


class Parser(Protocol):
    """Makes events of the lines of one stream. Never raises on bad input: bad lines are counted."""

    source: str
    """The kind that `SourceStatus.source` and `check --json` show, such as `console`."""
    bad_lines: int
    first_bad: str

    def feed(self, line: Line) -> Iterable[Event]:
        """The events of one line."""
        ...

    def flush(self) -> Iterable[Event]:
        """What was held back in hope of a further line."""
        ...

    def restart(self) -> Iterable[Event]:
        """The stream was truncated or replaced and is read again from its start."""
        ...


class Source(Protocol):
    """One place that a run is read from."""

    @property
    def more(self) -> bool:
        """Whether the last poll stopped for the screen's sake and more is waiting: poll again at once."""
        ...

    def poll(self, now: float) -> list[Event]:
        """Events since the last call, in order, the SourceStatus last when it has changed."""
        ...

    def close(self) -> list[Event]:
        """What was held back; called once, when nothing more is to come."""
        ...


@dataclass(frozen=True, slots=True)
class Probe:
    """A first look at a target, shared by all formats so that each file is opened once."""

    path: Path
    is_dir: bool
    head: str = ""
    """The first 256 KiB of a file, decoded; empty for a folder."""
    tail: str = ""
    """The last 64 KiB of a longer file."""
    names: tuple[str, ...] = ()
    """Names directly inside a folder, sorted."""
    magic: bytes = b""
    """The first bytes, raw."""

    @property
    def is_sqlite(self) -> bool:
        """Whether it is a SQLite database: then it is no text, whatever its rows hold."""
        return self.magic.startswith(b"SQLite format 3\0")


class Held(NamedTuple):
    """One of several runs in one file."""

    run: str
    """What the user calls it behind the file's name: `PATH#RUN`."""
    modified_at: float | None
    """Unix seconds of its newest row."""


@dataclass(frozen=True, slots=True)
class Format:
    """How one kind of target is recognised and opened."""

    name: str
    """Shown when nothing fits: `tried: …`."""
    score: Callable[[Probe], float]
    """0 for certainly not, 1 for certainly; content decides, never the file's name alone."""
    open: Callable[[Path], Sequence[Source]]
    """The sources of the target, best first. Does not read yet."""
    tells: Tells = Tells()
    """What its logs tell, for the reader of the documentation."""
    reads: tuple[str, ...] = ()
    """Names of the files in a run's folder that `open` reads beside the first."""
    open_run: Callable[[Path, str], Sequence[Source]] | None = None
    """Where one file holds several runs: the sources of one of them, which the user calls `PATH#RUN`."""
    runs: Callable[[Path], Sequence[Held]] | None = None
    """All runs that such a file holds, the newest first. Raises Unreadable where that cannot be seen now."""
