"""Brings notices to one receiver, in a thread of its own: a slow or dead one holds up nobody else.

Its one rule: whoever posts never waits.
"""

import threading
from collections.abc import Sequence

from ..clock import Clock
from .lane import Lane
from .message import message_of
from .news import Notice
from .receiver import Receiver


class Courier:
    """One receiver, its lane and its thread, which starts with the first notice."""

    def __init__(self, receiver: Receiver, lane: Lane, clock: Clock) -> None:
        self.receiver = receiver
        self._lane = lane
        self._clock = clock
        self._changed = threading.Condition()
        self._started = False
        self._closing = False
        self._trouble = ""
        self._thread = threading.Thread(target=self._run, name="rltop-notify", daemon=True)

    def post(self, notices: Sequence[Notice]) -> None:
        """Take these along."""
        if not notices:
            return
        with self._changed:
            self._lane.add(notices, self._clock.now())
            if not self._started:
                self._started = True
                self._thread.start()
            self._changed.notify()

    @property
    def trouble(self) -> str:
        """One line while the last attempt has failed; holds no secret."""
        with self._changed:
            failed = self._trouble and self._lane.waiting
            return f"notifications wait for {self.receiver.name}: {self._trouble}" if failed else ""

    def close(self) -> None:
        """Try once more at once, if something waits, and end. Returns at once; see `join`."""
        with self._changed:
            self._closing = True
            self._changed.notify()

    def join(self, timeout_s: float) -> str:
        """Wait for the end; what has not arrived, in one line, or nothing."""
        if self._started:
            self._thread.join(timeout_s)
        lost = self._lane.waiting + self._lane.left_out
        if not lost:
            return ""
        are = "1 notification" if lost == 1 else f"{lost} notifications"
        return f"{are} not delivered to {self.receiver.name}: {self._trouble or 'no answer in time'}"

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._closing and not self._is_due():
                    due_at = self._lane.due_at()
                    wait_s = None if due_at is None else max(0.0, due_at - self._clock.now())
                    self._changed.wait(wait_s)
                last = self._closing
                batch, left_out = self._lane.batch(), self._lane.left_out
            if batch:
                self._bring(batch, left_out)
            if last:
                return

    def _is_due(self) -> bool:
        due_at = self._lane.due_at()
        return due_at is not None and due_at <= self._clock.now()

    def _bring(self, batch: tuple[Notice, ...], left_out: int) -> None:
        why = self.receiver.deliver(message_of(batch, left_out))
        with self._changed:
            self._trouble = why
            if why:
                self._lane.failed(self._clock.now())
            else:
                self._lane.sent(self._clock.now())
