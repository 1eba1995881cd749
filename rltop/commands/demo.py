"""`rltop demo`: the built-in runs, in the frameworks' own formats, through the same path as any other."""

import argparse
import sys

from .. import arguments
from ..monitor.places.demo import PREFIX, REMARK, RUNS
from .flags import settings_of
from .opening import sources_of
from .replay import play


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The words of the command."""
    parser.add_argument("run", nargs="?", default=RUNS[0], type=_name, choices=RUNS)
    arguments.replay(parser, speed=120.0)
    arguments.settings(parser)
    arguments.screen(parser)


def run(args: argparse.Namespace) -> int:
    """Play a built-in run."""
    print(f"{args.run}: {REMARK}", file=sys.stderr)
    target = f"{PREFIX}{args.run}"
    return play(args, sources_of(target), settings_of(args, target))


def _name(word: str) -> str:
    """The name of a built-in run, also where it is written as a target."""
    return word.removeprefix(PREFIX)
