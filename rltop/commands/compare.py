"""`rltop compare`: two to six runs side by side, on the screen, as text or as JSON."""

import argparse
import asyncio
from collections.abc import Callable, Sequence

from .. import arguments
from ..models.comparison import Comparison
from ..monitor.clock import SystemClock
from ..monitor.compare import FEWEST, MOST, compare
from ..monitor.compare_table import page
from ..monitor.frame import Frame
from ..monitor.places.demo import PREFIX
from ..monitor.session import Session
from ..monitor.target import TargetError
from .flags import USAGE, complain, has_screen, looks_of, settings_of
from .opening import followed, pipeline


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The words of the command."""
    parser.add_argument(
        "targets", nargs="+", metavar="TARGET", help=f"{FEWEST} to {MOST} runs; demo:NAME is a built-in one"
    )
    parser.add_argument(
        "--by",
        choices=("step", "time", "tokens", "dollars"),
        default="step",
        help="what the runs are aligned by (step); x on the screen",
    )
    parser.add_argument("--json", action="store_true", help="print the comparison as JSON")
    parser.add_argument("--plain", action="store_true", help="print it as text instead of showing a screen")
    arguments.settings(parser)
    arguments.screen(parser)


def run(args: argparse.Namespace) -> int:
    """Compare the targets."""
    if not FEWEST <= len(args.targets) <= MOST:
        complain(f"compare takes {FEWEST} to {MOST} runs, not {len(args.targets)}")
        return USAGE
    try:
        runs = [_opened(target, args) for target in args.targets]
    except TargetError as error:
        return complain(str(error))
    if args.json or args.plain or not has_screen():
        comparison = compare([session.read_all() for session in runs], args.by, _names(args.targets))
        print(_json(comparison) if args.json else page(comparison))
        return 0
    from ..tui.launch import show_comparison  # nothing of a screen is wanted for text

    shown = Comparing(runs, _names(args.targets))
    return show_comparison(shown, args.by, looks_of(args))


class Comparing:
    """Follows all runs at once; publishes when one is new, once all have been read."""

    def __init__(self, sessions: Sequence[Session], names: Sequence[str]) -> None:
        self._sessions = sessions
        self.names = names
        self._frames: dict[int, Frame] = {}

    async def run(self, publish: Callable[[Sequence[Frame]], None]) -> None:
        """Until cancelled."""

        def take(index: int, frame: Frame) -> None:
            self._frames[index] = frame
            if len(self._frames) == len(self._sessions) and not any(f.behind for f in self._frames.values()):
                publish([self._frames[place] for place in range(len(self._sessions))])

        def taking(index: int) -> Callable[[Frame], None]:
            return lambda frame: take(index, frame)

        await asyncio.gather(*(one.run(taking(index)) for index, one in enumerate(self._sessions)))


def _opened(target: str, args: argparse.Namespace) -> Session:
    return Session(followed(target), pipeline(settings_of(args)), SystemClock(), make=pipeline)


def _names(targets: Sequence[str]) -> list[str]:
    """What to call the runs: the ends of what the user typed, as far as it tells them apart."""
    ends = [target.removeprefix(PREFIX).rstrip("/").rsplit("/", 1)[-1] for target in targets]
    return ends if len(set(ends)) == len(ends) else list(targets)


def _json(comparison: Comparison) -> str:
    return comparison.model_dump_json(by_alias=True, indent=2)
