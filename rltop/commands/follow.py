"""`rltop follow`: a run without a screen, until it ends. One JSON line whenever a step or an alert is new.

Its one rule: a line tells of the newest moment. While a log is caught up with nothing is printed, and of a
run that has ended already only its end.
"""

import argparse
import asyncio
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Literal, Protocol

from .. import arguments
from ..models.alert import Severity
from ..models.text import printable
from ..monitor.check import fails, report
from ..monitor.clock import SystemClock
from ..monitor.frame import Frame
from ..monitor.session import Session
from ..monitor.target import TargetError
from .flags import complain, gpus_of, settings_of, unreadable
from .opening import pipeline, recorder_of, waiting_sources_of
from .telling import Telling


class Teller(Protocol):
    """Prints what is news."""

    last: Frame | None

    def publish(self, frame: Frame) -> None:
        """Print a frame where it is news."""
        ...


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The words of the command."""
    parser.add_argument("target", metavar="TARGET", help="a run folder, a log, or - for stdin")
    parser.add_argument("--record", type=Path, metavar="FILE", help="write all events, to replay them later")
    arguments.fail_on(parser)
    arguments.telling(parser)
    arguments.also(parser)
    arguments.settings(parser)
    arguments.gpus(parser)


def run(args: argparse.Namespace) -> int:
    """Print a report whenever a step or an alert is new; 1 when an alert at or above --fail-on stands."""
    return follow(args, args.target, args.fail_on, Printer())


def follow(
    args: argparse.Namespace, target: str, fail_on: Severity | Literal["never"], printer: Teller
) -> int:
    """Follow a target until it ends, telling of it by `printer`; the exit code."""
    settings = settings_of(args, target)
    gpus = gpus_of(args)
    telling = Telling(args, settings.notify)
    telling.open(check=True)
    try:
        sources = (*waiting_sources_of(target, also=args.also, chosen=False), *([gpus] if gpus else []))
    except TargetError as error:
        return complain(str(error))
    session = Session(
        sources,
        pipeline(settings),
        SystemClock(),
        recorder=recorder_of(args.record),
        until_ended=True,
        make=pipeline,
    )
    # A scheduler ends what it runs with SIGTERM: what waits to be sent is sent then too.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        asyncio.run(session.run(telling.passing(saying_what_is_awaited(printer.publish))))
    finally:
        telling.close()
    if why := unreadable(session.pipeline.state):
        return complain(why)
    return int(printer.last is not None and fails(printer.last, fail_on))


def saying_what_is_awaited(publish: Callable[[Frame], None]) -> Callable[[Frame], None]:
    """`publish`, with a line on stderr of why there is no run yet: a wrong name is waited for in vain."""
    said = ""

    def say(frame: Frame) -> None:
        nonlocal said
        awaited = any(source.state == "waiting" for source in frame.state.sources.values())
        why = unreadable(frame.state) if awaited else ""
        if why and why != said:
            said = why
            print(f"rltop: waiting: {printable(why)}", file=sys.stderr, flush=True)
        publish(frame)

    return say


class Printer:
    """Prints frames that differ from the last in what a script waits for; remarks go to stderr once each."""

    def __init__(self) -> None:
        self.last: Frame | None = None
        self._printed: tuple[object, ...] = ()
        self._remarked: tuple[str, ...] = ()

    def publish(self, frame: Frame) -> None:
        """Print a frame where it is news."""
        if not worth_telling(frame):
            return
        self.last = frame
        for remark in frame.remarks:
            if remark not in self._remarked:
                print(f"rltop: {printable(remark)}", file=sys.stderr, flush=True)
        self._remarked = frame.remarks
        looks = (frame.state.steps_done, frame.state.attempt, frame.status, standing(frame))
        if looks != self._printed:
            self._printed = looks
            print(report(frame).model_dump_json(by_alias=True), flush=True)


def worth_telling(frame: Frame) -> bool:
    """Whether the frame is of the newest moment, and of a run that can be read."""
    return not frame.behind and bool(frame.state.sources) and not unreadable(frame.state)


def standing(frame: Frame) -> tuple[object, ...]:
    """What tells one set of alerts from another."""
    return tuple((a.rule, a.severity, a.step, a.cleared_step) for a in frame.alerts)
