"""Which readings a GPU is asked for, in our units. Its one rule: what a GPU cannot tell is left out.

A reading may be had in several ways, the newest call first. The way that works is kept for each GPU, and so
is that none does, so that a GPU is not asked every two seconds for what it does not have.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from ...models.gpu import Recovery, Throttle
from .driver import NO_PERMISSION, UNKNOWN, Ask, Driver, Handle, NvmlError
from .faults import DRIVER_GONE, GONE, NEVER

REASONS: dict[int, Throttle] = {
    0x2: "application clocks",
    0x4: "power cap",
    0x8: "hardware slowdown",
    0x10: "sync boost",
    0x20: "software thermal",
    0x40: "hardware thermal",
    0x80: "power brake",
}
"""Clock reasons by their bit. Left out: 0x1, idle, and 0x100, a display."""
HARMFUL = frozenset[Throttle]({"hardware slowdown", "software thermal", "hardware thermal", "power brake"})
"""Not the power cap, at which every busy GPU runs."""
RECOVERIES: tuple[Recovery, ...] = ("none", "reset", "reboot", "drain", "drain and reset")
"""By NVML's number; later numbers are `other`."""


class Reading(NamedTuple):
    """What comes of one question."""

    names: tuple[str, ...]
    ways: tuple[Ask, ...]
    per_unit: float = 1.0
    """NVML's units in one of ours."""
    low: float = 0.0
    high: float = 2.0**53
    """Outside `low <= value < high` it is no measurement but a driver's way of not knowing."""


READINGS = (
    Reading(("util",), ("util",), high=100.1),
    Reading(("mem_used_gb", "mem_total_gb"), ("memory", "memory_before_v2"), 1e9, high=1e6),
    Reading(("power_w",), ("power",), 1e3, high=1e5),
    Reading(("power_limit_w",), ("power_limit",), 1e3, high=1e5),
    Reading(("energy_j",), ("energy",), 1e3, high=1e15),
    Reading(("temp_c",), ("temperature", "temperature_before_v13"), low=-50.0, high=200.0),
    Reading(("clock_mhz",), ("clock",), high=1e5),
    Reading(("clock_max_mhz",), ("clock_max",), high=1e5),
    Reading(("mem_clock_mhz",), ("mem_clock",), high=1e5),
    Reading(("reasons",), ("reasons", "reasons_before_v12")),
    Reading(("ecc_errors",), ("ecc",)),
    Reading(("recovery",), ("recovery",), high=1e3),
)
T = TypeVar("T")


class Gauges:
    """The readings of one GPU, in the ways that work with it."""

    def __init__(self) -> None:
        self.denied: set[str] = set()
        """Names of what may not be read without more rights."""
        self._left = {reading: list(reading.ways) for reading in READINGS}
        """The ways that have not yet been refused for good."""
        self._never: set[str] = set()
        """Lists that have been refused for good."""

    def read(self, driver: Driver, gpu: Handle) -> dict[str, float]:
        """The values that are known, by name.

        Raises:
            NvmlError: the GPU or the driver is gone, so that there is no use in asking on.
        """
        values: dict[str, float] = {}
        unknown_error: NvmlError | None = None
        for reading in READINGS:
            try:
                values.update(self._ask(reading, driver, gpu))
            except NvmlError as error:
                if error.code in GONE or error.code in DRIVER_GONE:
                    raise
                if error.code == UNKNOWN:
                    unknown_error = error
        # One odd call has an odd answer; a GPU that has no other answer is gone.
        if unknown_error is not None and not values:
            raise unknown_error
        return values

    def told(self, name: str, ask: Callable[[], T]) -> T | None:
        """A list that a GPU may have, such as its processes; None where it does not tell.

        Raises:
            NvmlError: as for `read`.
        """
        if name in self._never:
            return None
        try:
            return ask()
        except NvmlError as error:
            if error.code in GONE or error.code in DRIVER_GONE:
                raise
            if error.code in NEVER:
                self._never.add(name)
            if error.code == NO_PERMISSION:
                self.denied.add(name)
            return None

    def _ask(self, reading: Reading, driver: Driver, gpu: Handle) -> dict[str, float]:
        ways = self._left[reading]
        while ways:
            try:
                values = driver.read(gpu, ways[0])
            except NvmlError as error:
                if error.code not in NEVER:
                    raise
                if error.code == NO_PERMISSION:
                    self.denied.update(reading.names)
                ways.pop(0)
                continue
            named = zip(reading.names, (value / reading.per_unit for value in values), strict=True)
            return {name: value for name, value in named if reading.low <= value < reading.high}
        return {}


def throttle_of(bits: float | None) -> tuple[Throttle, ...] | None:
    """What holds the clocks down, by NVML's bits."""
    return None if bits is None else tuple(word for bit, word in REASONS.items() if int(bits) & bit)


def recovery_of(number: float | None) -> Recovery | None:
    """What must be done, by NVML's number."""
    if number is None:
        return None
    return RECOVERIES[int(number)] if number < len(RECOVERIES) else "other"


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
