"""A whole history in at most 96 means: the memory of the experts that look far back.

Its one rule: bounded. When it is full, neighbours are merged in pairs, so that a run of any
length is remembered evenly, each block standing for the same (power of two) number of steps.
"""

from dataclasses import dataclass, field
from itertools import accumulate

CAPACITY = 96


@dataclass(slots=True)
class Blocks:
    """Block means of a series, oldest first, and the block that is being filled."""

    width: int = 1
    """Steps in each closed block."""
    means: list[float] = field(default_factory=list[float])
    open_sum: float = 0.0
    open_steps: int = 0
    lowest: float = 0.0
    """The least mean of a quarter of the closed blocks, of at least three, side by side; of fewer, of all."""

    def add(self, value: float) -> bool:
        """Take one more step's value; True when that closed a block."""
        self.open_sum += value
        self.open_steps += 1
        if self.open_steps < self.width:
            return False
        self.means.append(self.open_sum / self.width)
        self.open_sum, self.open_steps = 0.0, 0
        if len(self.means) == CAPACITY:
            self.means = [
                (left + right) / 2 for left, right in zip(self.means[::2], self.means[1::2], strict=True)
            ]
            self.width *= 2
        self.lowest = self._lowest()
        return True

    def _lowest(self) -> float:
        count = min(len(self.means), max(3, len(self.means) // 4))
        sums = list(accumulate(self.means, initial=0.0))
        return min(end - start for start, end in zip(sums, sums[count:], strict=False)) / count

    @property
    def steps(self) -> int:
        """Steps remembered."""
        return len(self.means) * self.width + self.open_steps

    def mean_of_last(self, steps: float) -> float:
        """The mean of the newest `steps` steps, the oldest block taken in part."""
        left = steps - self.open_steps
        if left <= 0:
            return self.open_sum / self.open_steps
        whole = min(int(left / self.width), len(self.means))
        oldest = len(self.means) - whole
        total = self.open_sum + self.width * sum(self.means[oldest:])
        covered = self.open_steps + self.width * whole
        if oldest and covered < steps:
            total += self.means[oldest - 1] * (steps - covered)
            covered = steps
        return total / covered
