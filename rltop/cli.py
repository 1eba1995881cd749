"""The command line: words to calls. Screens and heavy parts are imported by the command that needs them.

stdout carries the output that was asked for, diagnostics go to stderr. Exit codes: 0 fine, 1 an alert at or
above --fail-on, 2 wrong usage, 3 the input cannot be used.
"""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from io import TextIOWrapper
from pathlib import Path
from textwrap import fill, indent

from . import __version__, arguments
from .models.settings import SettingsError
from .models.text import printable

FINE, USAGE, UNUSABLE = 0, 2, 3

ABOUT = "top for RL post-training: what a run costs, what it will have cost, and whether it is healthy."
WATCH_EXAMPLES = """\
examples:
  rltop runs/my-tinker-run                  a Tinker run folder, finished or growing
  rltop train.log --usd-per-gpu-hour 4.98   a veRL console log on GPUs that you pay $4.98 an hour for
  rltop train.log --budget 150              say when the budget will break
  ./train.sh 2>&1 | rltop -                 a run as it prints
  rltop train.log --with metrics.jsonl      one run, told in two places
  rltop                                     every run below this folder, a line each
  rltop runs/a runs/b --fleet-budget 500    some runs, and what they may cost together
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run rltop with these words; the exit code."""
    line = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without UTF-8 shows ? and not a traceback
    try:
        args, run = _understood(line)
        code = run(args)
        sys.stdout.flush()
        return code
    except SettingsError as error:
        print(f"rltop: {printable(str(error))}", file=sys.stderr)
        return USAGE
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader has had enough, as `head` does. Python must not try to flush again on its way out.
        _write_no_more()
        return FINE
    except OSError as error:
        print(
            f"rltop: {printable(str(error.filename or 'cannot write'))}: {error.strerror or error}",
            file=sys.stderr,
        )
        _write_no_more()
        return UNUSABLE


def _write_no_more() -> None:
    """Let what Python still holds back for stdout go nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


Command = tuple[argparse.ArgumentParser, Callable[[argparse.Namespace], int]]


def _parser(name: str, about: str, examples: str) -> argparse.ArgumentParser:
    return argparse.ArgumentParser(
        prog=f"rltop {name}".strip(),
        description=about,
        epilog=examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def _plain(name: str, about: str, examples: str) -> Callable[[], Command]:
    """A command whose module has `add_arguments(parser)` and `run(args)`."""

    def command() -> Command:
        parser = _parser(name, about, examples)
        module = import_module(f".commands.{name}", __package__)
        module.add_arguments(parser)
        return parser, module.run

    return command


def _watch() -> Command:
    others = fill(" | ".join(name for name in COMMANDS if name != "watch"), 88, break_on_hyphens=False)
    parser = _parser(
        "", ABOUT, f"{WATCH_EXAMPLES}\nother commands (each has --help):\n{indent(others, '  ')}\n"
    )
    parser.add_argument(
        "target",
        nargs="*",
        metavar="TARGET",
        help="a run folder, a log, wandb:entity/project/run or its address, ssh://host/path, or - for stdin; "
        "of several, and of all below a folder, a line each (.)",
    )
    parser.add_argument("--version", action="version", version=f"rltop {__version__}")
    parser.add_argument("--record", type=Path, metavar="FILE", help="write all events, to replay them later")
    parser.add_argument("--plain", action="store_true", help="print a line a step instead of a screen")
    parser.add_argument("--against", metavar="TARGET", help="list what differs from another run, on screen 9")
    parser.add_argument("--no-cache", action="store_true", help="read all of many runs anew")
    arguments.telling(parser)
    arguments.also(parser)
    arguments.settings(parser)
    arguments.gpus(parser)
    arguments.screen(parser)
    from .commands import watch  # each command's module is imported when it is called: --help stays quick

    return parser, watch.run


def _completion() -> Command:
    parser = _parser(
        "completion",
        "A script for your shell that completes rltop's words.",
        "examples:\n  rltop completion bash > ~/.local/share/bash-completion/completions/rltop\n"
        "  rltop completion zsh > ~/.zfunc/_rltop\n",
    )
    from .commands import completion

    completion.add_arguments(parser)
    return parser, lambda args: completion.run(args, _whole_parser())


def _serve() -> Command:
    parser = _parser(
        "serve",
        "The same screen in a browser, for this machine alone unless you say otherwise.",
        "examples:\n  rltop serve runs/my-run\n  rltop serve train.log --port 9000 --budget 150\n\n"
        "From elsewhere: ssh -L 8421:localhost:8421 HOST, and open http://localhost:8421.\n"
        "Needs `pip install 'rltop[serve]'`.\n",
    )
    from .commands import serve

    serve.add_arguments(parser)
    return parser, lambda args: serve.run(args, _understood)


def _understood(line: Sequence[str]) -> tuple[argparse.Namespace, Callable[[argparse.Namespace], int]]:
    """A command's words and what runs it. Wrong words end the program, as argparse does."""
    name = line[0] if line and line[0] in COMMANDS else "watch"
    parser, run = COMMANDS[name]()
    return parser.parse_args(line if name == "watch" else line[1:]), run


def _whole_parser() -> argparse.ArgumentParser:
    """Every command's words in one parser, for what completes them."""
    watch, _ = COMMANDS["watch"]()
    whole = argparse.ArgumentParser(prog="rltop", description=ABOUT)
    for action in watch._actions:  # pyright: ignore[reportPrivateUsage] - argparse names them nowhere else
        if action.option_strings and action.dest != "help":
            whole._add_action(action)  # pyright: ignore[reportPrivateUsage]
    commands = whole.add_subparsers(dest="command", metavar="COMMAND")
    for name, command in COMMANDS.items():
        if name != "watch":
            parser, _ = command()
            commands.add_parser(name, parents=[parser], add_help=False, help=parser.description)
    return whole


COMMANDS: dict[str, Callable[[], Command]] = {
    "config": _plain(
        "config",
        "Settings in rltop.toml: which files are read, whether they are right, and what holds in the end.",
        "examples:\n  rltop config path\n  rltop config check\n  rltop config show runs/my-run\n",
    ),
    "completion": _completion,
    "serve": _serve,
    "report": _plain(
        "report",
        "The bill, how the projection moved, and the alerts: a page to keep or to show.",
        "examples:\n  rltop report runs/my-run -o report.html\n"
        "  rltop report train.log --budget 150 > report.md\n",
    ),
    "watch": _watch,
    "check": _plain(
        "check",
        "One look at a run, on stdout; at several, as a table with their sums.",
        "examples:\n  rltop check train.log\n"
        "  rltop check runs/my-run --json --budget 40 --fail-on critical\n"
        "  rltop check runs/* --fleet-budget 500\n",
    ),
    "replay": _plain(
        "replay",
        "Play a finished run back, with the projection as it was known at each moment.",
        "examples:\n  rltop replay train.log\n  rltop replay runs/my-run --speed 300 --from-step 20\n",
    ),
    "demo": _plain(
        "demo",
        "Play a built-in run: no account, no log, no GPU needed. Reconstructed from published totals.",
        "examples:\n  rltop demo              GSM8K on Tinker: a cost that converges\n"
        "  rltop demo math-verl    MATH on 8 × B200: lengths explode, alerts come, the cluster goes\n"
        "  rltop demo math-tinker  the same task on Tinker\n",
    ),
    "follow": _plain(
        "follow",
        "Follow a run without a screen: a JSON line whenever something is new, until it ends.",
        "examples:\n  rltop follow train.log >> costs.jsonl\n"
        "  rltop follow runs/my-run --fail-on critical && echo healthy to the end\n"
        "  rltop follow train.log --on-critical 'scancel 4711'\n",
    ),
    "whatif": _plain(
        "whatif",
        "What a run would cost if one thing were otherwise: caching, platform, evaluations, an earlier end.",
        "examples:\n  rltop whatif runs/my-run                       a Tinker run, also on 8 × B200\n"
        "  rltop whatif train.log --gpus 16 --gpu-type H100 --usd-per-gpu-hour 2.5\n"
        "  rltop whatif train.log --mfu 0.1 --stop-at 60\n\n"
        "--gpus, --gpu-type and --usd-per-gpu-hour are of other GPUs where they name a type that the run\n"
        "is not on, and of the run's own otherwise.\n",
    ),
    "estimate": _plain(
        "estimate",
        "What a run will cost, before it is started: Tinker and your own GPUs side by side.",
        "examples:\n  rltop estimate --model Qwen/Qwen3-4B-Instruct-2507 --groups 128 --group-size 8 \\\n"
        "    --prompt-tokens 100 --response-tokens 512 --steps 59 --gpus 8 --gpu-type B200\n",
    ),
    "prices": _plain(
        "prices",
        "The price book: what each model and GPU costs, since when, and where the number is from.",
        "examples:\n  rltop prices list\n  rltop prices show Qwen/Qwen3-8B\n  rltop prices refresh\n",
    ),
    "reconcile": _plain(
        "reconcile",
        "Tinker's own billing usage beside our bill of a run, with what explains the differences.",
        "examples:\n  rltop reconcile runs/my-run\n"
        "  rltop reconcile runs/my-run --start 2026-07-13 --end 2026-07-14 --json\n\n"
        "Needs `pip install 'rltop[tinker]'` and a key whose owner may see the organisation's bills.\n",
    ),
    "gpus": _plain(
        "gpus",
        "What GPUs do, here or elsewhere: busy, tensor cores, memory, power, temperature, errors.",
        "examples:\n  rltop gpus\n  rltop gpus --watch ssh://node1,node2\n"
        "  rltop gpus prom:http://prometheus:9090\n  rltop gpus --json | jq '.gpus[].util'\n",
    ),
    "compare": _plain(
        "compare",
        "Two to six runs side by side: cost, length, reward and time, and the facts in which they differ.",
        "examples:\n  rltop compare runs/a runs/b\n"
        "  rltop compare demo:math-tinker demo:math-verl      the same task on Tinker and on 8 × B200\n"
        "  rltop compare runs/a runs/b --by dollars --json\n",
    ),
    "notify": _plain(
        "notify",
        "Whether the receivers of notifications can be reached: notify.urls of rltop.toml, or --url.",
        "examples:\n  rltop notify                     who would be told, and of what\n"
        "  rltop notify --test              send a message to each\n"
        "  rltop notify --test --url ntfy://my-topic\n",
    ),
    "doctor": _plain(
        "doctor",
        "What is here - terminal, colour, GPUs, W&B, Tinker, Ray, ssh - and how to get what is not.",
        "examples:\n  rltop doctor\n  rltop doctor --json | jq '.[] | select(.verdict == \"wrong\")'\n",
    ),
    "alerts": _plain(
        "alerts",
        "The alert rules: on or off, every threshold, and where its setting is from.",
        "examples:\n  rltop alerts\n  rltop alerts train.log    which are watched on this run, and why not\n"
        "  rltop alerts --json | jq '.rules[] | select(.enabled | not) | .rule'\n",
    ),
}
