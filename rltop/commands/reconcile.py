"""`rltop reconcile`: Tinker's own bill of a run beside ours."""

import argparse

from .. import arguments, words
from ..models import text
from ..models.event import Event
from ..models.report import ReconcileLine, ReconcileReport
from ..models.run import RunInfo
from ..monitor.check import name_of
from ..monitor.clock import SystemClock
from ..monitor.money.reconcile import DAY_S, begin_of, compare, days_of, lags, stamp
from ..monitor.money.reconcile_usage import UsageError, fetch_usage
from ..monitor.session import Session
from ..monitor.source import Source
from ..monitor.target import TargetError
from .flags import USAGE, complain, settings_of
from .opening import pipeline, sources_of

HEADING = "meter          their tokens  our tokens  their bill    our bill  difference"
"""Above columns of 15 and then 12 cells."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The words of the command."""
    parser.add_argument("target", metavar="TARGET", help="a run folder of tinker-cookbook")
    parser.add_argument(
        "--start", type=words.day, metavar="DATE", help="first UTC day, YYYY-MM-DD (the run's)"
    )
    parser.add_argument("--end", type=words.day, metavar="DATE", help="last UTC day (the run's)")
    parser.add_argument("--session", action="append", metavar="ID", help="sessions, where the log names none")
    parser.add_argument(
        "--timeout", type=words.number, default=60.0, metavar="S", help="seconds to wait (60)"
    )
    parser.add_argument("--json", action="store_true", help="print the comparison as JSON")
    arguments.settings(parser)


def run(args: argparse.Namespace) -> int:
    """Print the table."""
    try:
        sources = [_Listening(source) for source in sources_of(args.target)]
    except TargetError as error:
        return complain(str(error))
    clock = SystemClock()
    session = Session(sources, pipeline(settings_of(args)), clock)
    frame, now = session.read_all(), clock.now()
    whole = session.pipeline.run_of(frame)
    ids = tuple(args.session or dict.fromkeys(name for source in sources for name in source.sessions))
    if not ids:
        return complain("the log names no Tinker session: give --session ID")
    start, end = days_of(whole, frame.elapsed_s, now)
    try:
        start = begin_of(args.start) if args.start else start
        end = begin_of(args.end) + DAY_S if args.end else end
    except ValueError as error:
        complain(str(error))
        return USAGE
    if not start < min(end, now):
        complain("--start must not be after --end, nor in the future")
        return USAGE
    try:
        compared = compare(whole, fetch_usage(start, end, args.timeout), ids, now)
    except UsageError as error:
        return complain(str(error))
    if compared is None:
        hint = "it lags by some hours, so try again later" if lags(whole, now) else "give --start and --end"
        days = f"from {stamp(start)[:10]} to {stamp(end - 1)[:10]}"
        return complain(f"no usage of session {', '.join(ids)} {days}: {hint}")
    report = ReconcileReport(
        run=name_of(frame),
        sessions=ids,
        start=stamp(start)[:10],
        end=stamp(end - 1)[:10],
        lines=compared.lines,
        theirs_usd=compared.theirs_usd,
        ours_usd=compared.ours_usd,
        difference_usd=compared.difference_usd,
        hours=compared.hours,
        notes=compared.notes,
    )
    print(report.model_dump_json(by_alias=True, indent=2) if args.json else page(report))
    return 0


def page(report: ReconcileReport) -> str:
    """The table and what explains it."""
    which = ", ".join(report.sessions)
    lines = [f"{report.run}  {report.start} to {report.end} UTC  session {which}", "", HEADING]
    lines += [_row(line) for line in report.lines]
    lines.append(
        f"{'all':<15}{'':>24}{_dollars(report.theirs_usd, report.ours_usd, report.difference_usd)}".rstrip()
    )
    lines += [f"note  {note}" for note in report.notes]
    return "\n".join(lines)


def _row(line: ReconcileLine) -> str:
    unit = "" if line.unit == "tokens" else f"{line.unit}, "
    return (
        f"{line.meter:<15}{text.tokens(line.theirs):>12}{text.tokens(line.ours):>12}"
        f"{_dollars(line.theirs_usd, line.ours_usd, line.difference_usd)}   {unit}{line.why}"
    )


def _dollars(theirs: float | None, ours: float | None, difference: float | None) -> str:
    return f"{text.usd(theirs):>12}{text.usd(ours):>12}{text.usd_change(difference):>12}"


class _Listening:
    """A source that remembers the sessions it names: a run that was resumed has had several."""

    def __init__(self, source: Source) -> None:
        self.sessions: dict[str, None] = {}
        self._source = source

    @property
    def more(self) -> bool:
        return self._source.more

    def poll(self, now: float) -> list[Event]:
        return self._heard(self._source.poll(now))

    def close(self) -> list[Event]:
        return self._heard(self._source.close())

    def _heard(self, events: list[Event]) -> list[Event]:
        for event in events:
            if isinstance(event, RunInfo) and event.session_id:
                self.sessions[event.session_id] = None
        return events
