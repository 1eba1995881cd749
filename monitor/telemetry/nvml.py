"""Local GPUs through NVML, read in a thread of their own. Its one rule: asking for the latest never waits.

A driver can hang inside a call for minutes. ctypes lets the other threads run meanwhile; the hang shows as a
sample that grows stale, and a daemon thread does not keep the process from ending.
"""

import math
import threading
from queue import SimpleQueue
from typing import NamedTuple

from ...models.gpu import GpuSample
from .devices import Devices, Sweep

BACKEND = "nvml"
INTERVAL_S = 2.0
"""Pause between samples. NVML's own figures change once a second at most."""
STALE_S = 5.0
"""After so many seconds without an answer the driver is said not to answer."""

CLOSE_S = 0.2
"""Patience with the driver when all is over."""


class Order(NamedTuple):
    """A sweep that the worker is to make."""

    number: int
    at: float
    want_tensor: bool


class Done(NamedTuple):
    """What came of an order. Replaced as a whole, so that no lock is needed to read it."""

    number: int = 0
    at: float = -math.inf
    sweep: Sweep = Sweep(())


class NvmlSampler:
    """The GPUs of this machine. All methods are for one thread, that of whoever asks."""

    def __init__(self, host: str, interval_s: float = INTERVAL_S, want_tensor: bool = False) -> None:
        self.want_tensor = want_tensor
        """Whether to read tensor activity, from counters that other profilers may want too."""
        self._host = host
        self._interval_s = interval_s
        self._orders: SimpleQueue[Order | None] = SimpleQueue()
        self._last_order = Order(0, -math.inf, want_tensor)
        self._done = Done()
        self._sample: GpuSample | None = None
        """Of the last sweep that found GPUs."""
        self._told = 0
        """The order that it came of."""
        self._idle = threading.Event()
        self._idle.set()
        self._worker: threading.Thread | None = None

    def latest(self, now: float) -> GpuSample | None:
        """The last sample, with its own time; orders a new one when it is due. Never blocks.

        None until there is one, and where there are no GPUs: `reason` tells. While the driver does not
        answer, the note of the sample says how old it is.
        """
        done = self._done
        if done.sweep.gpus and done.number != self._told:
            self._told = done.number
            self._sample = GpuSample(
                at=done.at, host=self._host, backend=BACKEND, gpus=done.sweep.gpus, note=done.sweep.note
            )
        if self._due(now):
            self.order(now)
        stale = self._stale(now)
        if self._sample is None or not stale:
            return self._sample
        return self._sample.model_copy(update={"note": stale})

    def order(self, now: float) -> None:
        """Have the GPUs read as of `now`, unless they are being read already."""
        if self._busy:
            return
        if self._worker is None:
            self._worker = threading.Thread(target=self._work, name="rltop-nvml", daemon=True)
            self._worker.start()
        self._last_order = Order(self._last_order.number + 1, now, self.want_tensor)
        self._idle.clear()
        self._orders.put(self._last_order)

    def wait(self, timeout_s: float) -> bool:
        """Block until nothing is being read; whether that came true in time. Not for the screen."""
        return self._idle.wait(timeout_s)

    def reason(self, now: float) -> str:
        """One line on why there are no GPUs, or what is wrong with them; empty when all is well."""
        return self._stale(now) or self._done.sweep.note

    def close(self) -> None:
        """Let go of the driver, unless it hangs. May be called twice; nothing may be asked afterwards."""
        self._orders.put(None)
        if self._worker is not None:
            self._worker.join(CLOSE_S)

    @property
    def _busy(self) -> bool:
        return self._done.number != self._last_order.number

    def _due(self, now: float) -> bool:
        pause_s = max(self._interval_s, self._done.sweep.retry_s)
        # A clock that was set back must not keep us waiting for it to catch up.
        return not self._busy and not 0 <= now - self._last_order.at < pause_s

    def _stale(self, now: float) -> str:
        """How long the driver has kept us waiting, once that is too long."""
        waited_s = now - self._last_order.at
        if not self._busy or waited_s < STALE_S:
            return ""
        if self._sample is None:
            return f"the NVIDIA driver has not answered for {waited_s:.0f} s"
        return f"stale {now - self._sample.at:.0f} s: the NVIDIA driver does not answer"

    def _work(self) -> None:
        devices = Devices()
        while (order := self._orders.get()) is not None:
            sweep = devices.sweep(order.at, order.want_tensor)
            self._done = Done(order.number, order.at, sweep)
            self._idle.set()
        devices.close()
