"""`rltop demo`: the built-in runs, in the frameworks' own formats, through the same path as any other."""

import argparse
import sys
from importlib.resources import as_file, files

from .. import arguments
from ..monitor.target import open_target
from .flags import settings_of
from .replay import play

PRICES_OF = "2026-01-05"
"""When the runs were made; their prices are of that day."""


REMARK = "a demo, reconstructed from the published totals of a real run"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The words of the command."""
    parser.add_argument(
        "run", nargs="?", default="gsm8k-tinker", choices=("gsm8k-tinker", "math-tinker", "math-verl")
    )
    arguments.replay(parser, speed=120.0)
    arguments.settings(parser)
    arguments.screen(parser)


def run(args: argparse.Namespace) -> int:
    """Play a built-in run."""
    print(f"{args.run}: {REMARK}", file=sys.stderr)
    known = known_of(args.run)
    with as_file(files("rltop.monitor.demo") / "data" / args.run) as folder:
        return play(args, open_target(folder), settings_of(args, prices_date=PRICES_OF, **known), REMARK)


def known_of(name: str) -> dict[str, object]:
    """What one knows of a built-in run that its log does not say."""
    return {"gpu_type": "B200", "budget_usd": 150.0} if name == "math-verl" else {}
