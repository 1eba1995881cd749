"""Which of several runs in one place is meant: the newest, or the one that `PATH#RUN` names by name or id."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from ..source import Unreadable

NAMED = 5
"""Runs that are named where the one that is wanted is not among them."""


class Choice(NamedTuple):
    """A run and what the user should know of its choice."""

    id: str = ""
    """Empty while there is none."""
    name: str = ""
    note: str = ""

    def required(self) -> "Choice":
        """This choice, for a user who has named the run.

        Raises:
            Unreadable: there is no such run.
        """
        if not self.id:
            raise Unreadable(self.note)
        return self


def choose(path: Path, wanted: str, runs: Sequence[tuple[object, object]]) -> Choice:
    """Of the runs at `path`, (id, name) and the newest first, the one that is `wanted`; empty: the newest."""
    known = [(str(id), str(name or "")) for id, name in runs]
    chosen = next((run for run in known if wanted in ("", *run)), None)
    others = [name or id for id, name in known if (id, name) != chosen]
    if chosen is None:
        there_are = ", ".join(dict.fromkeys(others[:NAMED])) or "none yet"
        return Choice(note=f"no run {wanted} in {path}; there are: {there_are}" if wanted else "")
    note = f"the newest of {len(known)} runs; another: {path}#{others[0]}" if others and not wanted else ""
    return Choice(*chosen, note)
