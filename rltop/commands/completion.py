"""`rltop completion SHELL`: a script that completes rltop's words, made from its own parsers."""

import argparse
from collections.abc import Iterator
from typing import cast

FILES = {"target", "targets", "against", "output", "record", "file"}
"""Arguments that are completed as files."""
SHELLS = ("bash", "zsh", "tcsh")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The shell."""
    parser.add_argument("shell", choices=SHELLS, help="which shell the script is for")


def run(args: argparse.Namespace, whole: argparse.ArgumentParser) -> int:
    """Print the script for the words that `whole` takes."""
    import shtab  # used here alone

    for parser in _parsers(whole):
        for action in parser._actions:  # pyright: ignore[reportPrivateUsage] - argparse names them nowhere else
            if action.dest in FILES:
                vars(action)["complete"] = shtab.FILE
    script = shtab.complete(whole, shell=args.shell)
    # A target may stand where a command may: what is no command is completed as a file.
    print(script.replace("complete -o bashdefault -F", "complete -o bashdefault -o default -F"))
    return 0


def _parsers(whole: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    yield whole
    for action in whole._actions:  # pyright: ignore[reportPrivateUsage]
        choices = cast("object", action.choices)
        if isinstance(choices, dict):  # a command's words are a parser of their own
            for parser in cast("dict[str, argparse.ArgumentParser]", choices).values():
                yield from _parsers(parser)
