"""What flags and rltop.toml say, and how a command answers. Light: nothing here needs the pipeline."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from platformdirs import user_config_path

from ..models.looks import Looks
from ..models.settings import Settings, TokenRates
from ..models.text import printable
from ..monitor.config import NAME, load
from ..monitor.state import RunState
from ..tui.runner import Runner

if TYPE_CHECKING:
    from ..monitor.telemetry.source import GpuSource

USAGE, UNUSABLE = 2, 3
DEMO_BUDGETS = {"demo:math-verl": 150.0}
"""Dollars that the built-in runs are watched against, where nothing else is said."""


def complain(message: str) -> int:
    """One line on stderr; the exit code for an input that cannot be used."""
    print(f"rltop: {printable(message)}", file=sys.stderr)
    return UNUSABLE


def unreadable(state: RunState) -> str:
    """Why nothing at all could be read; empty where something could."""
    sources = state.sources.values()
    failed = [
        source
        for source in sources
        if source.source == "pending" or (source.state in ("denied", "lost") and not source.lines)
    ]
    return failed[0].reason if failed and len(failed) == len(sources) else ""


def settings_of(args: argparse.Namespace, target: str | None = None, /, **more: object) -> Settings:
    """The settings: flags over rltop.toml over `more`; of `target`, or else of the one that is named.

    Raises:
        SettingsError: a file of settings cannot be used.
    """
    given: dict[str, object] = {
        "budget_usd": args.budget,
        "fleet_budget_usd": args.fleet_budget,
        "total_steps": args.total_steps,
        "max_tokens": args.max_tokens,
        "model": args.model,
        "gpus": args.gpus,
        "gpu_type": args.gpu_type,
        "usd_per_gpu_hour": args.usd_per_gpu_hour,
        "usd_per_kwh": args.usd_per_kwh,
        "prices_date": args.prices,
        "deadline": args.deadline,
    }
    if args.price is not None:
        names = ("prefill", "sample", "train", "prefill_cached")
        given["token_rates"] = TokenRates(**dict(zip(names, args.price, strict=False)))
    known = {name: value for name, value in given.items() if value is not None}
    target = target or _only_target(args)
    if target is not None and target in DEMO_BUDGETS:
        more = {"budget_usd": DEMO_BUDGETS[target], **more}
    return Settings.model_validate({**more, **load(config_files(), target), **known})


def _only_target(args: argparse.Namespace) -> str | None:
    named: str | list[str] | None = getattr(args, "target", None)
    if isinstance(named, list):
        return named[0] if len(named) == 1 else None
    return named


def gpus_of(args: argparse.Namespace) -> "GpuSource | None":
    """What --gpus-from and --engine ask for; None where nothing is said.

    Raises:
        SettingsError: an address means nothing.
    """
    if not args.gpus_from and not args.engine:
        return None
    from ..monitor.telemetry.places import (
        gpus_from,
    )  # urllib takes 30 ms, for the few who read GPUs elsewhere

    return gpus_from(args.gpus_from or ["local"], args.engine or (), want_tensor=True)


def config_files() -> Sequence[Path]:
    """Where settings may stand, the more particular last."""
    return (user_config_path("rltop") / NAME, Path(NAME))


def has_screen() -> bool:
    """Whether there is a terminal to draw on. The screen is drawn on stderr and its size is stdout's."""
    in_browser = "TEXTUAL_DRIVER" in os.environ
    return in_browser or (sys.stdout.isatty() and sys.stderr.isatty())


def looks_of(args: argparse.Namespace) -> Looks:
    """How the screen is to look: flags over rltop.toml."""
    said = Settings.model_validate(load(config_files())).screen
    flags = {"theme": args.theme, "ascii": args.ascii or None, "mouse": False if args.no_mouse else None}
    return said.model_copy(update={name: value for name, value in flags.items() if value is not None})


def on_screen(session: Runner, args: argparse.Namespace, first: str = "") -> int:
    """Show a session until the user leaves, with the view `first` in the overview's place; the exit code."""
    from ..tui.launch import show  # a wrong word should not have to wait for the screen to be imported

    try:
        return show(session, looks_of(args), first)
    except ValueError as error:
        print(f"rltop: {printable(str(error))}", file=sys.stderr)
        return USAGE
