"""Reads what is piped into standard input. Its one rule: never wait for it."""

import os
import select
import stat
from collections.abc import Iterator

from ..source import Chunk, TransportState

CHUNK_BYTES = 128 * 1024


class Stdin:
    """Standard input, named `-`. Ends when its writer closes it.

    `fd` is another descriptor where a screen needs number 0 for its keys and has moved the pipe away.
    """

    def __init__(self, fd: int = 0) -> None:
        self.path = "-"
        self.state: TransportState = "waiting"
        self.reason = "nothing has come yet"
        self.modified_at: float | None = None
        self._fd = fd

    @property
    def settled(self) -> bool:
        """Whether the writer has closed its end."""
        return self.state == "ended"

    def read(self, now: float) -> Iterator[Chunk]:
        """What is there now; a redirected file has no times, a pipe the time of reading."""
        if self.state == "ended":
            return
        try:
            if os.isatty(self._fd):
                self.state, self.reason = "denied", "is the keyboard: pipe a log into it"
                return
            at = None if stat.S_ISREG(os.fstat(self._fd).st_mode) else now
            while select.select([self._fd], [], [], 0)[0]:
                data = os.read(self._fd, CHUNK_BYTES)
                if not data:
                    self.state, self.reason = "ended", ""
                    return
                self.state, self.reason = "reading", ""
                self.modified_at = now
                yield Chunk(data, at)
        except BlockingIOError:
            pass  # another reader of the same pipe was faster
        except OSError as error:
            self.state, self.reason = "denied", f"cannot be read: {error.strerror or error}"

    def wait(self) -> None:
        """Block until something has come or the end has."""
        try:
            select.select([self._fd], [], [])
        except (OSError, ValueError):
            return  # `read` will say why

    def close(self) -> None:
        """Standard input belongs to the process and stays open."""
