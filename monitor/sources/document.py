"""A log that is one JSON document, written anew each time.

Its one rule: it is read whole when it has changed; one that breaks off is read as far as it goes, once its
writer has had the time to end it.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import cast

from pydantic_core import from_json

from ...models.event import Event, SourceStatus

LARGEST_BYTES = 512 * 1024 * 1024
SETTLED_S = 60.0
"""Since the last change: then nobody is writing it."""
BREAKS_OFF = "its end, where the document breaks off"


class DocumentSource(ABC):
    """Follows one document."""

    more = False
    source = ""
    """What is read, as SourceStatus has it."""
    absent = "not there yet"

    def __init__(self, path: Path) -> None:
        self._path = path
        self._seen: tuple[str, int, int] | None = None
        """Path, size and time of change (ns) of what was last read."""
        self._status: SourceStatus | None = None
        self._lines = 0
        self._bad = 0
        self._first_bad = ""

    def poll(self, now: float) -> list[Event]:
        """What a change has brought."""
        path = self._place()
        try:
            there = os.stat(path)
            seen = (str(path), there.st_size, there.st_mtime_ns)
            if seen == self._seen:
                return []
            if there.st_size > LARGEST_BYTES:
                return self._say(None, "denied", f"too large for a {self._path.name}")
            data = path.read_bytes()
        except FileNotFoundError:
            return self._say(None, "waiting", self.absent)
        except OSError as error:
            return self._say(None, "denied", error.strerror or str(error))
        modified_at = there.st_mtime_ns / 1e9
        value, whole = document_of(data)
        if value is None or not (whole or now - modified_at > SETTLED_S) or not self._takes(value):
            # Being written at this moment, most likely: `seen` is not kept, so that it is tried again.
            return self._say(modified_at, "waiting", "not a whole document; it may be under way")
        self._seen = seen
        self._bad, self._first_bad = (0, "") if whole else (1, BREAKS_OFF)
        events = list(self._events(value))
        return [*events, *self._say(modified_at, "reading", "")]

    def close(self) -> list[Event]:
        """Nothing is held back."""
        return []

    def _place(self) -> Path:
        """Where the document is now."""
        return self._path

    @abstractmethod
    def _takes(self, value: object) -> bool:
        """Whether a document is one of this kind."""

    @abstractmethod
    def _events(self, value: object) -> Iterator[Event]:
        """What a document tells that has not been told."""

    def _say(self, modified_at: float | None, state: str, reason: str) -> list[Event]:
        status = SourceStatus.model_validate(
            {
                "source": self.source,
                "path": str(self._path),
                "state": state,
                "reason": reason,
                "lines": self._lines,
                "bad_lines": self._bad,
                "first_bad": self._first_bad,
                "modified_at": modified_at,
            }
        )
        if status == self._status:
            return []
        self._status = status
        return [status]


def document_of(data: bytes) -> tuple[object, bool]:
    """The document, and whether it is whole; of one that breaks off, what is certain."""
    try:
        return from_json(data), True
    except ValueError:
        pass
    try:
        value: object = from_json(data, allow_partial=True)
    except ValueError:
        return None, False
    last = value
    if isinstance(value, dict) and value:
        last = list(cast("dict[str, object]", value).values())[-1]
    if isinstance(last, list) and last:
        del cast("list[object]", last)[-1]  # it may lack some of its keys
    return value, False
