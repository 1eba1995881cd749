"""Writes the demo's runs: logs in the frameworks' own formats, reconstructed from published totals.

The totals are those of a published comparison of one GRPO recipe on Tinker and on veRL (GSM8K and MATH with
Qwen3-4B-Instruct-2507). What the page does not give, the path between its figures, is drawn here with a
fixed seed, and every run says so in its name. Usage: `python -m bench.demo FOLDER`.
"""

import sys
from pathlib import Path

from .tinker import GSM8K, MATH, write_tinker
from .verl import write_verl


def write_all(folder: Path) -> None:
    """Write the three runs below `folder`."""
    write_tinker(folder, GSM8K, seed=1)
    write_tinker(folder, MATH, seed=2)
    write_verl(folder, seed=3)


if __name__ == "__main__":
    write_all(Path(sys.argv[1]))
