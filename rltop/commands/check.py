"""`rltop check`: one frame to stdout, and leave."""

import argparse

from ..monitor.check import fails, page, report
from ..monitor.clock import SystemClock
from ..monitor.session import Session
from ..monitor.target import TargetError
from .flags import complain, settings_of, unreadable
from .opening import pipeline, sources_of


def run(args: argparse.Namespace) -> int:
    """Read all there is and print it. 1 when an alert at or above --fail-on stands."""
    try:
        sources = sources_of(args.target, args.also)
    except TargetError as error:
        return complain(str(error))
    session = Session(sources, pipeline(settings_of(args)), SystemClock())
    frame = session.read_all()
    if why := unreadable(frame.state):
        return complain(why)
    print(report(frame).model_dump_json(by_alias=True, indent=2) if args.json else page(frame))
    return int(fails(frame, args.fail_on))
