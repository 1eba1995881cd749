"""`rltop replay`: a finished run at any speed, on the screen or as lines."""

import argparse
from collections.abc import Sequence

from ..models import text
from ..models.event import Event
from ..models.run import RunInfo
from ..models.settings import Settings
from ..monitor.clock import SystemClock
from ..monitor.frame import Frame
from ..monitor.replay import ReplaySession
from ..monitor.source import Source
from ..monitor.target import TargetError
from ..monitor.timeline import last_change, timeline
from .flags import complain, has_screen, on_screen, settings_of
from .opening import pipeline, sources_of


def run(args: argparse.Namespace) -> int:
    """Play the target back."""
    try:
        sources = sources_of(args.target, args.also)
    except TargetError as error:
        return complain(str(error))
    return play(args, sources, settings_of(args))


def play(args: argparse.Namespace, sources: Sequence[Source], settings: Settings, *remarks: str) -> int:
    """Play sources back, with remarks on the run: on the screen where there is one, as lines otherwise."""
    clock = SystemClock()
    events: list[Event] = [RunInfo(notes=remarks), *read_events(sources, clock.now())]
    ended_at = last_change(events)
    session = ReplaySession(
        timeline(events, ended_at),
        lambda: pipeline(settings, priced_at=ended_at),
        clock,
        speed=args.speed,
        from_step=args.from_step,
    )
    if args.plain or not has_screen():
        session.step_frames(print_line)
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


def print_line(frame: Frame) -> None:
    """A step as one line: for logs, screen readers and pipes."""
    last, final = frame.state.last_row, frame.projection.final_usd
    end = frame.info.last_step
    total = "" if end is None else f"/{end}"
    at_end = (
        f"{text.usd(final.p50)} at the end ({text.usd(final.p10)} – {text.usd(final.p90)})" if final else "–"
    )
    standing = [alert for alert in frame.alerts if alert.cleared_step is None]
    length = frame.health.response_length.last
    told = "".join(f"  {alert.severity}: {alert.message}" for alert in standing)
    line = (
        f"step {last.step if last else '–'}{total}  {text.usd(frame.bill.spent_usd)} so far  {at_end}"
        f"  length {text.tokens(length)}{told}"
    )
    print(text.printable(line), flush=True)
