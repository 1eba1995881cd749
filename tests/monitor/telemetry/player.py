"""Plays a scenario on the fake driver: `player.py LIBRARY WORD…`, a line of JSON for each look.

Words: `scope.key=value` changes the driver; `look` lets two seconds pass and has the GPUs read; `wait:N` lets
N seconds pass; `peek` asks for the latest and does not wait for it; `tensor` and `no-tensor` change what is
wanted; `calls:NAME` tells how often a function was called.
"""

import ctypes
import sys

from pydantic_core import to_json

from rltop.monitor.telemetry.nvml import NvmlSampler

INTERVAL_S = 2.0


def main(library: str, words: list[str]) -> None:
    # pynvml asks for the library by its short name, and gets the one that is loaded under it already.
    driver = ctypes.CDLL(library)
    sampler = NvmlSampler("node-0")
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
        elif name == "wait":
            now += float(value)
        elif name in ("tensor", "no-tensor"):
            sampler.want_tensor = name == "tensor"
        elif name == "calls":
            print(driver.fake_calls(value.encode()))
        else:
            driver.fake_set(word.encode())
    sampler.close()


def tell(sampler: NvmlSampler, now: float) -> None:
    sample = sampler.latest(now)
    told = {} if sample is None else sample.model_dump()
    print(to_json({"now": now, "reason": sampler.reason(now), **told}).decode())


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
