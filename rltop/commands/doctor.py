"""`rltop doctor`: what is there on this machine, what is not, and how to get it. It always succeeds."""

import argparse
import json
import shutil
import sys

from ..monitor.doctor import Finding, Screen, findings

SIGNS = {"ok": "✔", "missing": "–", "wrong": "✖"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What can be said."""
    parser.add_argument("--json", action="store_true", help="print the findings as JSON")


def run(args: argparse.Namespace) -> int:
    """Print all findings; 0."""
    columns, lines = shutil.get_terminal_size()
    found = findings(Screen(sys.stdout.isatty(), columns, lines, sys.stdout.encoding or "unknown"))
    if args.json:
        print(json.dumps([each._asdict() for each in found], indent=2, ensure_ascii=False))
    else:
        print(page(found))
    return 0


def page(found: list[Finding]) -> str:
    """A line each, and one below with the way out, where there is one."""
    width = max(len(each.name) for each in found)
    lines: list[str] = []
    for each in found:
        lines.append(f"{SIGNS[each.verdict]} {each.name:<{width}}  {each.found}")
        if each.fix:
            lines.append(f"  {'':<{width}}  → {each.fix}")
    return "\n".join(lines)
