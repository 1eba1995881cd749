"""GPU readings as trackers name them: `gpu/0/utilization`, `system/gpu_0_power_usage_watts`,
`gpu.0.mem.value`.

Names are those of trackio 0.43, MLflow 3.17 and SwanLab 0.10, read in what they log.
"""

import re
from collections.abc import Mapping
from typing import Any

from ...models.gpu import Gpu, GpuSample

KEY = re.compile(r"(?:system/)?gpu[/_.](\d{1,4})[/_.]([\w.]+)")
GIB, MIB = 2**30 / 1e9, 2**20 / 1e9
FIELDS: dict[str, tuple[str, float]] = {
    "utilization": ("util", 1.0),
    "utilization_percentage": ("util", 1.0),
    "pct": ("util", 1.0),
    "mem.value": ("mem_used_gb", MIB),
    "allocated_memory": ("mem_used_gb", GIB),
    "total_memory": ("mem_total_gb", GIB),
    "memory_usage_megabytes": ("mem_used_gb", 1e-3),
    "memory_usage_gigabytes": ("mem_used_gb", 1.0),
    "power": ("power_w", 1.0),
    "power_usage_watts": ("power_w", 1.0),
    "power_limit": ("power_limit_w", 1.0),
    "temp": ("temp_c", 1.0),
    "sm_clock": ("clock_mhz", 1.0),
    "memory_clock": ("mem_clock_mhz", 1.0),
    "energy_consumed": ("energy_j", 1.0),
}
"""(field of Gpu, factor to its unit) by the last part of the key."""


def gpus_of(values: Mapping[str, float], at: float | None, backend: str) -> GpuSample | None:
    """The GPUs of a row of readings taken `at` (unix s); None where it has none."""
    found: dict[int, dict[str, Any]] = {}
    for key, value in values.items():
        match = KEY.fullmatch(key)
        if match is None or match[2] not in FIELDS or value != value:
            continue
        name, factor = FIELDS[match[2]]
        found.setdefault(int(match[1]), {})[name] = value * factor
    if not found or at is None:
        return None
    gpus = tuple(Gpu(index=index, **fields) for index, fields in sorted(found.items()))
    return GpuSample(at=at, backend=backend, gpus=gpus)
