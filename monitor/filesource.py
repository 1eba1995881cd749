"""A transport and a parser as one source. Its one rule: a poll does a bounded amount of work."""

from collections.abc import Iterator

from ..models.event import Event, SourceStatus
from .lines import Lines
from .source import Line, Parser, Transport
from .wrapping import Wrapping

POLL_BYTES = 8 * 1024 * 1024
"""After this much a poll returns, so that the screen shows how far a long log has been read."""


class FileSource:
    """Reads one stream of lines: a log, a compressed log, a pipe."""

    def __init__(self, transport: Transport, parser: Parser, poll_bytes: int = POLL_BYTES) -> None:
        self.more = False
        self._transport = transport
        self._parser = parser
        self._poll_bytes = poll_bytes
        self._lines = Lines()
        self._wrapping = Wrapping()
        self._lines_before = 0
        """Lines of the files that were here before the present one was written anew."""
        self._flushed = False
        self._status: SourceStatus | None = None

    def poll(self, now: float) -> list[Event]:
        """Events of at most about `poll_bytes` of new bytes; `more` tells whether that was not all."""
        events: list[Event] = []
        left = self._poll_bytes
        self.more = False
        for chunk in self._transport.read(now):
            if chunk.restarted:
                self._lines_before += self._lines.number
                self._lines.restart()
                self._wrapping = Wrapping()
                events.extend(self._parser.restart())
            for line in self._bare(self._lines.feed(chunk)):
                events.extend(self._parser.feed(line))
            left -= len(chunk.data)
            if left <= 0:
                self.more = True
                break
        if self._transport.settled:
            events.extend(self._last_line())
            if self._transport.state == "ended":
                events.extend(self._flush())
        events.extend(self._changed_status())
        return events

    def close(self) -> list[Event]:
        """What the last line and the parser had held back; lets go of the file."""
        events = [*self._last_line(), *self._flush()]
        events.extend(self._changed_status())
        self._transport.close()
        return events

    def _last_line(self) -> Iterator[Event]:
        for line in self._bare(self._lines.flush()):
            yield from self._parser.feed(line)

    def _bare(self, lines: Iterator[Line]) -> Iterator[Line]:
        """The lines without what carried them here."""
        return lines if self._wrapping.plain else self._wrapping.unwrapped(lines)

    def _flush(self) -> Iterator[Event]:
        """Once: a parser may say again what it holds back when it is asked again."""
        if not self._flushed:
            self._flushed = True
            yield from self._parser.flush()

    def _changed_status(self) -> Iterator[SourceStatus]:
        transport, parser, lines = self._transport, self._parser, self._lines
        cut = lines.overlong
        status = SourceStatus(
            source=parser.source,
            path=transport.path,
            state=transport.state,
            reason=transport.reason,
            lines=self._lines_before + lines.number + lines.tail_given,
            bad_lines=parser.bad_lines,
            first_bad=parser.first_bad,
            modified_at=transport.modified_at,
            notes=(f"{cut} line{'s' if cut > 1 else ''} of more than 64 MB cut short",) if cut else (),
        )
        if status != self._status:
            self._status = status
            yield status
