"""Follows a run on the far side of ssh: looks, fetches, and connects again when the way is lost.

Its one rule: a lost connection is a state. It is tried again, later each time, and all goes on from there.
"""

from collections.abc import Generator, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from ...models.event import Event
from ..clock import Clock, SystemClock
from ..reader import Pause
from ..target import CERTAIN, TargetError, probe, recognise
from ..transport.local import being_copied
from .mirror import AGAIN_S, REFUSED_AGAIN_S, REST, Telling
from .ssh_copies import Copies
from .ssh_script import (
    Listing,
    go_to_folder,
    list_beside,
    list_folder,
    parse_link,
    parse_listing,
    prologue,
    read_part,
)
from .ssh_shell import SILENCE_S, Over, Shell, ShellError

if TYPE_CHECKING:
    from .ssh import Address

LOOK_S = 2.0
"""Between two looks at the far side's files."""
CLOCKS_APART_S = 10.0
"""Clocks that differ by less are taken for equal: the answer took its time."""


class SshFilling:
    """Mirrors the files of one target."""

    def __init__(
        self,
        address: "Address",
        clock: Clock | None = None,
        look_s: float = LOOK_S,
        silence_s: float = SILENCE_S,
    ) -> None:
        self.target: Path | None = None
        self._address = address
        self._clock = clock or SystemClock()
        self._look_s = look_s
        self._silence_s = silence_s
        self._root = Path()
        self._copies: Copies | None = None
        self._complete = False
        """All that was there at the first look has been fetched."""
        self._telling = Telling("ssh", address.shown)

    @property
    def shown(self) -> tuple[Path, str]:
        """The mirror of the target's folder, or that of the named file."""
        if self.target is None or self.target == self._root:
            return self._root, self._address.shown
        return self._root, self._address.shown.rpartition("/")[0]

    def fill(self, folder: Path, pause: Pause) -> Generator[list[Event]]:
        """Look and fetch until the pause is over."""
        failures = 0
        yield from self._telling.waiting("connecting")
        while not pause.is_set():
            try:
                with Shell(self._address.argv, pause, self._silence_s) as shell:
                    for events in self._follow(shell, folder, pause):
                        failures = 0
                        yield events
            except Over:
                return
            except (ShellError, OSError) as error:
                refused = isinstance(error, ShellError) and error.refused
                first_s, most_s = REFUSED_AGAIN_S if refused else AGAIN_S
                again_s = min(most_s, first_s * 2**failures)
                failures = min(failures + 1, 16)
                why = (
                    str(error) if isinstance(error, ShellError) else f"no room for it here: {error.strerror}"
                )
                yield from self._telling.trouble(why, again_s)
                yield []
                pause.wait(again_s)

    def _follow(self, shell: Shell, folder: Path, pause: Pause) -> Iterable[list[Event]]:
        shell.ask([prologue(self._address.path)])  # what a login prints is behind us now
        yield from self._telling.reached()
        while not pause.is_set():
            began = self._clock.now()
            yield from self._look(shell, folder)
            yield []
            took_s = self._clock.now() - began
            pause.wait(max(self._look_s, REST * took_s))

    def _look(self, shell: Shell, folder: Path) -> Iterable[list[Event]]:
        """One look at the far side, and all that is new there."""
        kind, _, rest = shell.ask(["kind"])[0].data.partition(b"\n")
        name = None if kind == b"folder" else self._address.parts[1]
        if kind not in (b"folder", b"file"):
            yield from self._unusable(kind.decode("ascii", "replace"), rest.decode("utf-8", "replace"))
            return
        listed, links, _ = shell.ask(
            [list_folder() if name is None else list_beside(name), "(latest)", go_to_folder()]
        )
        look = parse_listing(listed.data, name)
        if look is None:
            yield from self._unusable("denied", "")
            return
        copies = self._begin(folder, name)
        copies.update(look, self._ahead_s(look))
        if self.target is None:
            for entry in look.entries:
                being_copied(self._root / entry.name, entry.size)
        for link, to in parse_link(links.data):
            copies.link(link, to)
        yield from self._fetch(shell, copies, name)

    def _fetch(self, shell: Shell, copies: Copies, name: str | None) -> Iterable[list[Event]]:
        """Bring all that is new."""
        while parts := copies.parts():
            answers = shell.ask([read_part(part.name, part.offset, part.size) for part in parts])
            for part, answer in zip(parts, answers, strict=True):
                copies.take(part, answer.data, readable=answer.status == 0)
            if self._complete:
                continue
            here, of = copies.progress
            if name is not None and self.target is None and here < of and _is_certain(self._root / name):
                self.target = self._root / name
            yield from self._telling.waiting(f"fetched {here >> 20} of {of >> 20} MiB")
        # A folder is opened once all is here: its numbers tell which of its logs lead, and belong together.
        self.target = self._root if name is None else self._root / name
        self._complete = True
        if name is not None and copies.unreadable(name):
            yield from self._unusable("denied", "")
        else:
            yield from self._telling.well(tuple(sorted(copies.notes)))

    def _begin(self, folder: Path, name: str | None) -> Copies:
        """The mirror's folders, named like those on the far side."""
        if self._copies is None:
            parent, own = self._address.parts
            self._root = folder / "here" / (own if name is None else parent)
            scratch = folder / "scratch"
            self._root.mkdir(parents=True, exist_ok=True)
            scratch.mkdir(exist_ok=True)
            self._copies = Copies(self._root, scratch, first=name)
        return self._copies

    def _ahead_s(self, look: Listing) -> float:
        ahead_s = self._clock.now() - look.now
        return ahead_s if abs(ahead_s) >= CLOCKS_APART_S else 0.0

    def _unusable(self, kind: str, why: str) -> Iterable[list[Event]]:
        """Why there is nothing to read."""
        if kind == "denied" or "ermission denied" in why:
            return self._telling.denied("no permission to read it")
        return self._telling.waiting("not a regular file" if kind == "other" else "no such file or folder")


def _is_certain(path: Path) -> bool:
    """Whether the part of a log that is here leaves no doubt of what it is: then it can be read already."""
    try:
        return recognise(probe(path))[1] >= CERTAIN
    except TargetError:
        return False
