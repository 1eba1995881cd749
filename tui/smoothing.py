"""A line without its noise: an exponential moving average that starts unbiased."""

from collections.abc import Sequence

WEIGHTS = (0.0, 0.6, 0.9, 0.97)
"""What of the average so far stays at each value; 0 smooths nothing."""
_OPEN = 8
"""Newest values that may still change."""


class Smoothed:
    """The average of a series that grows at its end."""

    def __init__(self) -> None:
        self._of: tuple[object, ...] = ()
        self._kept: list[float] = []
        self._sums: list[float] = []

    def read(self, values: Sequence[float], weight: float, stamp: object = None) -> list[float]:
        """For each value the average of all up to it, the k-th one back weighing weight**k.

        A new `stamp` says that values long told have changed. Each sum is divided by the sum of its weights,
        so that the first values are not pulled to 0 (Kingma and Ba, 2015).
        """
        of = (id(values), weight, stamp)
        if of != self._of or len(values) < len(self._kept):
            self._of, self._kept, self._sums = of, [], []
        settled = max(min(len(self._kept), len(values) - _OPEN), 0)
        del self._kept[settled:], self._sums[settled:]
        held = self._sums[-1] if settled else 0.0
        for count in range(settled, len(values)):
            held = weight * held + (1 - weight) * values[count]
            self._sums.append(held)
            self._kept.append(held / (1 - weight ** (count + 1)))
        return self._kept
