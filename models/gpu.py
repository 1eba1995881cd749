"""A GPU reading, the same whatever backend took it."""

from typing import Literal

from .value import Value


class Gpu(Value):
    """One GPU at one moment. What the backend cannot tell is None."""

    index: int
    uuid: str | None = None
    name: str | None = None
    util: float | None = None
    """Share of time with a kernel running, 0 to 100: not a measure of useful work."""
    mem_used_gb: float | None = None
    """Units of 10⁹ bytes."""
    mem_total_gb: float | None = None
    power_w: float | None = None
    temp_c: float | None = None
    tensor_active: float | None = None
    """Share of time with the tensor cores busy, 0 to 100."""
    energy_j: float | None = None
    """A counter that never goes back; its start is when the driver was loaded."""
    state: Literal["ok", "lost", "throttled", "unknown"] = "ok"


class GpuSample(Value):
    """All GPUs of one host at one moment."""

    kind: Literal["gpu"] = "gpu"
    at: float
    """Unix seconds."""
    host: str = "localhost"
    backend: str
    gpus: tuple[Gpu, ...]
    note: str = ""
    """One line for the user when something is wrong, such as `stale 12 s: …` or that a GPU is lost."""
