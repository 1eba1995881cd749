"""Rollout summaries: the exact response lengths of one training step, where the cookbook has exported them.

One line a trajectory, `steps[].ac_len` a turn. The one rule: only the file of the step that is asked for
is looked at, so that thousands of iteration folders cost nothing.
"""

import re
from array import array
from dataclasses import dataclass
from pathlib import Path

_SAMPLED = re.compile(rb'"ac_len": ?(\d{1,15})(?=[,}\s])')
"""Found without parsing the lines, which hold much else: over 4 times faster. Inside a JSON string a quote
has a backslash before it, so that this matches keys only; and the sum of the lengths is checked."""
LARGEST_BYTES = 256 * 1024 * 1024
"""A larger file holds whole transcripts in its logs; reading it would stall the screen."""


@dataclass(frozen=True, slots=True)
class Lengths:
    """Sampled tokens of each turn of a step, at least one."""

    tokens: "array[int]"

    @property
    def total(self) -> int:
        return sum(self.tokens)

    @property
    def mean(self) -> float:
        return sum(self.tokens) / len(self.tokens)

    @property
    def longest(self) -> int:
        return max(self.tokens)

    @property
    def shortest(self) -> int:
        return min(self.tokens)

    def share_at(self, cap: int) -> float:
        """Share of turns that are as long as `cap` tokens, which cut them."""
        return sum(length >= cap for length in self.tokens) / len(self.tokens)


class Rollouts:
    """The rollout summaries of one run folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def lengths(self, step: int, total: float | None) -> Lengths | None:
        """The lengths of a step; None where no file of this very step is found.

        `total` is what the metrics say was sampled in the step. A file that has another sum belongs to
        another attempt at the same step, which wrote over it, or is still being written.
        """
        if step < 0:
            return None
        name = f"{step:06d}"
        for path in (
            self._folder / f"iteration_{name}" / "train_rollout_summaries.jsonl",
            self._folder / f"train_iteration_{name}_rollout_summaries.jsonl",
        ):
            tokens = _read(path)
            if tokens and (total is None or sum(tokens) == total):
                return Lengths(tokens)
        return None


def _read(path: Path) -> "array[int]":
    """Sampled tokens of all turns in a file, in order."""
    try:
        with path.open("rb") as file:
            return array("q", map(int, _SAMPLED.findall(file.read(LARGEST_BYTES))))
    except OSError:
        return array("q")
