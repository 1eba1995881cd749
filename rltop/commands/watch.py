"""`rltop TARGET`: the screen, on a run that grows or has ended."""

import argparse

from ..monitor.clock import SystemClock
from ..monitor.session import Session
from .common import complain, has_screen, on_screen, pipeline, recorder_of, settings_of, waiting_sources_of


def run(args: argparse.Namespace) -> int:
    """Follow a target on the screen until the user leaves."""
    target = args.target or only_run_here()
    if target is None:
        return complain("no run named: give a run folder or a log, or try `rltop demo`")
    if not has_screen():
        return complain("the screen needs a terminal; `rltop check` and `rltop follow` do not")
    session = Session(
        waiting_sources_of(target), pipeline(settings_of(args)), SystemClock(), recorder=recorder_of(args)
    )
    return on_screen(session, args)


def only_run_here() -> str | None:
    """The current folder, when it holds a run."""
    from pathlib import Path

    from ..monitor.target import TargetError, open_target

    try:
        open_target(Path())
    except TargetError:
        return None
    return "."
