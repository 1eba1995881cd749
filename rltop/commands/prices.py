"""`rltop prices`: the price book, and how old it is."""

import argparse

from ..models import text
from ..models.money import TokenPrice
from ..monitor.clock import SystemClock
from ..monitor.money.book import Book, day_of
from ..monitor.money.refresh import RefreshError, refresh
from .flags import complain
from .opening import price_book, price_folder


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The three things that can be done with the book."""
    does = parser.add_subparsers(dest="action", metavar="list | show MODEL | refresh")
    does.add_parser("list", help="all models and GPUs with their newest price")
    show = does.add_parser("show", help="every price that a model or GPU has had")
    show.add_argument("name", metavar="MODEL", help="exact model id, or a GPU such as B200")
    fetch = does.add_parser("refresh", help="fetch the provider's published list; old lists are kept")
    fetch.add_argument("--url", help=argparse.SUPPRESS)
    fetch.add_argument("--timeout", type=float, default=10.0, metavar="S", help="seconds to wait (10)")


def run(args: argparse.Namespace) -> int:
    """List, show or refresh."""
    book = price_book()
    if args.action == "show":
        return _show(args.name, book)
    if args.action == "refresh":
        return _refresh(args, book)
    return _list(book)


def _list(book: Book) -> int:
    print("Tinker, dollars per million tokens, newest price of each model\n")
    print(f"{'model':<58}{'prefill':>9}{'cached':>9}{'sample':>9}{'train':>9}  since")
    for model in book.models():
        price = book.history(model)[-1]
        print(f"{model:<58}{_cells(price)}  {price.effective_from}")
    print("\nGPUs, dollars per GPU-hour (* a weak figure; – has no public price: give --usd-per-gpu-hour)\n")
    print(f"{'GPU':<12}{'$/h':>9}{'BF16 TF':>9}{'FP8 TF':>9}  of          source")
    for gpu in book.gpu_table.prices():
        mark = "*" if gpu.weak else " "
        peaks = f"{text.number(gpu.bf16_tflops):>9}{text.number(gpu.fp8_tflops):>9}"
        print(f"{gpu.name:<12}{text.usd(gpu.usd_per_hour):>8}{mark}{peaks}  {gpu.date:<10}  {gpu.source}")
    print("\nlists: " + "; ".join(f"{ref.date} ({ref.source})" for ref in book.refs))
    return 0


def _show(name: str, book: Book) -> int:
    prices = book.history(name)
    for price in prices:
        print(f"{price.effective_from}{_cells(price)}  {price.source}")
    if prices:
        return 0
    gpu = book.gpu(name)
    if gpu is None:
        near = [model for model in book.models() if name.lower() in model.lower()]
        hint = f"; the book has {', '.join(near[:4])}" if near else "; see `rltop prices list`"
        return complain(f"no price for {name}{hint}")
    weak = " (a weak figure)" if gpu.weak else ""
    print(f"{gpu.name}: {text.usd(gpu.usd_per_hour)} per GPU-hour{weak}, {gpu.date}, {gpu.source}")
    return 0


def _cells(price: TokenPrice) -> str:
    rates = (price.prefill, price.prefill_cached, price.sample, price.train)
    return "".join(f"{text.UNKNOWN if rate is None else f'{rate:.3f}':>9}" for rate in rates)


def _refresh(args: argparse.Namespace, book: Book) -> int:
    from .. import __version__

    more = {"url": args.url} if args.url else {}
    try:
        done = refresh(
            price_folder(), book, day_of(SystemClock().now()), __version__, timeout_s=args.timeout, **more
        )
    except RefreshError as error:
        return complain(str(error))
    for change in done.changes:
        percent = "" if change.percent is None else f"  {change.percent:+.1f} %"
        before, after = (text.UNKNOWN if x is None else f"{x:g}" for x in (change.before, change.after))
        print(f"{change.model:<58}{change.meter:<16}{before:>9} → {after:<9}{percent}")
    skipped = f", {len(done.skipped)} entries without prices left out" if done.skipped else ""
    print(f"{len(done.snapshot.rows)} models, {len(done.changes)} changes{skipped}; kept in {done.path}")
    return 0
