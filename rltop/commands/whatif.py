"""`rltop whatif`: what a run would cost if one thing were otherwise."""

import argparse

from .. import arguments, words
from ..models import text
from ..models.money import WhatIf
from ..models.report import WhatIfReport
from ..monitor.check import name_of
from ..monitor.clock import SystemClock
from ..monitor.frame import Frame
from ..monitor.money.book import Book
from ..monitor.money.question import USUAL_GPUS, Question, usual
from ..monitor.money.whatif import unanswered, whatifs
from ..monitor.session import Session
from ..monitor.target import TargetError
from .flags import complain, settings_of
from .opening import pipeline, price_book, sources_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The words of the command."""
    parser.add_argument("target", metavar="TARGET", help="a run folder or a log, finished or growing")
    parser.add_argument("--mfu", type=words.mfu, metavar="X", help="whole-step MFU on the GPUs, such as 0.1")
    parser.add_argument("--stop-at", type=words.step, metavar="STEP", help="had the run stopped at this step")
    parser.add_argument("--json", action="store_true", help="print the answers as JSON")
    arguments.settings(parser)


def run(args: argparse.Namespace) -> int:
    """Print one line a what-if."""
    try:
        sources = sources_of(args.target)
    except TargetError as error:
        return complain(str(error))
    book, clock = price_book(), SystemClock()
    session = Session(sources, pipeline(settings_of(_without_gpus(args))), clock)
    frame = session.read_all()
    elsewhere = _elsewhere(frame, args, book)
    if not elsewhere:
        session.pipeline.settle(settings_of(args), clock.now())
        frame = session.pipeline.frame(clock.now())
    if frame.bill.spent_usd is None:
        return complain(next(iter(frame.bill.notes), "the run has no dollars to compare with"))
    asked, whole = _question(frame, args, elsewhere), session.pipeline.run_of(frame)
    report = WhatIfReport(
        run=name_of(frame),
        basis=frame.bill.basis,
        spent_usd=frame.bill.spent_usd,
        whatifs=whatifs(whole, book, asked),
        notes=unanswered(whole, book, asked),
    )
    print(report.model_dump_json(by_alias=True, indent=2) if args.json else page(report))
    return 0


def page(report: WhatIfReport) -> str:
    """One line a what-if: what, dollars, how many more or less, and by which assumption."""
    lines = [f"{report.run}  {text.usd(report.spent_usd)} so far  ({report.basis})", ""]
    width = max((len(one.label) for one in report.whatifs), default=0)
    lines += [f"{one.label:<{width}}{_dollars(one)}   {one.how}" for one in report.whatifs]
    if not report.whatifs:
        lines.append("nothing to say: the log has too few counts")
    lines += [f"note  {note}" for note in report.notes]
    return "\n".join(lines)


def _dollars(one: WhatIf) -> str:
    return f"{text.usd(one.usd):>10}{text.usd_change(one.difference_usd):>10}"


def _question(frame: Frame, args: argparse.Namespace, elsewhere: bool) -> Question:
    return Question(
        gpus=args.gpus or frame.info.gpus or USUAL_GPUS,
        gpu_type=args.gpu_type if elsewhere else None,
        usd_per_gpu_hour=args.usd_per_gpu_hour,
        mfu=args.mfu,
        plateau_step=usual(frame.info, frame.alerts).plateau_step if args.stop_at is None else args.stop_at,
        plateau_seen=args.stop_at is None,
    )


def _without_gpus(args: argparse.Namespace) -> argparse.Namespace:
    """The flags without those of GPUs, which may be other GPUs than the run's."""
    return argparse.Namespace(**{**vars(args), "gpus": None, "gpu_type": None, "usd_per_gpu_hour": None})


def _elsewhere(frame: Frame, args: argparse.Namespace, book: Book) -> bool:
    """Whether the GPU flags are of GPUs that the run is not on.

    They are where tokens make the bill, or where the run has a bill without them and they name another type.
    Otherwise they say what the run is on, as they do for every other command.
    """
    info, basis = frame.info, frame.bill.basis
    if info.platform == "tinker" or basis in ("metered", "logged"):
        return True
    if basis == "unpriced" or args.gpu_type is None or info.gpu_type is None:
        return False
    asked, own = book.gpu(args.gpu_type), book.gpu(info.gpu_type)
    return asked is None or own is None or asked.name != own.name
