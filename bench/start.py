"""How long a whole process takes: `rltop check`, and the screen until its first picture.

Each command is run in turn with its yardstick, and the medians and the ratio of the medians are printed.
Usage: `python bench/start.py [RUNS]`.
"""

import os
import pty
import statistics
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

PYTHON = sys.executable
DEMO = Path(__file__).resolve().parents[1] / "monitor" / "demo" / "data" / "math-tinker"
CHECK = [PYTHON, "-m", "rltop", "check", str(DEMO)]
IMPORT = [PYTHON, "-c", "import pydantic; pydantic.BaseModel"]
SCREEN = [PYTHON, "-m", "rltop", str(DEMO)]
BARE = [
    PYTHON,
    "-c",
    "from textual.app import App\nfrom textual.widgets import Static\n"
    "class Bare(App):\n    def compose(self):\n        yield Static('rltop')\nBare().run()",
]


def whole(words: list[str]) -> float:
    """Seconds from start to exit."""
    began = perf_counter()
    subprocess.run(words, stdout=subprocess.DEVNULL, check=True)
    return perf_counter() - began


def first_picture(words: list[str]) -> float:
    """Seconds until the first text stands on the screen of a pseudo-terminal; the process is ended then."""
    parent, child = pty.openpty()
    began = perf_counter()
    process = subprocess.Popen(
        words,
        stdin=child,
        stdout=child,
        stderr=child,
        env={**os.environ, "TERM": "xterm-256color", "COLUMNS": "120", "LINES": "40"},
    )
    os.close(child)
    seen = b""
    # The alternate screen is switched to first; the first picture is what follows in a burst of its own.
    while b"rltop" not in seen and b"overview" not in seen:
        seen += os.read(parent, 65536)
    took = perf_counter() - began
    process.kill()
    process.wait()
    os.close(parent)
    return took


def compare(
    name: str, ours: list[str], rival: list[str], measure: Callable[[list[str]], float], runs: int
) -> None:
    """Print the medians of both, run in turn, and their ratio."""
    measure(ours)
    measure(rival)
    pairs = [(measure(ours), measure(rival)) for _ in range(runs)]
    our_median, their_median = (statistics.median(times) for times in zip(*pairs, strict=True))
    print(f"{name:<34}{our_median:>8.3f} s{their_median:>10.3f} s{our_median / their_median:>8.2f}×")


def main() -> None:
    """Measure both."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    print(f"{'median of ' + str(runs):<34}{'rltop':>10}{'rival':>12}{'ratio':>9}")
    compare("check, against importing pydantic", CHECK, IMPORT, whole, runs)
    compare("first picture, against a bare app", SCREEN, BARE, first_picture, runs)


if __name__ == "__main__":
    main()
