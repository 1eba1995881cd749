"""What is usual for a run, the median of its first steps, and where it stands now. Pure."""

import statistics
from typing import NamedTuple


class Baseline(NamedTuple):
    """A series, boiled down to what rules compare. Grows by `add`; constant size."""

    first: tuple[float, ...] = ()
    """The values that make up the usual level, until there are enough of them."""
    usual: float | None = None
    """Their median."""
    now: float | None = None
    """Exponentially weighted mean of all values."""
    seen: int = 0

    def add(self, x: float, steps: int, skip: int = 0, weight: float = 0.4) -> "Baseline":
        """One more value. The usual level is the median of `steps` values after the first `skip`."""
        now = x if self.now is None else (1 - weight) * self.now + weight * x
        if self.seen < skip or len(self.first) >= steps:
            return Baseline(self.first, self.usual, now, self.seen + 1)
        first = (*self.first, x)
        return Baseline(first, statistics.median(first), now, self.seen + 1)


def spread(values: tuple[float, ...]) -> float:
    """How far values scatter about their median: 1.4826 × the median absolute deviation, which is
    the standard deviation of normal noise and not moved by a few outliers."""
    middle = statistics.median(values)
    return 1.4826 * statistics.median([abs(x - middle) for x in values])
