"""Plays scenarios on the fake driver: `player.py LIBRARY`, a line of words in, a line of what was told out.

A scenario is a list of words: `scope.key=value` changes the driver; `wait:N` lets N seconds pass; `look` lets
two seconds pass and has the GPUs read; `peek` asks for the latest and does not wait for it; `tensor` and
`no-tensor` change what is wanted; `poll` polls a GpuSource once, `follow` lets two seconds pass and polls it
until it has something to tell; `calls:NAME` tells how often a function was called, `until:NAME` waits until
it is.
"""

import ctypes
import os
import sys
import threading
from collections.abc import Callable
from functools import partial
from time import sleep
from typing import Any, TypeVar

from pydantic_core import from_json, to_json

from rltop.monitor.telemetry.nvml import NvmlProbe
from rltop.monitor.telemetry.places import local
from rltop.monitor.telemetry.sampler import Sampler

INTERVAL_S = 2.0
T = TypeVar("T")


class Scenario:
    """One sampler, one source, one driver, and a time that only words move on."""

    def __init__(self, driver: ctypes.CDLL) -> None:
        self._driver = driver
        self._driver.fake_reset()
        self._now = 1_700_000_000.0
        self._sampler = Sampler(NvmlProbe("node-0"))
        self._source = local("node-1")

    def play(self, words: list[str]) -> list[Any]:
        """What was told, in order."""
        told = [self._obey(*word.split(":")) for word in words]
        self._driver.fake_reset()  # whatever hangs must not hang the next scenario
        self._sampler.close()
        assert self._source.close() == []
        return [each for each in told if each is not None]

    def _obey(self, name: str, value: str = "") -> Any:
        match name:
            case "wait":
                self._now += float(value)
            case "look":
                self._now += INTERVAL_S
                self._sampler.latest(self._now)
                assert self._sampler.wait(10), "the driver does not answer"
                return self._latest()
            case "peek":
                return self._latest()
            case "tensor" | "no-tensor":
                self._sampler.want_tensor = name == "tensor"
            case "poll":
                return self._source.poll(self._now)
            case "follow":
                self._now += INTERVAL_S
                return until_something(partial(self._source.poll, self._now))
            case "calls":
                return self._driver.fake_calls(value.encode())
            case "until":
                until_something(partial(self._driver.fake_calls, value.encode()))
            case _:
                self._driver.fake_set(name.encode())

    def _latest(self) -> dict[str, Any]:
        samples = self._sampler.latest(self._now)
        told = samples[0].model_dump() if samples else {}
        return {"now": self._now, "reason": self._sampler.reason(self._now), **told}


def until_something(ask: Callable[[], T]) -> T:
    """The worker answers in its own time, of which a source knows nothing."""
    for _ in range(2000):
        if found := ask():
            return found
        sleep(0.005)
    raise AssertionError("the driver does not answer")


def fall(failure: threading.ExceptHookArgs) -> None:
    """A worker that raises must be seen, and not only by whoever waits for it."""
    print(f"{failure.exc_type.__name__} in a thread: {failure.exc_value}", file=sys.stderr, flush=True)
    os._exit(1)


if __name__ == "__main__":
    threading.excepthook = fall
    # pynvml asks for the library by its short name, and gets the one that is loaded under it already.
    library = ctypes.CDLL(sys.argv[1])
    for line in sys.stdin:
        print(to_json(Scenario(library).play(from_json(line))).decode(), flush=True)
