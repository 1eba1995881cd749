"""`rltop check`: one frame to stdout, and leave."""

import argparse

from ..monitor.check import ORDER, page, report, worst
from ..monitor.clock import SystemClock
from ..monitor.session import Session
from ..monitor.target import TargetError
from .flags import complain, settings_of
from .opening import pipeline, sources_of


def run(args: argparse.Namespace) -> int:
    """Read all there is and print it. 1 when an alert at or above --fail-on stands."""
    try:
        sources = sources_of(args.target)
    except TargetError as error:
        return complain(str(error))
    session = Session(sources, pipeline(settings_of(args)), SystemClock())
    frame = session.read_all()
    unreadable = [s for s in frame.state.sources.values() if s.state == "denied" or s.source == "pending"]
    if unreadable and len(unreadable) == len(frame.state.sources):
        return complain(unreadable[0].reason)
    print(report(frame).model_dump_json(by_alias=True, indent=2) if args.json else page(frame))
    level = worst(frame.alerts)
    return int(args.fail_on != "never" and level is not None and ORDER[level] >= ORDER[args.fail_on])
