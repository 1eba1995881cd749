"""Which readings a GPU is asked for, in our units. Its one rule: what a GPU cannot tell is left out.

A reading may be had in several ways, the newest call first. The way that works is kept for each GPU, and so
is that none does, so that a GPU is not asked every two seconds for what it does not have.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from .binding import Handle, Nvml, NvmlError
from .faults import DRIVER_GONE, GONE, NEVER, NO_PERMISSION, UNKNOWN

THROTTLED = 0x8 | 0x20 | 0x40 | 0x80
"""Clock reasons: hardware slowdown, too hot (by software's and by hardware's measure), power brake.
Not 0x4, the power cap, at which every busy GPU runs."""

Way = Callable[[Nvml, Handle], float | tuple[float, ...]]


class Reading(NamedTuple):
    """What comes of one call."""

    names: tuple[str, ...]
    ways: tuple[Way, ...]
    per_unit: float
    """NVML's units in one of ours."""
    low: float
    high: float
    """Outside `low <= value < high` it is no measurement but a driver's way of not knowing."""


UTIL = Reading(("util",), (Nvml.utilization,), 1.0, 0.0, 100.1)
MEMORY = Reading(("mem_used_gb", "mem_total_gb"), (Nvml.memory, Nvml.memory_before_v2), 1e9, 0.0, 1e6)
POWER = Reading(("power_w",), (Nvml.power_mw,), 1e3, 0.0, 1e5)
ENERGY = Reading(("energy_j",), (Nvml.energy_mj,), 1e3, 0.0, 1e15)
TEMPERATURE = Reading(("temp_c",), (Nvml.temperature_c, Nvml.temperature_before_v13), 1.0, -50.0, 200.0)
CLOCKS = Reading(("clock_reasons",), (Nvml.clock_reasons, Nvml.clock_reasons_before_v12), 1.0, 0.0, 2.0**53)
READINGS = (UTIL, MEMORY, POWER, ENERGY, TEMPERATURE, CLOCKS)


class Gauges:
    """The readings of one GPU, in the ways that work with it."""

    def __init__(self) -> None:
        self.denied: set[str] = set()
        """Names of what may not be read without more rights."""
        self._left = {reading: list(reading.ways) for reading in READINGS}
        """The ways that have not yet been refused for good."""

    def read(self, nvml: Nvml, gpu: Handle) -> dict[str, float]:
        """The values that are known, by name.

        Raises:
            NvmlError: the GPU or the driver is gone, so that there is no use in asking on.
        """
        values: dict[str, float] = {}
        unknown_error: NvmlError | None = None
        for reading in READINGS:
            try:
                values.update(self._ask(reading, nvml, gpu))
            except NvmlError as error:
                if error.code in GONE or error.code in DRIVER_GONE:
                    raise
                if error.code == UNKNOWN:
                    unknown_error = error
        # One odd call has an odd answer; a GPU that has no other answer is gone.
        if unknown_error is not None and not values:
            raise unknown_error
        return values

    def _ask(self, reading: Reading, nvml: Nvml, gpu: Handle) -> dict[str, float]:
        ways = self._left[reading]
        while ways:
            try:
                found = ways[0](nvml, gpu)
            except NvmlError as error:
                if error.code not in NEVER:
                    raise
                if error.code == NO_PERMISSION:
                    self.denied.update(reading.names)
                ways.pop(0)
                continue
            values = found if isinstance(found, tuple) else (found,)
            named = zip(reading.names, (value / reading.per_unit for value in values), strict=True)
            return {name: value for name, value in named if reading.low <= value < reading.high}
        return {}


@dataclass(slots=True)
class EnergyCounter:
    """Joules that never go back: where the driver was loaded anew and counts from 0, the count goes on."""

    before_j: float = 0.0
    """What was counted before the last reset."""
    last_j: float = 0.0

    def read(self, raw_j: float) -> float:
        """The count so far, given the driver's own."""
        if raw_j < self.last_j:
            self.before_j += self.last_j
        self.last_j = raw_j
        return self.before_j + raw_j
