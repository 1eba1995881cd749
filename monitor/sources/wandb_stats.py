"""GPU readings and the machine, as W&B's own monitor records them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from ...models.gpu import Gpu, GpuSample
from ...models.run import RunInfo
from .protowire import Fields, fields_of
from .wandb_records import items_of, number_of

KEY = re.compile(r"(?:system\.)?gpu\.(\d{1,4})\.(\w+)(?:/l:(.+))?")
FIELDS: dict[str, tuple[str, float]] = {
    "gpu": ("util", 1.0),
    "memoryAllocatedBytes": ("mem_used_gb", 1e-9),
    "powerWatts": ("power_w", 1.0),
    "temp": ("temp_c", 1.0),
}
"""(field of Gpu, factor to its unit) by the last part of the key."""
HOST, GPU, GPU_COUNT, GPU_NVIDIA = 13, 18, 19, 24


@dataclass(slots=True)
class Hardware:
    """What the environment record says of the machine that logs."""

    host: str = "localhost"
    names: list[str] = field(default_factory=list[str])
    memory_gb: list[float] = field(default_factory=list[float])

    def learn(self, fields: Fields) -> Iterator[RunInfo]:
        """Take in an environment record. Its GPUs are those of one host, which need not be all."""
        cards = [fields_of(raw) for raw in fields.all_bytes(GPU_NVIDIA)]
        name, count = fields.text(GPU), fields.integer(GPU_COUNT)
        if cards:
            self.names = [card.text(1) or name or "" for card in cards]
            self.memory_gb = [(card.integer(2) or 0) / 1e9 for card in cards]
        if name and count:
            note = f"W&B saw {count} × {name} on the host that logs; other hosts are not in its log"
            yield RunInfo(gpu_type=name, notes=(note,))


def gpus_of(fields: Fields, hardware: Hardware) -> GpuSample | None:
    """The GPUs of a stats record; None where it has none."""
    found: dict[int, dict[str, Any]] = {}
    host = hardware.host
    for key, text in items_of(fields, 3):
        match = KEY.fullmatch(key)
        if match is None or match[2] not in FIELDS or (value := number_of(text)) is None or value != value:
            continue
        name, factor = FIELDS[match[2]]
        found.setdefault(int(match[1]), {})[name] = value * factor
        host = match[3] or host
    stamp = fields.payload(2)
    if not found or stamp is None:
        return None
    time = fields_of(stamp)
    for index, values in found.items():
        if index < len(hardware.names):
            values["name"] = hardware.names[index] or None
            values["mem_total_gb"] = hardware.memory_gb[index] or None
    return GpuSample(
        at=(time.integer(1) or 0) + (time.integer(2) or 0) / 1e9,
        host=host,
        backend="wandb",
        gpus=tuple(Gpu(index=index, **values) for index, values in sorted(found.items())),
    )
