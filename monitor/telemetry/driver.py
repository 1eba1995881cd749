"""The seam between the GPUs and whoever can call the driver. Its one rule: all that fails is NvmlError.

Numbers are NVML's own (bytes, milliwatts, megahertz); whoever reads them converts.
"""

from typing import Literal, NamedTuple, NewType, Protocol

Handle = NewType("Handle", object)
"""A GPU, for as long as the driver stays open."""
GpmSample = NewType("GpmSample", object)
"""The hardware counters of a GPU at one moment, kept by the driver."""

Ask = Literal[
    "util",
    "memory",
    "memory_before_v2",
    "power",
    "power_limit",
    "energy",
    "temperature",
    "temperature_before_v13",
    "clock",
    "clock_max",
    "mem_clock",
    "reasons",
    "reasons_before_v12",
    "ecc",
    "recovery",
]
"""What a GPU can be asked for. `memory` is (used, total) bytes, with what the driver keeps for itself not
counted as used, which older drivers cannot tell apart; `reasons` are bits."""

UNINITIALIZED, NOT_SUPPORTED, NO_PERMISSION, DRIVER_NOT_LOADED, LIBRARY_NOT_FOUND = 1, 3, 4, 9, 12
FUNCTION_NOT_FOUND, GPU_IS_LOST, RESET_REQUIRED, VERSION_MISMATCH = 13, 15, 16, 18
OLD_STRUCT, DEPRECATED, UNKNOWN = 25, 26, 999
INVALID, NOT_FOUND, TIMEOUT = 2, 6, 10
PYNVML_MISSING = -1
"""Our own code: no NVML number is negative."""


class NvmlError(Exception):
    """A call that failed."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code
        """NVML's own number."""


class Process(NamedTuple):
    """What holds memory on a GPU."""

    pid: int
    used: float | None
    """Bytes; None where the driver may not say."""
    name: str | None


class Slice(NamedTuple):
    """A part of a GPU that is split by MIG."""

    place: int
    uuid: str | None
    name: str | None
    memory: tuple[float, float] | None
    """(used, total) bytes."""


class Driver(Protocol):
    """Everything may raise NvmlError, and may block for as long as the driver likes."""

    def open(self) -> None:
        """Attach to the driver."""
        ...

    def close(self) -> None:
        """Detach; handles are void from here on."""
        ...

    def count(self) -> int: ...

    def handle(self, index: int) -> Handle: ...

    def key(self, handle: Handle) -> object:
        """What errors name a GPU by."""
        ...

    def uuid(self, handle: Handle) -> str: ...

    def name(self, handle: Handle) -> str: ...

    def read(self, handle: Handle, what: Ask) -> tuple[float, ...]:
        """The numbers that answer one question."""
        ...

    def processes(self, handle: Handle) -> list[Process]: ...

    def slices(self, handle: Handle) -> list[Slice]:
        """The parts; none where the GPU is whole."""
        ...

    def watch(self, handle: Handle) -> None:
        """Have errors of this GPU told from now on."""
        ...

    def errors(self) -> list[tuple[object, int]]:
        """(key, XID) of each error since the last call. Does not wait for any."""
        ...

    def has_gpm(self, handle: Handle) -> bool:
        """Whether the GPU has the counters at all: Hopper and later."""
        ...

    def new_gpm_sample(self) -> GpmSample:
        """An empty sample, to be given back with `free`."""
        ...

    def take(self, handle: Handle, into: GpmSample) -> None:
        """Read the counters as they stand."""
        ...

    def free(self, sample: GpmSample) -> None: ...

    def tensor_active(self, earlier: GpmSample, later: GpmSample) -> float:
        """Percent of the time between two samples in which the tensor cores were busy."""
        ...
