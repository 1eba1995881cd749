"""`rltop report`: the bill, how the projection moved and the alerts, in a file to keep or to show."""

import argparse
import sys
from datetime import UTC, datetime
from pathlib import Path

from .. import __version__, arguments
from ..monitor.check import report as check_report
from ..monitor.clock import SystemClock
from ..monitor.frame import Frame
from ..monitor.money.whatif import whatifs
from ..monitor.pipeline import Pipeline
from ..monitor.report.content import content
from ..monitor.report.markdown import markdown
from ..monitor.report.page import html
from ..monitor.report.series import with_history
from ..monitor.session import Session
from ..monitor.target import TargetError
from .flags import complain, settings_of, unreadable
from .opening import pipeline, price_book, sources_of

FORMATS = {".html": "html", ".htm": "html", ".md": "md", ".markdown": "md", ".json": "json"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The words of the command."""
    parser.add_argument("target", metavar="TARGET", help="a run folder, a log, or - for stdin")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="where to (stdout)")
    parser.add_argument("--format", choices=("html", "md", "json"), help="by FILE's ending; md on stdout")
    arguments.settings(parser)


def run(args: argparse.Namespace) -> int:
    """Read all there is of the run and write the report."""
    form = args.format or (FORMATS.get(args.output.suffix.lower()) if args.output else "md")
    if form is None:
        return complain(f"{args.output}: the ending names no format; use .html, .md or .json, or --format")
    try:
        sources = sources_of(args.target)
    except TargetError as error:
        return complain(str(error))
    session = Session(sources, pipeline(settings_of(args)), SystemClock())
    frame = session.read_all()
    if why := unreadable(frame.state):
        return complain(why)
    written = write(frame, session.pipeline, form)
    if args.output is None:
        sys.stdout.write(written)
        return 0
    try:
        args.output.write_text(written, encoding="utf-8")
    except OSError as error:
        return complain(f"{args.output}: {error.strerror or error}")
    print(f"{args.output}: {len(written.encode()) // 1024 + 1} KB", file=sys.stderr)
    return 0


def write(frame: Frame, pipeline: Pipeline, form: str) -> str:
    """The report of a frame that this pipeline has made."""
    if form == "json":
        return with_history(frame, check_report(frame)).model_dump_json(by_alias=True, indent=2) + "\n"
    told = content(frame, whatifs(pipeline.run_of(frame), price_book()))
    if form == "md":
        return markdown(told)
    day = datetime.fromtimestamp(frame.now, UTC).strftime("%Y-%m-%d %H:%M UTC")
    return html(told, f"rltop {__version__}, {day}")
