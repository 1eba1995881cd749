"""Plays a scenario on the fake driver: `player.py LIBRARY WORD…`, a line of JSON for each look.

Words: `scope.key=value` changes the driver; `wait:N` lets N seconds pass; `look` lets two seconds pass and
has the GPUs read; `peek` asks for the latest and does not wait for it; `tensor` and `no-tensor` change what
is wanted; `poll` polls a GpuSource once, `follow` lets two seconds pass and polls it until it has something
to tell; `calls:NAME` tells how often a function was called, `until:NAME` waits for it to be called.
"""

import ctypes
import sys
from collections.abc import Callable
from functools import partial
from time import sleep
from typing import TypeVar

from pydantic_core import to_json

from rltop.monitor.telemetry.nvml import NvmlSampler
from rltop.monitor.telemetry.source import GpuSource

INTERVAL_S = 2.0
T = TypeVar("T")


def main(library: str, words: list[str]) -> None:
    # pynvml asks for the library by its short name, and gets the one that is loaded under it already.
    driver = ctypes.CDLL(library)
    sampler, source = NvmlSampler("node-0"), GpuSource("node-1")
    now = 1_700_000_000.0
    for word in words:
        name, _, value = word.partition(":")
        if name == "look":
            now += INTERVAL_S
            sampler.latest(now)
            assert sampler.wait(10), "the driver does not answer"
            tell(sampler, now)
        elif name == "peek":
            tell(sampler, now)
        elif name == "poll":
            print(to_json(source.poll(now)).decode())
        elif name == "follow":
            now += INTERVAL_S
            print(to_json(until_something(partial(source.poll, now))).decode())
        elif name == "until":
            until_something(partial(driver.fake_calls, value.encode()))
        elif name == "wait":
            now += float(value)
        elif name in ("tensor", "no-tensor"):
            sampler.want_tensor = name == "tensor"
        elif name == "calls":
            print(driver.fake_calls(value.encode()))
        else:
            driver.fake_set(word.encode())
    sampler.close()
    assert source.close() == []


def until_something(ask: Callable[[], T]) -> T:
    """The worker answers in its own time, of which a source knows nothing."""
    for _ in range(2000):
        if found := ask():
            return found
        sleep(0.005)
    raise AssertionError("the driver does not answer")


def tell(sampler: NvmlSampler, now: float) -> None:
    sample = sampler.latest(now)
    told = {} if sample is None else sample.model_dump()
    print(to_json({"now": now, "reason": sampler.reason(now), **told}).decode())


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
