"""`rltop replay`: a finished run at any speed, on the screen or as lines."""

import argparse
from collections.abc import Sequence

from .. import arguments
from ..models.event import Event
from ..models.run import RunInfo
from ..models.settings import Settings
from ..monitor.clock import SystemClock
from ..monitor.frame import Frame
from ..monitor.oneline import one_line
from ..monitor.replay import ReplaySession
from ..monitor.source import Source
from ..monitor.target import TargetError
from ..monitor.timeline import last_change, timeline
from .flags import complain, has_screen, on_screen, settings_of
from .opening import pipeline, sources_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The words of the command."""
    parser.add_argument("target", metavar="TARGET", help="a run folder, a log, or a recording")
    arguments.replay(parser, speed=60.0)
    arguments.also(parser)
    arguments.settings(parser)
    arguments.screen(parser)


def run(args: argparse.Namespace) -> int:
    """Play the target back."""
    try:
        sources = sources_of(args.target, args.also)
    except TargetError as error:
        return complain(str(error))
    return play(args, sources, settings_of(args))


def play(args: argparse.Namespace, sources: Sequence[Source], settings: Settings) -> int:
    """Play sources back: on the screen where there is one, as lines otherwise."""
    clock = SystemClock()
    events = read_events(sources, clock.now())
    ended_at = last_change(events)
    # As live: by the day on which the run began, where that is known.
    began_at = next((e.started_at for e in events if isinstance(e, RunInfo) and e.started_at), ended_at)
    session = ReplaySession(
        timeline(events, ended_at),
        lambda: pipeline(settings, priced_at=began_at),
        clock,
        speed=args.speed,
        from_step=args.from_step,
    )
    if args.plain or not has_screen():
        session.step_frames(StepLines().print)
        return 0
    return on_screen(session, args)


def read_events(sources: Sequence[Source], now: float) -> list[Event]:
    """All that finished sources have to say, in order."""
    events: list[Event] = []
    while True:
        events += [event for source in sources for event in source.poll(now)]
        if not any(source.more for source in sources):
            break
    return events + [event for source in sources for event in source.close()]


class StepLines:
    """Prints frames as lines, but none that reads as the last did: the end is often that of the last step."""

    def __init__(self) -> None:
        self._last = ""

    def print(self, frame: Frame) -> None:
        """Print a frame where it is news."""
        line = one_line(frame)
        if line != self._last:
            self._last = line
            print(line, flush=True)


def print_line(frame: Frame) -> None:
    """Print a step as one line."""
    print(one_line(frame), flush=True)
