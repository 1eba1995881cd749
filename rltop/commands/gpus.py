"""`rltop gpus`: GPUs here or elsewhere, once or for as long as one likes."""

import argparse
import socket
import sys
from collections.abc import Callable, Sequence
from time import sleep
from typing import TYPE_CHECKING

from .. import arguments
from ..models.gpu import GpuSample
from ..models.run import RunInfo
from ..models.settings import Settings
from ..monitor.clock import SystemClock
from ..monitor.frame import Frame
from ..monitor.telemetry.page import page
from ..monitor.telemetry.places import samplers_at
from ..monitor.telemetry.sampler import INTERVAL_S, Sampler, Told
from ..monitor.telemetry.source import GpuSource
from .flags import complain, config_files, has_screen, on_screen

if TYPE_CHECKING:
    from ..monitor.pipeline import Pipeline

PATIENCE_S = 30.0
"""A driver that no one else uses may take many seconds to wake eight GPUs."""
WINDOW_S = 0.5
"""Time over which tensor activity is measured: it takes two looks."""
LOOK_S = 1.0
"""Pause between two questions whether there is news."""
CLEAR = "\x1b[H\x1b[J"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The words of the command."""
    parser.add_argument(
        "places", nargs="*", metavar="PLACE",
        help="ssh://HOST[,HOST], http://HOST:9400/metrics, prom:http://HOST:9090, ray, ray:http://HEAD:8265, "
        "local (this machine)",
    )  # fmt: skip
    parser.add_argument(
        "--engine", action="append", metavar="URL", help="a vLLM's or SGLang's metrics, as http://HOST:8000"
    )
    parser.add_argument("--json", action="store_true", help="print JSON, as without a terminal")
    parser.add_argument(
        "--watch", action="store_true", help="go on, on the screen; in JSON, a line every 2 s"
    )
    parser.add_argument("--plain", action="store_true", help="with --watch: a table instead of a screen")
    arguments.screen(parser)


def run(args: argparse.Namespace) -> int:
    """Print what the GPUs do; 3, and why, where there are none."""
    samplers = samplers_at(args.places or ["local"], args.engine or (), want_tensor=True)
    as_json = args.json or not sys.stdout.isatty()
    if args.watch and not args.json and not args.plain and has_screen():
        return _screen(samplers, args)
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


def _screen(samplers: Sequence[Sampler], args: argparse.Namespace) -> int:
    """The screen, on GPUs that may or may not be there yet."""
    # Prices and projections, which a table does without.
    from ..monitor.config import load
    from .opening import pipeline

    where = ", ".join(sampler.who for sampler in samplers) if args.places else socket.gethostname()
    settings = Settings.model_validate(load(config_files()))
    return on_screen(_Watch(samplers, pipeline(settings), f"GPUs of {where}"), args, first="gpus")


class _Watch:
    """Makes a frame of GPUs alone when there is news. A run's session looks twice a second, for its log."""

    control = None

    def __init__(self, samplers: Sequence[Sampler], pipeline: "Pipeline", name: str) -> None:
        self._source = GpuSource(samplers)
        self._pipeline = pipeline
        self._name = name

    async def run(self, publish: Callable[[Frame], None]) -> None:
        clock = SystemClock()
        self._pipeline.feed(RunInfo(name=self._name), clock.now())
        publish(self._pipeline.frame(clock.now()))
        try:
            while True:
                if events := self._source.poll(clock.now()):
                    for event in events:
                        self._pipeline.feed(event, clock.now())
                    publish(self._pipeline.frame(clock.now()))
                await clock.sleep(LOOK_S)
        finally:
            self._source.close()


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
