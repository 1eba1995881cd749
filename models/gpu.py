"""A GPU reading, the same whatever backend took it; an inference engine's; and what became of GPU time."""

from typing import Literal

from .value import Quantiles, Value

GpuState = Literal["ok", "lost", "throttled", "unknown"]
Throttle = Literal[
    "power cap",
    "hardware slowdown",
    "software thermal",
    "hardware thermal",
    "power brake",
    "sync boost",
    "application clocks",
]
"""What holds the clocks below their maximum. At the power cap and at application clocks all is well."""
Recovery = Literal["none", "reset", "reboot", "drain", "drain and reset", "other"]
"""What the driver says must be done before the GPU is well again."""


class GpuProcess(Value):
    """A process that holds memory on a GPU."""

    pid: int
    """By the host's count, which inside a container is not the container's."""
    name: str | None = None
    mem_used_gb: float | None = None
    """Units of 10⁹ bytes."""


class MigSlice(Value):
    """A part that a GPU was split into, which works as a GPU of its own."""

    index: int
    uuid: str | None = None
    name: str | None = None
    """Such as `1g.10gb`, or the whole GPU's name with it."""
    mem_used_gb: float | None = None
    mem_total_gb: float | None = None


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
    state: GpuState = "ok"
    power_limit_w: float | None = None
    clock_mhz: float | None = None
    """Of the multiprocessors."""
    clock_max_mhz: float | None = None
    mem_clock_mhz: float | None = None
    throttle: tuple[Throttle, ...] | None = None
    """Empty: nothing holds the clocks down."""
    ecc_errors: int | None = None
    """Memory errors that could not be corrected, since the GPU was last reset."""
    recovery: Recovery | None = None
    xid: int | None = None
    """The number of the last error that the driver told of while we watched; 79 is a GPU off the bus."""
    xid_at: float | None = None
    """When it was told, unix seconds; None where the backend only has the number."""
    processes: tuple[GpuProcess, ...] | None = None
    mig: tuple[MigSlice, ...] = ()
    """The parts of a GPU that is split; `util` is then unknown for the whole."""


class GpuSample(Value):
    """All GPUs of one host at one moment."""

    kind: Literal["gpu"] = "gpu"
    at: float
    """Unix seconds at which the values were taken. An age is `now - at`."""
    host: str = "localhost"
    backend: str
    """How they were read: `nvml`, `ssh`, `nvidia-smi`, `dcgm`, `prometheus`, `ray`, `wandb`."""
    gpus: tuple[Gpu, ...]
    note: str = ""
    """One line for the user when something is wrong, such as `stale 12 s: …` or that a GPU is lost."""
    stale_s: float | None = None
    """Age of the values where the backend has stopped answering; None while it answers."""


class Serving(Value):
    """What an inference engine does at one moment, all its replicas behind one address together."""

    kind: Literal["serving"] = "serving"
    at: float
    """Unix seconds."""
    host: str
    """The address that was asked, as host:port."""
    engine: Literal["vllm", "sglang"]
    model: str | None = None
    running: float | None = None
    """Requests being worked on."""
    waiting: float | None = None
    """Requests in the queue."""
    kv_cache_use: float | None = None
    """Share of the KV cache that is taken, 0 to 1; of the fullest replica."""
    prefix_hit_rate: float | None = None
    """Share of the prompt tokens found in the prefix cache, 0 to 1, since the last look."""
    generation_tokens_per_s: float | None = None
    asleep: bool | None = None
    """Whether the engine has given its memory to training, as in colocated runs; None: it does not say."""
    note: str = ""
    stale_s: float | None = None


class PhaseUse(Value):
    """What the GPUs did in one phase of the newest step that was watched from end to end."""

    name: str
    seconds: float
    util: float | None = None
    """Mean of the samples that fell into it, 0 to 100; None where none did."""
    tensor_active: float | None = None


class GpuUse(Value):
    """What became of the GPUs' time while it was watched, and what that means in dollars.

    `…_at_end` is what was seen so far, and the rest of the run at the same rate.
    """

    gpus: int
    """GPUs in the newest samples, lost ones too."""
    watched_gpu_hours: float
    """GPU-hours of which it is known whether the GPU was busy."""
    idle_gpu_hours: float | None = None
    """Of those: with no more than a tenth of the time in any kernel, or lost."""
    idle_gpu_hours_at_end: Quantiles | None = None
    idle_usd: float | None = None
    idle_usd_at_end: Quantiles | None = None
    energy_kwh: float | None = None
    energy_kwh_at_end: Quantiles | None = None
    energy_usd: float | None = None
    """None without `usd_per_kwh`."""
    energy_usd_at_end: Quantiles | None = None
    tensor_share: float | None = None
    """Mean share of time with the tensor cores busy, 0 to 1, while watched: to be held against `mfu`."""
    mfu: float | None = None
    """Model FLOPs utilisation over the whole step by the log, 0 to 1; of the update where it has no more."""
    phase_step: int | None = None
    """The step that `phases` are of."""
    phases: tuple[PhaseUse, ...] = ()
    """In the order in which they ran. Empty where the log does not time them, or nobody watched."""
