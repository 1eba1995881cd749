"""Readings taken in a thread of their own, by any backend. Its one rule: asking for the latest never waits.

A driver, a network or a far host can hang inside a call for minutes. ctypes and sockets let the other threads
run meanwhile; the hang shows as readings that grow stale, and a daemon thread does not keep the process from
ending.
"""

import math
import threading
from queue import SimpleQueue
from typing import NamedTuple, Protocol

from ...models.gpu import GpuSample, Serving

Told = GpuSample | Serving

INTERVAL_S = 2.0
"""Pause between looks. NVML's own figures change once a second at most."""
STALE_S = 5.0
"""After so many seconds without an answer the backend is said not to answer."""
IMPATIENT_S = 30.0
"""After so many the backend may cut off what hangs."""
CLOSE_S = 0.2
"""Patience with the backend when all is over."""


class Found(NamedTuple):
    """What a look came to."""

    told: tuple[Told, ...] = ()
    """A reading of each host. Of a host that is missing, the last one stays, and grows stale."""
    note: str = ""
    """One line on what is wrong; on its own, why there is nothing."""
    retry_s: float = 0.0
    """There is no use in looking again before so many seconds have passed; infinite for never."""


class Probe(Protocol):
    """One way of reading GPUs or engines."""

    who: str
    """What is waited for, as `the NVIDIA driver`."""

    def look(self, now: float, want_tensor: bool) -> Found:
        """Read at `now`, unix seconds. May block; never raises on what the other side does."""
        ...

    def cut(self) -> None:
        """Called from another thread when a look has hung for long: end it, where that can be done."""
        ...

    def close(self) -> None:
        """Let go; called in the thread that looks, after the last look."""
        ...


class Order(NamedTuple):
    """A look that the worker is to take."""

    number: int
    at: float
    want_tensor: bool


class Done(NamedTuple):
    """What came of an order. Replaced as a whole, so that no lock is needed to read it."""

    number: int = 0
    at: float = -math.inf
    found: Found = Found()


class Sampler:
    """The readings of one probe. All methods are for one thread, that of whoever asks."""

    def __init__(self, probe: Probe, interval_s: float = INTERVAL_S, want_tensor: bool = False) -> None:
        self.want_tensor = want_tensor
        """Whether to read tensor activity, from counters that other profilers may want too."""
        self._probe = probe
        self._interval_s = interval_s
        self._orders: SimpleQueue[Order | None] = SimpleQueue()
        self._last_order = Order(0, -math.inf, want_tensor)
        self._done = Done()
        self._last: dict[str, Told] = {}
        """The last reading of each host."""
        self._fresh: frozenset[str] = frozenset()
        """The hosts that the last look told of."""
        self._taken = 0
        """The order that it came of."""
        self._cut_at = -math.inf
        self._idle = threading.Event()
        self._idle.set()
        self._worker: threading.Thread | None = None

    @property
    def who(self) -> str:
        """What is read, as a message names it."""
        return self._probe.who

    def latest(self, now: float) -> tuple[Told, ...]:
        """The last reading of each host, with its own time; orders new ones when they are due. Never blocks.

        Empty until there are some, and where there is nothing to read: `reason` tells. While the backend
        does not answer, or a host is missing from its answer, the note says how old a reading is.
        """
        done = self._done
        if done.number != self._taken:
            self._taken = done.number
            self._last.update((each.host, each) for each in done.found.told)
            self._fresh = frozenset(each.host for each in done.found.told)
        if self._due(now):
            self.order(now)
        self._lose_patience(now)
        return tuple(self._aged(each, now) for each in self._last.values())

    def order(self, now: float) -> None:
        """Have a look taken as of `now`, unless one is being taken already."""
        if self._busy:
            return
        if self._worker is None:
            self._worker = threading.Thread(target=self._work, name="rltop-telemetry", daemon=True)
            self._worker.start()
        self._last_order = Order(self._last_order.number + 1, now, self.want_tensor)
        self._idle.clear()
        self._orders.put(self._last_order)

    def wait(self, timeout_s: float) -> bool:
        """Block until no look is being taken; whether that came true in time. Not for the screen."""
        return self._idle.wait(timeout_s)

    def reason(self, now: float) -> str:
        """One line on why there is nothing, or what is wrong with it; empty when all is well."""
        if not self._hangs(now):
            return self._done.found.note
        oldest = min((each.at for each in self._last.values()), default=None)
        if oldest is None:
            return f"{self._probe.who} has not answered for {now - self._last_order.at:.0f} s"
        return f"stale {now - oldest:.0f} s: {self._probe.who} does not answer"

    def close(self) -> None:
        """Let go, unless the backend hangs. May be called twice; nothing may be asked afterwards."""
        self._orders.put(None)
        if self._worker is not None:
            if self._busy:
                self._probe.cut()
            self._worker.join(CLOSE_S)

    @property
    def _busy(self) -> bool:
        return self._done.number != self._last_order.number

    def _due(self, now: float) -> bool:
        pause_s = max(self._interval_s, self._done.found.retry_s)
        # A clock that was set back must not keep us waiting for it to catch up.
        return not self._busy and not 0 <= now - self._last_order.at < pause_s

    def _hangs(self, now: float) -> bool:
        return self._busy and now - self._last_order.at >= STALE_S

    def _lose_patience(self, now: float) -> None:
        waited_s = now - max(self._last_order.at, self._cut_at)
        if self._busy and waited_s >= IMPATIENT_S:
            self._cut_at = now
            self._probe.cut()

    def _aged(self, told: Told, now: float) -> Told:
        """A reading with its age, where it should have been followed by another."""
        if self._hangs(now):
            why = f"{self._probe.who} does not answer"
        elif told.host not in self._fresh and now - told.at >= STALE_S:
            why = self._done.found.note or f"missing from what {self._probe.who} tells"
        else:
            return told
        age_s = max(0.0, now - told.at)
        return told.model_copy(update={"note": f"stale {age_s:.0f} s: {why}", "stale_s": age_s})

    def _work(self) -> None:
        while (order := self._orders.get()) is not None:
            found = self._probe.look(order.at, order.want_tensor)
            self._done = Done(order.number, order.at, found)
            self._idle.set()
        self._probe.close()
