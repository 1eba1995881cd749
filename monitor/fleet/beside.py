"""What else tells of a run: the logs below its folder, and those that the user names beside its first.

Its one rule: nothing is joined here. Candidates are found; their numbers, or the user, say whether they
belong.
"""

import os
from collections.abc import Sequence
from pathlib import Path

from ..source import Format, Source
from .walk import EVENTS, Walk

MAX_DEPTH = 3
MOST = 6
"""Logs compared with a run: those changed last."""


def with_logs_below(folder: Path, form: Format, sources: Sequence[Source]) -> Sequence[Source]:
    """The sources of the run in a folder, joined with what lies below that turns out to be of the same run.

    Logs of the run's own format are of other runs, or the format's reader would have taken them up.
    """
    paths = logs_below(folder, form.reads)
    if not paths:
        return sources
    from .joined import Joined  # most folders hold one log, and a look at one of those is to be quick
    from .member import Member

    def find(read: set[str]) -> list[Member]:
        known = {os.path.realpath(path) for path in read}
        return [
            Member(str(path.relative_to(folder)), opened)
            for path in paths
            if os.path.realpath(path) not in known and (opened := _opened(path, form))
        ]

    return [Joined(Member(folder.name or str(folder), sources), find)]


def logs_below(folder: Path, reads: Sequence[str]) -> list[Path]:
    """Files below a folder whose names logs have; a folder of event files as a whole. The newest first."""
    found: dict[Path, float] = {}
    for place in Walk(folder, MAX_DEPTH, max_entries=5000):
        for log in place.logs:
            if place.path == folder and log.path.name in reads:
                continue
            whole = EVENTS in log.path.name and place.path != folder
            path = place.path if whole else log.path
            found[path] = max(log.modified_at, found.get(path, 0.0))
    return sorted(found, key=lambda path: (-found[path], path))[:MOST]


def joined(named: Sequence[tuple[str, Sequence[Source]]], said: bool = True) -> Sequence[Source]:
    """The sources of one run in several logs: because the user says so, or as their numbers show."""
    from .joined import Joined  # as above
    from .member import Member

    (name, first), *others = [(Path(target).name or target, sources) for target, sources in named]
    return [Joined(Member(name, first), lambda _: [Member(*other) for other in others], said)]


def _opened(path: Path, but: Format) -> Sequence[Source]:
    """The sources of a log; none where it is not one, is of the format given, or cannot be read."""
    from ..target import TargetError, probe, recognise
    from .discover import HEAD_BYTES, LIKELY, TAIL_BYTES  # it imports the readers of many formats

    try:
        form, score = recognise(probe(path, HEAD_BYTES, TAIL_BYTES))
    except TargetError:
        return ()
    return form.open(path) if form is not None and form is not but and score >= LIKELY else ()
