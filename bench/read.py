"""How fast runs are read, beside the readers that people use: one process a measurement, taken in turn.

    python -m bench.read                     every format, three times each, medians
    python -m bench.read --kind wandb -n 5   one format, more often
    python -m bench.read --keep FOLDER       the long logs, 360 MB, are written there and used again
    python -m bench.read --json FILE         the medians as JSON too

The rivals are optional: `pip install -e '.[bench]'`. One that is not there is named as missing.
CPU seconds are to be trusted; wall seconds depend on what else the machine does.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from .longrun.readers import READERS, Reader
from .longrun.tensorboard import write_tensorboard
from .longrun.text import write_console, write_file_logger, write_jsonl
from .longrun.wandb import write_wandb
from .screen import filled

STEPS, MEGABYTE = 20_000, 1_000_000
LOGS: dict[str, tuple[str, Callable[[Path, int], None]]] = {
    "wandb": ("run-abc123.wandb", write_wandb),
    "tensorboard": ("events.out.tfevents.1790000000.host", write_tensorboard),
    "jsonl": ("metrics.jsonl", write_jsonl),
    "file logger": ("verl_metrics.jsonl", write_file_logger),
    "console": ("console.log", write_console),
}


class Took(NamedTuple):
    """One measurement."""

    wall_s: float
    cpu_s: float
    rss_mb: float
    steps: int | None
    """None where the program does not say."""


def measured(reader: Reader, path: Path) -> Took | str:
    """One measurement in a process of its own, or why there is none."""
    if reader.screen is not None:
        try:
            return Took(*filled(reader.screen(path)), None)
        except (OSError, RuntimeError) as error:
            return str(error)
    words = [sys.executable, "-m", "bench.read", "--only", reader.name, str(path)]
    child = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    out, err = child.communicate()
    if child.returncode:
        return err.strip().rpartition("\n")[2] or f"exit code {child.returncode}"
    return Took(**json.loads(out.splitlines()[-1]))


def missing(reader: Reader) -> str | None:
    """Why a reader cannot be run here."""
    from importlib.util import find_spec

    try:
        there = all(find_spec(module) is not None for module in reader.needs)
    except ModuleNotFoundError:
        there = False
    return None if there else f"missing: {reader.hint or 'pip install -e .[bench]'}"


def compare(readers: Sequence[Reader], path: Path, times: int) -> list[dict[str, object]]:
    """Measure the readers of a format in turn, and print a line each."""
    kind = readers[0].kind
    why = {reader.name: reason for reader in readers if (reason := missing(reader)) is not None}
    found: dict[str, list[Took]] = {reader.name: [] for reader in readers}
    for _ in range(times):
        for reader in readers:
            if reader.name not in why:
                took = measured(reader, path)
                if isinstance(took, str):
                    why[reader.name] = took
                else:
                    found[reader.name].append(took)
    megabytes = path.stat().st_size / MEGABYTE
    print(f"\n{kind}, {megabytes:.0f} MB, median of {times}")
    print(f"  {'':<38}{'wall s':>8}{'CPU s':>8}{'MB/s':>8}{'RSS MB':>8}{'steps':>8}")
    rows: list[dict[str, object]] = []
    for reader in readers:
        if reader.name in why:
            print(f"  {reader.name:<38}  {why[reader.name]}")
            rows.append({"kind": kind, "reader": reader.name, "missing": why[reader.name]})
            continue
        wall_s, cpu_s, rss_mb = (
            statistics.median(each) for each in list(zip(*found[reader.name], strict=True))[:3]
        )
        steps = found[reader.name][0].steps
        print(
            f"  {reader.name:<38}{wall_s:>8.2f}{cpu_s:>8.2f}{megabytes / cpu_s:>8.0f}{rss_mb:>8.0f}"
            f"{'–' if steps is None else steps:>8}",
            flush=True,
        )
        rows.append(
            {
                "kind": kind,
                "reader": reader.name,
                "wall_s": wall_s,
                "cpu_s": cpu_s,
                "rss_mb": rss_mb,
                "steps": steps,
            }
        )
    return rows


def only(name: str, path: Path) -> None:
    """Be the process that is measured. What the reader imports is not counted, as a session imports once."""
    import resource
    from time import perf_counter, process_time

    reader = next(reader for reader in READERS if reader.name == name)
    assert reader.prepare is not None
    read = reader.prepare()
    wall, cpu = perf_counter(), process_time()
    steps = read(path)
    took = Took(perf_counter() - wall, process_time() - cpu, 0.0, steps)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MEGABYTE
    print(json.dumps(took._replace(rss_mb=most)._asdict()))


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the logs, measure, print."""
    parser = argparse.ArgumentParser(prog="python -m bench.read")
    parser.add_argument("--kind", choices=list(LOGS), action="append", help="a format; every one by default")
    parser.add_argument("-n", "--times", type=int, default=3)
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--keep", type=Path, help="folder for the logs, which are used again when there")
    parser.add_argument("--json", type=Path, dest="out", help="write the medians there")
    parser.add_argument("--ours", action="store_true", help="no rivals, no screens")
    parser.add_argument("--only", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args(arguments)
    if args.only:
        only(args.only[0], Path(args.only[1]))
        return
    rows: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(args.keep or scratch)
        folder.mkdir(parents=True, exist_ok=True)
        print(f"{args.steps} steps on {os.cpu_count()} cores, Python {sys.version.split()[0]}")
        for kind in args.kind or LOGS:
            name, write = LOGS[kind]
            path = folder / f"{args.steps}-{name}" if kind != "wandb" else folder / name
            if not path.exists():
                write(path, args.steps)
            readers = [reader for reader in READERS if reader.kind == kind]
            if args.ours:
                readers = [reader for reader in readers if reader.name.startswith("rltop") and reader.prepare]
            rows += compare(readers, path, args.times)
    if args.out:
        args.out.write_text(
            json.dumps({"steps": args.steps, "times": args.times, "rows": rows}, indent=1) + "\n"
        )


if __name__ == "__main__":
    main()
