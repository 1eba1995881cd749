"""Which of several runs in one place is meant: the newest, or the one that `PATH#RUN` names by name or id."""

from collections import Counter
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
    others = [called for called, run in zip(calls(known), known, strict=True) if run != chosen]
    if chosen is None:
        there_are = ", ".join(dict.fromkeys(others[:NAMED])) or "none yet"
        return Choice(note=f"no run {wanted} in {path}; there are: {there_are}" if wanted else "")
    return Choice(*chosen, _note(path, others) if others and not wanted else "")


def calls(runs: Sequence[tuple[str, str]]) -> list[str]:
    """What to call each of some runs, (id, name), behind `PATH#`: its name, or its id where that won't do."""
    ids = {id for id, _ in runs}
    names = Counter(name for _, name in runs)
    return [
        name if names[name] == 1 and (name == id or name not in ids) and _is_plain(name) else id
        for id, name in runs
    ]


def _is_plain(name: str) -> bool:
    """Whether a name comes back out of `PATH#NAME`."""
    return bool(name) and "#" not in name and str(Path(f"x#{name}")) == f"x#{name}"


def _note(path: Path, others: Sequence[str]) -> str:
    named = ", ".join(f"#{name}" for name in others[:NAMED])
    more = f" and {len(others) - NAMED} more" if len(others) > NAMED else ""
    word = "others" if len(others) > 1 else "another"
    return f"the newest of {len(others) + 1} runs; {word}: {path}{named}{more}"
