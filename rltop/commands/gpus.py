"""`rltop gpus`: GPUs here or elsewhere, once or for as long as one likes."""

import argparse
import socket
import sys
from collections.abc import Sequence
from time import sleep

from ..models.gpu import GpuSample
from ..monitor.clock import SystemClock
from ..monitor.telemetry.page import page
from ..monitor.telemetry.places import samplers_at
from ..monitor.telemetry.sampler import INTERVAL_S, Sampler, Told
from .flags import complain

PATIENCE_S = 30.0
"""A driver that no one else uses may take many seconds to wake eight GPUs."""
WINDOW_S = 0.5
"""Time over which tensor activity is measured: it takes two looks."""
CLEAR = "\x1b[H\x1b[J"


def run(args: argparse.Namespace) -> int:
    """Print what the GPUs do; 3, and why, where there are none."""
    samplers = samplers_at(args.places or ["local"], args.engine or (), want_tensor=True)
    as_json = args.json or not sys.stdout.isatty()
    try:
        told = first_readings(samplers)
        now = SystemClock().now()
        silent = "; ".join(sampler.reason(now) for sampler in samplers if not sampler.latest(now))
        if not told:
            if as_json:
                where = (
                    ", ".join(sampler.who for sampler in samplers) if args.places else socket.gethostname()
                )
                backend = args.places[0].partition(":")[0] if args.places else "nvml"
                print(_json(GpuSample(at=now, host=where, backend=backend, gpus=(), note=silent), indent=2))
            return complain(silent)
        if silent:
            complain(silent)
        if args.watch:
            _watch(samplers, as_json)
        else:
            _print(told, as_json, indent=2)
        return 0
    finally:
        for sampler in samplers:
            sampler.close()


def first_readings(samplers: Sequence[Sampler]) -> list[Told]:
    """Readings with all that there is to know; none where there are no GPUs, or nobody answers."""
    if not _look(samplers):
        return []
    sleep(WINDOW_S)
    return _look(samplers)


def _look(samplers: Sequence[Sampler]) -> list[Told]:
    """Have all look at once, and wait for them."""
    clock = SystemClock()
    began = clock.now()
    for sampler in samplers:
        sampler.order(began)
    for sampler in samplers:
        sampler.wait(max(0.0, PATIENCE_S - (clock.now() - began)))
    return _latest(samplers, clock.now())


def _latest(samplers: Sequence[Sampler], now: float) -> list[Told]:
    return [told for sampler in samplers for told in sampler.latest(now)]


def _watch(samplers: Sequence[Sampler], as_json: bool) -> None:
    """Print the latest every two seconds until the user has had enough. What hangs is told of."""
    clock = SystemClock()
    while True:
        told = _latest(samplers, clock.now())
        if not as_json:
            print(CLEAR, end="")
        _print(told, as_json)
        sleep(INTERVAL_S)


def _print(told: Sequence[Told], as_json: bool, indent: int | None = None) -> None:
    """JSON of one host in many lines, of several in a line each."""
    for each in told:
        print(_json(each, indent if len(told) == 1 else None) if as_json else page(each), flush=True)


def _json(told: Told, indent: int | None = None) -> str:
    return told.model_dump_json(exclude={"kind"}, indent=indent)
