"""A run that is piped in: kept in a temporary file, so that it is recognised and read like any other."""

import tempfile
from pathlib import Path

from ..models.event import Event, SourceStatus
from .pending import PendingSource
from .transport.stdin import Stdin


class PipedSource:
    """Standard input as a source. The temporary file goes when the source is closed."""

    def __init__(self, fd: int = 0) -> None:
        self._stdin = Stdin(fd)
        self._folder = tempfile.TemporaryDirectory(prefix="rltop-")
        self._path = Path(self._folder.name) / "stdin"
        self._file = self._path.open("ab", buffering=0)
        self._source = PendingSource(self._path)
        self._status: SourceStatus | None = None

    @property
    def more(self) -> bool:
        """Whether more lies waiting right now."""
        return self._source.more

    def poll(self, now: float) -> list[Event]:
        """What has come down the pipe since the last time."""
        if self._file.closed:
            return []
        for chunk in self._stdin.read(now):
            self._file.write(chunk.data)
        events = self._source.poll(now)
        if self._stdin.state == "ended" and not self.more:
            events += self._close()
            # Said once more, whatever has changed: now the end of the pipe is known.
            events += [] if self._status is None else [self._status]
        return self._named(events)

    def drain(self) -> None:
        """Wait for the end of the pipe: what is looked at once is looked at whole."""
        while self._stdin.state not in ("ended", "denied"):
            self._stdin.wait()
            for chunk in self._stdin.read(0.0):
                self._file.write(chunk.data)

    def close(self) -> list[Event]:
        """What was held back at the end of the pipe."""
        return self._named(self._close())

    def _close(self) -> list[Event]:
        if self._file.closed:
            return []
        self._file.close()
        events = self._source.close()
        self._folder.cleanup()
        return events

    def _named(self, events: list[Event]) -> list[Event]:
        """The user knows no temporary file: the source is called `-`."""
        named: list[Event] = []
        for event in events:
            if isinstance(event, SourceStatus):
                self._status = event
                reason = event.reason.replace(str(self._path), "-")
                state = event.state
                if self._stdin.state == "denied":
                    # Nothing will ever come: to whoever waits for an end, this is one.
                    state, reason = "ended", f"-: {self._stdin.reason}"
                elif self._file.closed:
                    state = "ended"
                event = event.model_copy(update={"path": "-", "reason": reason, "state": state})
            named.append(event)
        return named
