"""Groups of arguments that several commands share."""

import argparse

from . import words


def settings(parser: argparse.ArgumentParser) -> None:
    """What `flags.settings_of` reads."""
    group = parser.add_argument_group("what you know better than the log")
    group.add_argument("--budget", type=words.dollars, metavar="USD", help="warn when the run will cost more")
    group.add_argument(
        "--deadline",
        type=words.moment,
        metavar="TIME",
        help="warn when the run will end later: 2026-12-01T08:00Z",
    )
    group.add_argument(
        "--fleet-budget", type=words.dollars, metavar="USD", help="what all runs shown may cost together"
    )
    group.add_argument("--total-steps", type=words.count, metavar="N", help="steps the run will have")
    group.add_argument("--max-tokens", type=words.count, metavar="N", help="cap on tokens per response")
    group.add_argument("--model", metavar="ID", help="the model's id in the price book")
    group.add_argument("--price", type=words.rates, metavar="P,S,T[,C]",
                       help="dollars per million tokens: prefill, sample, train, cached prefill")  # fmt: skip
    group.add_argument(
        "--prices", type=words.day, metavar="DATE", help="use the price list in force on YYYY-MM-DD"
    )
    group.add_argument("--gpus", type=words.count, metavar="N", help="GPUs that the run holds")
    group.add_argument("--gpu-type", metavar="NAME", help="such as B200, H100, A100")
    group.add_argument(
        "--usd-per-gpu-hour", type=words.dollars, metavar="USD", help="your price of a GPU-hour"
    )
    group.add_argument("--usd-per-kwh", type=words.dollars, metavar="USD", help="your price of electricity")


def also(parser: argparse.ArgumentParser) -> None:
    """Further logs of the run that the target names."""
    parser.add_argument(
        "--with",
        dest="also",
        action="append",
        default=[],
        metavar="LOG",
        help="a further log of the same run, such as its metrics.jsonl or .wandb; may be given again",
    )


def replay(parser: argparse.ArgumentParser, speed: float) -> None:
    """How a replay starts."""
    about = f"times as fast as the run was ({speed:g})"
    parser.add_argument("--speed", type=words.speed, default=speed, metavar="N", help=about)
    parser.add_argument("--from-step", type=words.step, metavar="N", help="start at this step")
    parser.add_argument("--plain", action="store_true", help="print a line a step instead of a screen")


def screen(parser: argparse.ArgumentParser) -> None:
    """What `flags.on_screen` reads."""
    group = parser.add_argument_group("the screen")
    group.add_argument("--ascii", action="store_true", help="draw charts without braille and blocks")
    group.add_argument("--theme", metavar="NAME", help="one of the themes of the command palette (^p)")
    group.add_argument("--no-mouse", action="store_true", help="leave the mouse to the terminal")


def gpus(parser: argparse.ArgumentParser) -> None:
    """Where GPUs and inference engines are read."""
    group = parser.add_argument_group("GPUs")
    group.add_argument(
        "--gpus-from",
        action="append",
        metavar="PLACE",
        help="instead of this machine's: ssh://HOST[,HOST], http://HOST:9400/metrics, prom:http://HOST:9090, "
        "ray, ray:http://HEAD:8265, local; may be given again",
    )
    group.add_argument(
        "--engine", action="append", metavar="URL", help="a vLLM's or SGLang's metrics, as http://HOST:8000"
    )


def fail_on(parser: argparse.ArgumentParser) -> None:
    """When the exit code is 1."""
    parser.add_argument(
        "--fail-on",
        choices=("never", "warning", "critical"),
        default="never",
        help="exit with 1 when at the end an alert of this severity or worse stands (never)",
    )


def telling(parser: argparse.ArgumentParser) -> None:
    """Who is told of alerts, beside whoever looks; what `telling.Telling` reads."""
    group = parser.add_argument_group("who is told of alerts")
    group.add_argument(
        "--on-critical",
        type=words.command,
        metavar="CMD",
        help="run this at each critical alert, with the alert as JSON on its standard input",
    )
    group.add_argument("--no-notify", action="store_true", help="send nothing to notify.urls")
