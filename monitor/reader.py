"""Reads what answers slowly, in a thread of its own. Its one rule: a poll hardly ever waits.

A service over the network takes seconds to answer, or never does. The thread asks it and puts events in a
queue; a session's poll empties the queue. Until the first answer is in, a poll waits a moment for it, so that
one look at a run (`rltop check`) sees all of it.
"""

import threading
from collections.abc import Callable, Iterable
from queue import Empty, SimpleQueue

from ..models.event import Event

PATIENCE_S = 0.2
"""How long a poll waits while the first answer is on its way."""
CLOSE_S = 1.0
"""Patience with a service when all is over."""


class Pause(threading.Event):
    """How a reader waits between two questions: `wait(seconds)` is True at once when all is over."""


class Reader:
    """A Source over a generator that blocks.

    `read` is called once, in the thread, with the pause to wait in. It yields lists of events; an empty list
    says that all there is so far has been given. What goes wrong is a SourceStatus; an exception is a bug,
    and is raised by the poll that comes next.
    """

    def __init__(self, name: str, read: Callable[[Pause], Iterable[list[Event]]]) -> None:
        self._read = read
        self._events: SimpleQueue[list[Event]] = SimpleQueue()
        self._pause = Pause()
        self._caught_up = threading.Event()
        self._done = threading.Event()
        self._bug: Exception | None = None
        self._thread = threading.Thread(target=self._work, name=f"rltop-{name}", daemon=True)
        self._started = False

    @property
    def more(self) -> bool:
        """Whether more lies waiting, or the first answer is still to come."""
        quiet = self._caught_up.is_set() and self._events.empty() and self._bug is None
        return self._started and not quiet

    @property
    def over(self) -> bool:
        """Whether nothing more is to come: the thread has ended, and all that it said has been given."""
        return self._done.is_set() and self._events.empty() and self._bug is None

    def poll(self, now: float) -> list[Event]:
        """What has been answered since the last time."""
        if not self._started:
            self._started = True
            self._thread.start()
        events: list[Event] = []
        patience_s = 0.0 if self._caught_up.is_set() else PATIENCE_S
        try:
            events += self._events.get(timeout=patience_s) if patience_s else self._events.get_nowait()
            while True:
                events += self._events.get_nowait()
        except Empty:
            if self._bug is not None and not events:
                bug, self._bug = self._bug, None
                raise bug from None
            return events

    def close(self) -> list[Event]:
        """End the thread, and give what it had still read."""
        self._pause.set()
        if self._started:
            self._thread.join(CLOSE_S)
        events: list[Event] = []
        while not self._events.empty():
            events += self._events.get()
        return events

    def _work(self) -> None:
        try:
            for events in self._read(self._pause):
                if events:
                    self._events.put(events)
                else:
                    self._caught_up.set()
                if self._pause.is_set():
                    return
        except Exception as error:  # noqa: BLE001 - raised where somebody sees it
            self._bug = error
        finally:
            self._done.set()
            self._caught_up.set()
