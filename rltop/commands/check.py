"""`rltop check`: one frame to stdout, and leave. Of several targets, a table, or a line of JSON each."""

import argparse
from collections.abc import Sequence
from typing import Literal

from .. import arguments
from ..models.alert import Severity
from ..models.settings import Settings
from ..monitor.check import ORDER, fails, page, report
from ..monitor.clock import SystemClock
from ..monitor.frame import Frame
from ..monitor.session import Session
from ..monitor.target import TargetError
from .flags import UNUSABLE, complain, settings_of, unreadable
from .opening import pipeline, sources_of

FailOn = Severity | Literal["never"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The words of the command."""
    parser.add_argument("target", nargs="+", metavar="TARGET", help="a run folder or a log")
    about = "print schema 1 of the JSON report; of several runs, a line each"
    parser.add_argument("--json", action="store_true", help=about)
    arguments.fail_on(parser)
    arguments.also(parser)
    arguments.settings(parser)


def run(args: argparse.Namespace) -> int:
    """Read all there is and print it. 1 when an alert at or above --fail-on stands."""
    targets: list[str] = args.target
    if len(targets) > 1 and args.also:
        return complain("--with needs one run that the log is of; several were named")
    settings = settings_of(args)
    if len(targets) > 1:
        return (
            _lines(targets, settings, args.fail_on) if args.json else _table(targets, settings, args.fail_on)
        )
    try:
        frame = _read(targets[0], settings, args.also)
    except TargetError as error:
        return complain(str(error))
    print(report(frame).model_dump_json(by_alias=True, indent=2) if args.json else page(frame))
    return int(fails(frame, args.fail_on))


def _read(target: str, settings: Settings, also: Sequence[str] = ()) -> Frame:
    """All that a target has to say.

    Raises:
        TargetError: it cannot be used.
    """
    frame = Session(sources_of(target, also), pipeline(settings), SystemClock()).read_all()
    if why := unreadable(frame.state):
        raise TargetError(why)
    return frame


def _lines(targets: Sequence[str], settings: Settings, fail_on: FailOn) -> int:
    """A report a line, in the order named; what cannot be used has a line on stderr instead."""
    code = 0
    for target in targets:
        try:
            frame = _read(target, settings)
        except TargetError as error:
            code = complain(str(error))
            continue
        print(report(frame).model_dump_json(by_alias=True), flush=True)
        code = max(code, int(fails(frame, fail_on)))
    return code


def _table(targets: Sequence[str], settings: Settings, fail_on: FailOn) -> int:
    """All of them as a table with their sums. Targets that are logs of one run are one line."""
    from .fleet import session, table  # most looks are at one run

    frame = session(settings, named=targets).read_all()
    print(table(frame))
    failed = any(
        fail_on != "never" and ORDER[alert.severity] >= ORDER[fail_on]
        for row in frame.rows
        for alert in row.alerts
    )
    unusable = [row for row in frame.rows if row.problem and not row.step]
    for row in unusable:
        complain(row.problem)
    return UNUSABLE if unusable else int(failed)
