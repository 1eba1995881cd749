"""`rltop completion SHELL`: a script that completes rltop's words, made from its own parsers."""

import argparse
from collections.abc import Iterator
from typing import cast

from ..monitor.places.demo import PREFIX, RUNS

TARGETS = {"target", "targets", "against", "also", "run"}
"""Arguments that are completed as files and built-in runs."""
FILES = {"output", "record", "file"}
"""Arguments that are completed as files alone."""
ZSH = """
_rltop_targets() {{
  _files
  compadd -- {runs}
}}
"""
BASH = """
# A built-in run is demo:NAME. Where the shell breaks words at colons, only what is behind it is completed.
_rltop() {
  local line="${COMP_LINE:0:COMP_POINT}" before
  local word="${line##*[[:space:]]}"
  if [[ "$word" == demo:* ]]; then
    [[ "$COMP_WORDBREAKS" == *:* ]] && before="" || before="demo:"
    COMPREPLY=($(compgen -P "$before" -W "{runs}" -- "${word#demo:}"))
    return 0
  fi
  _shtab_rltop "$@"
  if [[ -n "$word" && "demo:" == "$word"* ]]; then
    COMPREPLY+=("demo:")
    compopt -o nospace 2>/dev/null
  fi
  return 0
}

# A target may stand where a command may: what is no command is completed as a file.
complete -o bashdefault -o default -F _rltop rltop
"""
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
            elif action.dest in TARGETS and not action.choices:
                vars(action)["complete"] = {**shtab.FILE, "zsh": "_rltop_targets"}
    preamble = ZSH.format(runs=" ".join(PREFIX + name for name in RUNS)) if args.shell == "zsh" else ""
    script = shtab.complete(whole, shell=args.shell, preamble=preamble)
    if args.shell == "bash":
        script, _ = script.rsplit("\ncomplete ", 1)
        script += BASH.replace("{runs}", " ".join(RUNS))
    print(script)
    return 0


def _parsers(whole: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    yield whole
    for action in whole._actions:  # pyright: ignore[reportPrivateUsage]
        choices = cast("object", action.choices)
        if isinstance(choices, dict):  # a command's words are a parser of their own
            for parser in cast("dict[str, argparse.ArgumentParser]", choices).values():
                yield from _parsers(parser)
