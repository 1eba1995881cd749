"""`rltop gpus`: the GPUs of this machine, once or for as long as one likes."""

import argparse
import socket
import sys
from time import sleep

from ..models.gpu import GpuSample
from ..monitor.clock import SystemClock
from ..monitor.telemetry.nvml import BACKEND, INTERVAL_S, NvmlSampler
from ..monitor.telemetry.page import page
from .flags import complain

PATIENCE_S = 30.0
"""A driver that no one else uses may take many seconds to wake eight GPUs."""
WINDOW_S = 0.5
"""Time over which tensor activity is measured: it takes two looks."""
CLEAR = "\x1b[H\x1b[J"


def run(args: argparse.Namespace) -> int:
    """Print what the GPUs do; 3, and why, where there are none."""
    host = socket.gethostname()
    sampler = NvmlSampler(host, want_tensor=True)
    as_json = args.json or not sys.stdout.isatty()
    try:
        sample = first_sample(sampler)
        if sample is None:
            now = SystemClock().now()
            why = sampler.reason(now)
            if as_json:
                print(_json(GpuSample(at=now, host=host, backend=BACKEND, gpus=(), note=why), indent=2))
            return complain(why)
        if args.watch:
            _watch(sampler, as_json)
        elif as_json:
            print(_json(sample, indent=2))
        else:
            print(page(sample))
        return 0
    finally:
        sampler.close()


def first_sample(sampler: NvmlSampler) -> GpuSample | None:
    """A sample with all that there is to know; None where there are no GPUs, or the driver hangs."""
    clock = SystemClock()
    sampler.order(clock.now())
    sampler.wait(PATIENCE_S)
    if sampler.latest(clock.now()) is None:
        return None
    sleep(WINDOW_S)
    sampler.order(clock.now())
    sampler.wait(PATIENCE_S)
    return sampler.latest(clock.now())


def _watch(sampler: NvmlSampler, as_json: bool) -> None:
    """Print the latest every two seconds until the user has had enough. A driver that hangs is told of."""
    clock = SystemClock()
    while True:
        sample = sampler.latest(clock.now())
        if sample is not None:
            print(_json(sample) if as_json else f"{CLEAR}{page(sample)}", flush=True)
        sleep(INTERVAL_S)


def _json(sample: GpuSample, indent: int | None = None) -> str:
    return sample.model_dump_json(exclude={"kind"}, indent=indent)
