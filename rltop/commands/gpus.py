"""`rltop gpus`: the GPUs of this machine, once or for as long as one likes."""

import argparse
import socket
import sys
from time import sleep

from ..models.gpu import GpuSample
from ..monitor.clock import SystemClock
from ..monitor.telemetry.nvml import BACKEND, NvmlProbe
from ..monitor.telemetry.page import page
from ..monitor.telemetry.sampler import INTERVAL_S, Sampler, Told
from .flags import complain

PATIENCE_S = 30.0
"""A driver that no one else uses may take many seconds to wake eight GPUs."""
WINDOW_S = 0.5
"""Time over which tensor activity is measured: it takes two looks."""
CLEAR = "\x1b[H\x1b[J"


def run(args: argparse.Namespace) -> int:
    """Print what the GPUs do; 3, and why, where there are none."""
    host = socket.gethostname()
    sampler = Sampler(NvmlProbe(host), want_tensor=True)
    as_json = args.json or not sys.stdout.isatty()
    try:
        samples = first_samples(sampler)
        if not samples:
            now = SystemClock().now()
            why = sampler.reason(now)
            if as_json:
                print(_json(GpuSample(at=now, host=host, backend=BACKEND, gpus=(), note=why), indent=2))
            return complain(why)
        if args.watch:
            _watch(sampler, as_json)
        else:
            _print(samples, as_json, indent=2)
        return 0
    finally:
        sampler.close()


def first_samples(sampler: Sampler) -> tuple[Told, ...]:
    """Samples with all that there is to know; none where there are no GPUs, or the driver hangs."""
    clock = SystemClock()
    sampler.order(clock.now())
    sampler.wait(PATIENCE_S)
    if not sampler.latest(clock.now()):
        return ()
    sleep(WINDOW_S)
    sampler.order(clock.now())
    sampler.wait(PATIENCE_S)
    return sampler.latest(clock.now())


def _watch(sampler: Sampler, as_json: bool) -> None:
    """Print the latest every two seconds until the user has had enough. A driver that hangs is told of."""
    clock = SystemClock()
    while True:
        samples = sampler.latest(clock.now())
        if not as_json:
            print(CLEAR, end="")
        _print(samples, as_json)
        sleep(INTERVAL_S)


def _print(samples: tuple[Told, ...], as_json: bool, indent: int | None = None) -> None:
    for sample in samples:
        if as_json:
            print(_json(sample, indent if len(samples) == 1 else None), flush=True)
        elif isinstance(sample, GpuSample):
            print(page(sample), flush=True)


def _json(sample: Told, indent: int | None = None) -> str:
    return sample.model_dump_json(exclude={"kind"}, indent=indent)
