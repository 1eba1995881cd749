"""Another run in the log of the one that is followed: told apart from one that goes back, and begun with.

Its one rule: a log is taken as a fresh look at it would take it. What a run told twice in one log was paid
for twice; what the log holds no longer, since it was emptied and another run begun in it, is no part of it.
"""

import os
import stat
from collections.abc import Callable, Iterable
from hashlib import blake2b
from typing import NamedTuple

from ..models.event import Event, NewRun, Restart, SourceStatus
from ..models.run import RunInfo
from ..models.settings import Settings
from ..models.step import Step
from .pipeline import Pipeline

BESIDE = frozenset(("pending", "hydra", "easyr1-config"))
"""Kinds of sources that are no log of steps."""
Make = Callable[[Settings], Pipeline]
FIRST_STEP = 1
"""Runs count from 0 or from 1: what goes back to a later step is resumed, and its earlier steps stand."""
DATABASE = b"SQLite format 3\0"
"""Such a file changes at its beginning whatever is written into it."""
DOCUMENTS = (".json", ".yaml")
"""Files that are written anew as a whole, whatever changes in them."""
HEAD_BYTES = 256 * 1024
"""Of a file's beginning, to know it again by: two runs that print the same settings differ by then."""


def fed(pipeline: Pipeline, event: Event, now: float, make: Make) -> Pipeline:
    """The pipeline with one more event; another one, where another run begins."""
    if isinstance(event, NewRun):
        pipeline = make(pipeline.settings)
        pipeline.feed(RunInfo(notes=(event.note,)), now)
    pipeline.feed(event, now)
    return pipeline


class Beginnings:
    """How the log of a run begins, and whether it still is that log."""

    def __init__(self) -> None:
        self._path = ""
        """The log that leads: the first that was read."""
        self._head = Head(0, b"", b"")
        self._steps: tuple[int, int] | None = None
        """The least and the greatest step told."""

    def look(self, events: Iterable[Event]) -> NewRun | None:
        """Take in what was told last; another run, where that is what the log now holds."""
        before, back_to, told, news = self._steps, FIRST_STEP + 1, False, False
        for event in events:
            if isinstance(event, SourceStatus):
                news = True
                self._path = self._path or ("" if event.source in BESIDE else event.path)
            elif isinstance(event, Restart):
                back_to = min(back_to, event.from_step)
            elif isinstance(event, Step):
                least, most = self._steps or (event.step, event.step)
                if before is not None and event.step <= least:
                    back_to = min(back_to, event.step)
                self._steps, told = (min(least, event.step), max(most, event.step)), True
        if before is not None and back_to <= FIRST_STEP and self._is_another(kept=back_to > before[0]):
            name = os.path.basename(self._path)
            return NewRun(
                note=f"{name} was emptied and another run begun in it: the one before, which had come to step"
                f" {before[1]}, is not in these figures"
            )
        if before is None and news and self._is_another(kept=False):
            name = os.path.basename(self._path)
            return NewRun(note=f"{name} was emptied and begun again, before the first step of what was in it")
        if told or (news and before is None and not self._path.endswith(DOCUMENTS)):
            self._take_note()
        return None

    def _is_another(self, kept: bool) -> bool:
        """Whether the log no longer begins as it did; where steps are `kept`, not even with the same line."""
        there = _head(self._path, self._head.size)
        if there is None or not self._head.size or there == self._head:
            return False
        return not kept or there.line != self._head.line

    def _take_note(self) -> None:
        """Remember more of the beginning, while there is more of it."""
        if self._head.size >= HEAD_BYTES:
            return
        there = _head(self._path, HEAD_BYTES)
        if there is not None and there.size >= 2 * self._head.size:
            self._head = there


class Head(NamedTuple):
    """The beginning of a file: how many bytes, what they come to, and the first line of them."""

    size: int
    print: bytes
    line: bytes


def _head(path: str, most: int) -> Head | None:
    """Up to so many bytes of a file's beginning; None where there is no such file, or a database."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return None  # opening a pipe would take bytes out of it
        with open(path, "rb") as file:
            head = file.read(most)
    except (OSError, ValueError):
        return None
    if head.startswith(DATABASE):
        return None
    line = head.partition(b"\n")[0]
    return Head(len(head), blake2b(head, digest_size=16).digest(), blake2b(line, digest_size=16).digest())
