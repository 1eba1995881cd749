"""Facts of a run that are known before its log is read, as a source of their own."""

from ..models.event import Event
from ..models.run import RunInfo


class KnownSource:
    """Tells facts of a run, once."""

    more = False

    def __init__(self, known: RunInfo) -> None:
        self._known: list[Event] = [known]

    def poll(self, now: float) -> list[Event]:
        """The facts, at the first call."""
        known, self._known = self._known, []
        return known

    def close(self) -> list[Event]:
        """Nothing is held back."""
        return []
