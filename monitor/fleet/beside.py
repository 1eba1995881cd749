"""What else tells of a run: the logs below its folder, and those that the user names beside its first.

Its one rule: nothing is joined here. Candidates are found; their numbers, or the user, say whether they
belong.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ..source import Format, Source
from .walk import EVENTS, Walk

if TYPE_CHECKING:
    from .member import Member

MAX_DEPTH = 3
MOST = 6
"""Logs compared with a run: those changed last."""


class Beside(NamedTuple):
    """A log that may be of a run."""

    name: str
    """What the user calls it."""
    path: Path
    form: Format


def with_logs_below(folder: Path, form: Format, sources: Sequence[Source]) -> Sequence[Source]:
    """The sources of the run in a folder, joined with what lies below and turns out to be of the same run."""
    paths = logs_below(folder, form.reads)
    if not paths:
        return sources
    from .joined import Joined  # most folders hold one log, and a look at one of those is to be quick
    from .member import Member

    def find(read: set[str]) -> list[Member]:
        known = {os.path.realpath(path) for path in read}
        logs = [path for path in paths if os.path.realpath(path) not in known]
        kinds = [(path, kind) for path in logs if (kind := _kind(path)) is not None]
        return [_member(Beside(str(path.relative_to(folder)), path, kind), form) for path, kind in kinds]

    return [Joined(Member(folder.name or str(folder), sources), find)]


def with_others(first: Beside, others: Sequence[Beside]) -> Sequence[Source]:
    """The sources of a log, joined with what of the others turns out to be of the same run."""
    from .joined import Joined  # as above
    from .member import Member

    member = Member(first.name, first.form.open(first.path))
    return [Joined(member, lambda _: [_member(other, first.form) for other in others])]


def _member(log: Beside, run: Format) -> "Member":
    """A log as one of a run that is read by the format `run`.

    Logs of that format are of other runs, or its reader would have taken them up: they are named, not read.
    """
    from .member import Member  # as above

    return Member(log.name, () if log.form is run else log.form.open(log.path), named=log.form is run)


def logs_below(folder: Path, reads: Sequence[str]) -> list[Path]:
    """Files below a folder whose names logs have; a folder of event files as a whole. The newest first.

    `reads` are names in the folder itself that are read already; `tfevents` stands for all event files.
    """
    found: dict[Path, float] = {}
    for place in Walk(folder, MAX_DEPTH, max_entries=5000):
        for log in place.logs:
            events = EVENTS in log.path.name
            if place.path == folder and (log.path.name in reads or (events and EVENTS in reads)):
                continue
            whole = events and place.path != folder
            path = place.path if whole else log.path
            found[path] = max(log.modified_at, found.get(path, 0.0))
    return sorted(found, key=lambda path: (-found[path], path))[:MOST]


def joined(named: Sequence[tuple[str, Sequence[Source]]], said: bool = True) -> Sequence[Source]:
    """The sources of one run in several logs: because the user says so, or as their numbers show."""
    from .joined import Joined  # as above
    from .member import Member

    (name, first), *others = [(Path(target).name or target, sources) for target, sources in named]
    return [Joined(Member(name, first), lambda _: [Member(*other) for other in others], said)]


def _kind(path: Path) -> Format | None:
    """The format of a log; None where it is none, or cannot be read."""
    from ..target import LIKELY, TargetError, probe, recognise
    from .discover import HEAD_BYTES, TAIL_BYTES  # it imports the readers of many formats

    try:
        form, score = recognise(probe(path, HEAD_BYTES, TAIL_BYTES))
    except TargetError:
        return None
    return form if score >= LIKELY else None
