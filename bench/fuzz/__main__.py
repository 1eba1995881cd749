"""Feeds every reader broken logs, and tells of each that it does not take calmly.

    python -m bench.fuzz                                every format, 100,000 inputs each
    python -m bench.fuzz --only .verl:CONSOLE -n 5000   one format, fewer
    python -m bench.fuzz --only .jsonl:FORMAT --first 4711 -n 1   one input again

An input fails where anything is raised, where it takes more than two seconds of CPU, or where it makes the
process grow by more than 200 MB. Inputs that fail are kept in `--keep FOLDER`.
"""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

from rltop.monitor.sources import BUILT_IN

from .trial import Trial


def main(arguments: Sequence[str] | None = None) -> int:
    """Try all inputs, print a line a format; 1 where some failed."""
    parser = argparse.ArgumentParser(prog="python -m bench.fuzz")
    parser.add_argument("--only", choices=BUILT_IN, action="append", metavar="ENTRY")
    parser.add_argument("-n", "--count", type=int, default=100_000)
    parser.add_argument("--first", type=int, default=0, help="number of the first input")
    parser.add_argument("--keep", type=Path, help="folder for the inputs that fail")
    args = parser.parse_args(arguments)
    failed = 0
    print(
        f"{'format':<24}{'inputs':>9}{'failed':>8}{'minutes':>9}{'slowest':>10}{'its number':>9}{'grown':>9}"
    )
    for entry in args.only or BUILT_IN:
        began = perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            trial = Trial(entry, Path(folder))
            for number in range(args.first, args.first + args.count):
                failure = trial.run(number)
                if failure is not None:
                    print(f"  {entry} input {number}: {failure}", flush=True)
                    if args.keep:
                        trial.keep(args.keep / f"{entry.strip('.').replace(':', '-')}-{number}")
        minutes = (perf_counter() - began) / 60
        print(
            f"{entry:<24}{args.count:>9}{trial.failed:>8}{minutes:>9.1f}"
            f"{trial.slowest_s:>8.2f} s{trial.slowest:>9}{trial.grown_mb:>6.0f} MB",
            flush=True,
        )
        failed += trial.failed
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
