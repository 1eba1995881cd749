"""A target that is not there yet, or holds nothing that could be recognised: waits, then opens it.

Where another run takes the place of the one that was read, the target is opened again, as for a first look.
"""

from collections.abc import Sequence
from pathlib import Path

from ..models.event import Event, SourceStatus
from .anew import Beginnings
from .source import Source
from .target import TargetError, open_target


class PendingSource:
    """Stands in for the sources of a target until they can be told.

    `opened` are those that it has already. `renews`: see above.
    """

    def __init__(self, path: Path, opened: Sequence[Source] = (), renews: bool = True) -> None:
        self._path = path
        self._opened = opened
        self._reason = ""
        self._beginnings = Beginnings() if renews else None

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
        events = [event for source in self._opened for event in source.poll(now)]
        another = None if self._beginnings is None else self._beginnings.look(events)
        if another is None:
            return found + events
        self.close()
        self._opened, self._reason, self._beginnings = (), "", Beginnings()
        return [another, *self.poll(now)]

    def close(self) -> list[Event]:
        """What the run had held back."""
        return [event for source in self._opened for event in source.close()]

    def _waiting(self, reason: str) -> list[Event]:
        if reason == self._reason:
            return []
        self._reason = reason
        return [SourceStatus(source="pending", path=str(self._path), state="waiting", reason=reason)]
