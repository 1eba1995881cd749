"""`rltop follow`: a run without a screen, until it ends. One JSON line whenever a step or an alert is new.

Its one rule: a line tells of the newest moment. While a log is caught up with nothing is printed, and of a
run that has ended already only its end.
"""

import argparse
import asyncio

from ..monitor.check import fails, report
from ..monitor.clock import SystemClock
from ..monitor.frame import Frame
from ..monitor.session import Session
from .flags import complain, settings_of
from .opening import pipeline, recorder_of, waiting_sources_of


def run(args: argparse.Namespace) -> int:
    """Print a report whenever a step or an alert is new; 1 when an alert at or above --fail-on stands."""
    session = Session(
        waiting_sources_of(args.target),
        pipeline(settings_of(args)),
        SystemClock(),
        recorder=recorder_of(args.record),
        until_ended=True,
    )
    printer = Printer()
    asyncio.run(session.run(printer.publish))
    sources = session.pipeline.state.sources.values()
    if sources and all(source.source == "pending" for source in sources):
        return complain(next(iter(sources)).reason)
    return int(printer.last is not None and fails(printer.last, args.fail_on))


class Printer:
    """Prints frames that differ from the last in what a script waits for."""

    def __init__(self) -> None:
        self.last: Frame | None = None
        self._printed: tuple[object, ...] = ()

    def publish(self, frame: Frame) -> None:
        """Print a frame where it is news."""
        if frame.behind or all(source.source == "pending" for source in frame.state.sources.values()):
            return
        self.last = frame
        standing = tuple((a.rule, a.severity, a.step, a.cleared_step) for a in frame.alerts)
        looks = (frame.state.steps_done, frame.state.attempt, frame.status, standing)
        if looks != self._printed:
            self._printed = looks
            print(report(frame).model_dump_json(by_alias=True), flush=True)
