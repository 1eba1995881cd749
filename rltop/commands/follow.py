"""`rltop follow`: a run without a screen, one JSON line a step, until it ends."""

import argparse
import asyncio

from ..monitor.check import report
from ..monitor.clock import SystemClock
from ..monitor.frame import Frame
from ..monitor.session import Session
from .flags import complain, settings_of
from .opening import pipeline, recorder_of, waiting_sources_of


def run(args: argparse.Namespace) -> int:
    """Print a report whenever a step or an alert is new."""
    session = Session(
        waiting_sources_of(args.target),
        pipeline(settings_of(args)),
        SystemClock(),
        recorder=recorder_of(args.record),
        until_ended=True,
    )
    asyncio.run(session.run(_Printer().publish))
    sources = session.pipeline.state.sources.values()
    if sources and all(source.source == "pending" for source in sources):
        return complain(next(iter(sources)).reason)
    return 0


class _Printer:
    """Prints frames that differ from the last in what a script waits for."""

    def __init__(self) -> None:
        self._printed: tuple[object, ...] = ()

    def publish(self, frame: Frame) -> None:
        standing = tuple((a.rule, a.severity, a.step, a.cleared_step) for a in frame.alerts)
        looks = (frame.state.steps_done, frame.state.attempt, frame.status, standing)
        if looks != self._printed:
            self._printed = looks
            print(report(frame).model_dump_json(by_alias=True), flush=True)
