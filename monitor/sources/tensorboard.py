"""TensorBoard event files: one, or a folder of them, followed as they grow.

Its one rule: a step is told once all its scalars are there: when a later step is seen, when nothing has
been written for a minute, or at the end. A further file with the same tags is the run resumed, or where it
begins anew, another run; one with other tags was written by another process of the same run, and its scalars
join the steps they belong to.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from ...models.event import Event, SourceStatus
from ..source import Format, Probe, Source, Transport
from ..tells import tells_of_tracker
from ..transport import open_transport
from .tb_launches import First, of_earlier_trainings
from .tb_tellers import PlainTeller, Teller, teller_of
from .tfevents import EventReader, Group

POLL_BYTES = 8 * 1024 * 1024
SIGN = "tfevents"
MAGIC = b"brain.Event:"
MAX_BESIDE = 100_000
"""Steps whose scalars of other processes wait for the main file, at most."""
EARLIER = "{} event files of earlier trainings are left out, each of which began anew: name one to see it"
UNDECIDED_GROUPS = 8
"""After so many steps whose tags are nobody's, names alone are gone by."""


class _File:
    """One event file."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self.reader = EventReader()
        self.resumes: bool | None = None
        """Whether it goes on with the main file's tags; None before its first step."""
        self.begun = False
        self.told: tuple[int, float, int] | None = None
        """Step, time and number of the scalars of the open group when it was told."""


class TensorBoardSource:
    """Follows the event files of one run."""

    def __init__(self, path: Path, poll_bytes: int = POLL_BYTES) -> None:
        self.more = False
        self._path = path
        self._poll_bytes = poll_bytes
        self._files: dict[str, _File] = {}
        self._teller: Teller | None = None
        self._undecided: list[tuple[_File, Group]] = []
        self._tags: set[str] = set()
        self._beside: dict[int, dict[str, float]] = {}
        """Scalars of other processes by step, until the main file tells that step."""
        self._held: list[tuple[_File, Group]] | None = []
        """What several files hold at the first look, put in order before it is told."""
        self._earlier: set[str] = set()
        """Names of files that earlier trainings have left in the folder."""
        self._reason = "not there yet"
        self._status: SourceStatus | None = None

    def poll(self, now: float) -> list[Event]:
        """Events of at most about `poll_bytes` of new bytes; `more` tells whether that was not all."""
        self._find()
        events: list[Event] = []
        left = self._poll_bytes
        self.more = False
        for file in self._live():
            for chunk in file.transport.read(now):
                if chunk.restarted:
                    file.reader, file.begun = EventReader(), False
                for group in file.reader.feed(chunk.data):
                    events += self._closed(file, group)
                left -= len(chunk.data)
                if left <= 0:
                    break
            if left <= 0:
                self.more = True
                break
        if not self.more:
            events += self._release()
            events += self._quiet()
        return [*events, *self._changed_status()]

    def close(self) -> list[Event]:
        """The newest step, as far as it was written; lets go of the files."""
        events = self._release()
        for file in self._live():
            events += self._open_group(file)
            file.transport.close()
        if self._teller is None and self._undecided:
            events += self._decide(PlainTeller(None))
        return [*events, *self._changed_status()]

    def _find(self) -> None:
        """Event files that have come, in the order of their names, which begin with their time."""
        try:
            names = [self._path.name]
            folder = self._path.parent
            if self._path.is_dir():
                folder = self._path
                names = sorted(name for name in os.listdir(folder) if SIGN in name)
        except OSError as error:
            self._reason = error.strerror or str(error)
            return
        for name in names:
            if name not in self._files:
                self._files[name] = _File(open_transport(folder / name))
        if self._held is not None and len(self._files) == 1:
            self._held = None

    def _live(self) -> list[_File]:
        return [file for name, file in self._files.items() if name not in self._earlier]

    def _closed(self, file: _File, group: Group) -> list[Event]:
        if self._held is not None:
            self._held.append((file, group))
            return []
        return self._group(file, group)

    def _release(self) -> list[Event]:
        """All files have been read for the first time: what other processes wrote comes first."""
        held, self._held = self._held or [], None
        held = self._of_the_newest(held)
        for file, group in held:
            self._place(file, group)
        ordered = [(f, g) for f, g in held if not f.resumes] + [(f, g) for f, g in held if f.resumes]
        if held:
            beside = [file.reader.open for file in self._live() if file.resumes is False]
            for group in beside:
                if group is not None:
                    self._join(group)
        return [event for file, group in ordered for event in self._group(file, group)]

    def _of_the_newest(self, held: list[tuple[_File, Group]]) -> list[tuple[_File, Group]]:
        """What was read, without what earlier trainings had written into the same folder."""
        first: dict[int, Group] = {}
        for file, group in held:
            first.setdefault(id(file), group)
        begins = [
            First(name, group.step, group.values.keys())
            for name, file in self._files.items()
            if (group := first.get(id(file)) or file.reader.open) is not None
        ]
        self._earlier.update(of_earlier_trainings(begins))
        for name in self._earlier:
            self._files[name].transport.close()
        live = {id(file) for file in self._live()}
        return [(file, group) for file, group in held if id(file) in live]

    def _quiet(self) -> list[Event]:
        """The newest steps of files that are no longer written to."""
        events: list[Event] = []
        for file in self._live():
            if file.transport.settled:
                events += self._open_group(file)
        return events

    def _open_group(self, file: _File) -> list[Event]:
        group = file.reader.open
        if group is None:
            return []
        stands = (group.step, group.at, len(group.values))
        if stands == file.told:
            return []
        file.told = stands
        return self._group(file, Group(group.step, group.at, dict(group.values)))

    def _place(self, file: _File, group: Group) -> None:
        """Say whether a file goes on with the run's tags, or holds others."""
        if file.resumes is None:
            file.resumes = not self._tags or not self._tags.isdisjoint(group.values)
        if file.resumes:
            self._tags.update(group.values)

    def _group(self, file: _File, group: Group) -> list[Event]:
        """The events of a step's scalars in one file."""
        self._place(file, group)
        if not file.resumes:
            self._join(group)
            return []
        group.values.update(self._beside.pop(group.step, {}))
        if self._teller is None:
            self._undecided.append((file, group))
            tags = {tag for _, waiting in self._undecided for tag in waiting.values}
            teller = teller_of(tags)
            if teller is None and len(self._undecided) < UNDECIDED_GROUPS:
                return []
            return self._decide(teller or PlainTeller(None))
        return self._tell(file, group, self._teller)

    def _tell(self, file: _File, group: Group, teller: Teller) -> list[Event]:
        events: list[Event] = []
        if not file.begun:
            file.begun = True
            for before in self._live():
                if before is not file and before.begun:
                    events += self._open_group(before)  # its writer has come to its end
            events += self._texts(file, teller)
            events += teller.resume(group)
        return [*events, *teller.whole(group)]

    def _decide(self, teller: Teller) -> list[Event]:
        self._teller = teller
        waiting, self._undecided = self._undecided, []
        return [event for file, group in waiting for event in self._tell(file, group, teller)]

    def _texts(self, file: _File, teller: Teller) -> list[Event]:
        texts, file.reader.texts = file.reader.texts, []
        return [event for tag, text in texts for event in teller.text(tag, text)]

    def _join(self, group: Group) -> None:
        self._beside.setdefault(group.step, {}).update(group.values)
        if len(self._beside) > MAX_BESIDE:
            del self._beside[next(iter(self._beside))]

    def _changed_status(self) -> Iterator[SourceStatus]:
        files = self._live()
        reading = [file for file in files if file.transport.state == "reading"]
        worst = next((file.transport for file in files if file.transport.state != "reading"), None)
        bad = sum(file.reader.bad_records for file in files)
        status = SourceStatus(
            source="tensorboard",
            path=str(self._path),
            state="reading" if reading else worst.state if worst else "waiting",
            reason="" if reading else worst.reason if worst else self._reason,
            lines=sum(file.reader.records for file in files),
            bad_lines=bad,
            first_bad="records with a wrong checksum were left out" if bad else "",
            modified_at=max((at for file in files if (at := file.transport.modified_at)), default=None),
            notes=(EARLIER.format(len(self._earlier)),) if self._earlier else (),
        )
        if status != self._status:
            self._status = status
            yield status


def _score(probe: Probe) -> float:
    if probe.is_dir:
        return 0.6 if any(SIGN in name for name in probe.names) else 0.0
    return 0.95 if probe.magic[12:13] == b"\x09" and MAGIC in probe.magic else 0.0


def _open(path: Path) -> Sequence[Source]:
    return [TensorBoardSource(path)]


TELLS = tells_of_tracker(
    called="tags",
    steps="event step",
    total="`args` text (TRL), epochs",
    time="wall time of events",
    gpus="throughput (veRL), `args` text (TRL)",
    config="`args` text (TRL)",
)
FORMAT = Format(name="TensorBoard event files", score=_score, open=_open, tells=TELLS, reads=(SIGN,))
