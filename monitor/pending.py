"""A target that is not there yet, or holds nothing that could be recognised: waits, then opens it."""

from collections.abc import Sequence
from pathlib import Path

from ..models.event import Event, SourceStatus
from .source import Source
from .target import TargetError, open_target


class PendingSource:
    """Stands in for the sources of a target until they can be told."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._opened: Sequence[Source] = ()
        self._reason = ""

    @property
    def more(self) -> bool:
        """Whether more lies waiting right now."""
        return any(source.more for source in self._opened)

    def poll(self, now: float) -> list[Event]:
        """What the run says, or once that it is being waited for."""
        found: list[Event] = []
        if not self._opened:
            try:
                self._opened = open_target(self._path)
            except TargetError as error:
                return self._waiting(str(error))
            if self._reason:
                found.append(SourceStatus(source="pending", path=str(self._path)))
        return found + [event for source in self._opened for event in source.poll(now)]

    def close(self) -> list[Event]:
        """What the run had held back."""
        return [event for source in self._opened for event in source.close()]

    def _waiting(self, reason: str) -> list[Event]:
        if reason == self._reason:
            return []
        self._reason = reason
        return [SourceStatus(source="pending", path=str(self._path), state="waiting", reason=reason)]
