"""Tensor activity, from the counters of Hopper and later. Its one rule: they are held only while asked for.

A share of time needs two looks at the counters, so the first reading of a GPU is None. The counters are
shared with other profilers, which is why they are left alone until someone wants to see them.
"""

from contextlib import suppress
from dataclasses import dataclass

from .driver import Driver, GpmSample, Handle, NvmlError
from .faults import NEVER

HIGH = 100.5
"""A share may come out a little above 100 % where both looks are close together; of no time, it is NaN."""


@dataclass(slots=True)
class Pair:
    """The counters of one GPU when it was last looked at, and room for the next look."""

    last: GpmSample
    spare: GpmSample
    filled: bool = False
    """Whether `last` has been taken already."""


class TensorMeter:
    """Reads GPUs by the index that they have for us."""

    def __init__(self, nvml: Driver) -> None:
        self._nvml = nvml
        self._pairs: dict[int, Pair] = {}
        self._without: set[int] = set()
        """GPUs that cannot tell."""

    def read(self, index: int, handle: Handle) -> float | None:
        """Percent of the time since the last call with the tensor cores busy.

        Raises:
            NvmlError: the GPU did not answer this time.
        """
        if index in self._without:
            return None
        try:
            return self._read(index, handle)
        except NvmlError as error:
            if error.code not in NEVER:
                raise
            self._without.add(index)
            return None

    def release(self) -> None:
        """Give all samples back to the driver, which must still be open."""
        for pair in self._pairs.values():
            for sample in (pair.last, pair.spare):
                with suppress(NvmlError):  # the driver may be gone, and its memory with it
                    self._nvml.free(sample)
        self._pairs.clear()
        self._without.clear()

    def _read(self, index: int, handle: Handle) -> float | None:
        pair = self._pairs.get(index)
        if pair is None:
            if not self._nvml.has_gpm(handle):
                self._without.add(index)
                return None
            pair = Pair(self._nvml.new_gpm_sample(), self._nvml.new_gpm_sample())
            self._pairs[index] = pair
        self._nvml.take(handle, pair.spare)
        earlier, now = pair.last, pair.spare
        pair.last, pair.spare = now, earlier
        if not pair.filled:
            pair.filled = True
            return None
        active = self._nvml.tensor_active(earlier, now)
        return active if 0 <= active < HIGH else None
