"""What several commands share: settings from flags, a pipeline, and how an unusable input is told."""

import argparse
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from platformdirs import user_config_path, user_data_path

from ..models.settings import Settings, TokenRates
from ..monitor.config import NAME, load
from ..monitor.money.book import Book
from ..monitor.pipeline import Pipeline
from ..monitor.recorder import Recorder
from ..monitor.source import Source
from ..monitor.target import open_target
from ..tui.runner import Runner

USAGE, UNUSABLE = 2, 3


def complain(message: str) -> int:
    """One line on stderr; the exit code for an input that cannot be used."""
    print(f"rltop: {message}", file=sys.stderr)
    return UNUSABLE


def settings_of(args: argparse.Namespace, **more: object) -> Settings:
    """The settings: flags over rltop.toml over `more`.

    Raises:
        SettingsError: a file of settings cannot be used.
    """
    given: dict[str, object] = {
        "budget_usd": args.budget,
        "total_steps": args.total_steps,
        "max_tokens": args.max_tokens,
        "model": args.model,
        "gpus": args.gpus,
        "gpu_type": args.gpu_type,
        "usd_per_gpu_hour": args.usd_per_gpu_hour,
        "prices_date": args.prices,
    }
    if args.price is not None:
        names = ("prefill", "sample", "train", "prefill_cached")
        given["token_rates"] = TokenRates(**dict(zip(names, args.price, strict=False)))
    known = {name: value for name, value in given.items() if value is not None}
    return Settings.model_validate({**more, **load(config_files()), **known})


def config_files() -> Sequence[Path]:
    """Where settings may stand, the more particular last."""
    return (user_config_path("rltop") / NAME, Path(NAME))


def pipeline(settings: Settings, priced_at: float | None = None) -> Pipeline:
    """An empty pipeline with the price book; `priced_at` (unix s) is when a replayed run ran."""
    return Pipeline(settings, price_book(), priced_at)


@cache
def price_book() -> Book:
    """The built-in price book, and the lists that `rltop prices refresh` has kept."""
    folder = price_folder()
    if not folder.is_dir():
        return Book.load()
    from ..monitor.money.refresh import kept  # urllib takes 30 ms to import, for the few who have refreshed

    snapshots, bad = kept(folder)
    for line in bad:
        print(f"rltop: {line}", file=sys.stderr)
    return Book.load().with_snapshots(snapshots)


def price_folder() -> Path:
    """Where refreshed price lists are kept."""
    return user_data_path("rltop") / "prices"


def sources_of(target: str) -> Sequence[Source]:
    """The sources of a target that must be there now; `-` is stdin.

    Raises:
        TargetError: it is not there or cannot be used.
    """
    return open_stdin() if target == "-" else open_target(Path(target))


def waiting_sources_of(target: str) -> Sequence[Source]:
    """The sources of a target that may still have to come."""
    from ..monitor.pending import PendingSource

    return open_stdin() if target == "-" else (PendingSource(Path(target)),)


def open_stdin() -> Sequence[Source]:
    """Whatever is piped in, recognised by its first lines."""
    from ..monitor.piped import PipedSource

    return (PipedSource(),)


def recorder_of(args: argparse.Namespace) -> Recorder | None:
    """The recorder that --record asks for."""
    return Recorder(args.record) if args.record else None


def has_screen() -> bool:
    """Whether there is a terminal to draw on. The screen is drawn on stderr and its size is stdout's."""
    return sys.stdout.isatty() and sys.stderr.isatty()


def on_screen(session: Runner, args: argparse.Namespace) -> int:
    """Show a session until the user leaves; the exit code."""
    from ..tui.launch import show  # a wrong word should not have to wait for the screen to be imported

    try:
        return show(session, ascii_only=args.ascii, theme=args.theme, mouse=not args.no_mouse)
    except ValueError as error:
        print(f"rltop: {error}", file=sys.stderr)
        return USAGE
