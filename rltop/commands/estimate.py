"""`rltop estimate`: what a run will cost, before it is started."""

import argparse

from ..models import text
from ..models.estimate import Estimate
from ..models.settings import Settings
from ..models.value import Quantiles
from ..monitor.clock import SystemClock
from ..monitor.money.estimate import estimate
from ..monitor.money.estimate_args import InputError, from_args
from ..monitor.money.estimate_args import add_arguments as add_input_arguments
from ..monitor.money.measured import measured_inputs
from ..monitor.session import Session
from ..monitor.target import TargetError
from .flags import USAGE, complain
from .opening import pipeline, price_book, sources_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The inputs, and where else they may come from."""
    add_input_arguments(parser)
    parser.add_argument(
        "--from",
        dest="run",
        metavar="RUN",
        help="start from the measured values of a finished run",
    )
    parser.add_argument("--json", action="store_true", help="print the estimate as JSON")


def run(args: argparse.Namespace) -> int:
    """Print the estimate of both platforms."""
    try:
        measured = _measured(args.run) if args.run else None
        inputs = from_args(args, measured)
    except TargetError as error:
        return complain(str(error))
    except InputError as error:
        complain(str(error))
        return USAGE
    answer = estimate(inputs, price_book())
    print(answer.model_dump_json(indent=2) if args.json else page(answer))
    return 0


def _measured(target: str) -> dict[str, object]:
    """The inputs that a finished run would have needed.

    Raises:
        TargetError: the run cannot be read.
    """
    frame = Session(sources_of(target), pipeline(Settings()), SystemClock()).read_all()
    return measured_inputs(frame.state, frame.info)


def page(answer: Estimate) -> str:
    """The estimate as a short page of text."""
    lines = [f"{answer.inputs.model}  {answer.inputs.steps} steps  growth {text.ratio(answer.inputs.growth)}"]
    if answer.tinker is not None:
        book = answer.tinker.price_book
        prices = f"   prices of {book.date}" if book else "   your own prices"
        lines.append(f"\nTinker        {_range(answer.tinker.usd)}{prices}")
        for meter in answer.tinker.meters:
            lines.append(f"  {meter.name:<15}{text.tokens(meter.tokens):>12}{text.usd(meter.usd):>12}")
    if answer.self_hosted is not None:
        hosted, inputs = answer.self_hosted, answer.inputs
        cost = _range(hosted.usd) if hosted.usd else f"{text.UNKNOWN} (give --usd-per-gpu-hour)"
        on = f"{inputs.gpus}×{inputs.gpu_type or 'GPU'} at MFU {text.percent(inputs.mfu)}"
        lines.append(f"\nSelf-hosted   {cost}   {on}, {text.duration(hosted.hours.p50 * 3600)}")
    if answer.break_even_mfu is not None:
        lines.append(
            f"\nBreak-even at MFU {text.percent(answer.break_even_mfu)}: above it, the GPUs cost less"
        )
    lines += [f"note          {note}" for note in answer.notes]
    return "\n".join(lines)


def _range(usd: Quantiles) -> str:
    return f"{text.usd(usd.p50)}   80 %: {text.usd(usd.p10)} – {text.usd(usd.p90)}"
