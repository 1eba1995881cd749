"""How busy the GPUs were over time: append-only columns, all GPUs of all hosts together. Never goes back."""

import math
from array import array
from bisect import bisect_left
from itertools import pairwise

from ...models.gpu import GpuSample

BIN_S = 2.0
"""Samples of several hosts that fall so close together are one row."""


class GpuTrace:
    """Sums over the GPUs that told, a row for each two seconds in which some did."""

    def __init__(self) -> None:
        self.at = array("d")
        """When the row was begun, unix seconds; rising."""
        self._util, self._util_n = array("d"), array("q")
        self._tensor, self._tensor_n = array("d"), array("q")

    def __len__(self) -> int:
        return len(self.at)

    def add(self, sample: GpuSample) -> None:
        """Count a sample in. One that is older than the newest row is left out."""
        if not self.at or sample.at >= self.at[-1] + BIN_S:
            self.at.append(sample.at)
            for column in (self._util, self._util_n, self._tensor, self._tensor_n):
                column.append(0)
        elif sample.at < self.at[-1]:
            return
        for gpu in sample.gpus:
            if gpu.util is not None:
                self._util[-1] += gpu.util
                self._util_n[-1] += 1
            if gpu.tensor_active is not None:
                self._tensor[-1] += gpu.tensor_active
                self._tensor_n[-1] += 1

    def means(self, begin: float, end: float) -> tuple[float | None, float | None]:
        """(busy, tensor activity) in percent over `begin` <= time < `end`, unix seconds."""
        rows = slice(bisect_left(self.at, begin), bisect_left(self.at, end))
        return _mean(self._util[rows], self._util_n[rows]), _mean(self._tensor[rows], self._tensor_n[rows])

    def covers(self, begin: float, end: float) -> bool:
        """Whether the GPUs were watched from `begin` to `end`, with no gap over 30 s or a tenth of it."""
        gap_s = max(30.0, (end - begin) / 10)
        rows = self.at[bisect_left(self.at, begin - gap_s) : bisect_left(self.at, end + gap_s)]
        if not rows or rows[0] > begin + gap_s or rows[-1] < end - gap_s:
            return False
        return max((later - earlier for earlier, later in pairwise(rows)), default=0.0) <= gap_s

    def util(self, row: int) -> float:
        """Mean share of time that the GPUs were busy, in percent; NaN where none told."""
        return self._util[row] / self._util_n[row] if self._util_n[row] else math.nan


def _mean(sums: "array[float]", counts: "array[int]") -> float | None:
    count = sum(counts)
    return sum(sums) / count if count else None
