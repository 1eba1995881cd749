"""GPU readings and the machine, as W&B's own monitor records them."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

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
    "pipeTensorActive": ("tensor_active", 1.0),
    "energyJoules": ("energy_j", 1.0),
    "enforcedPowerLimitWatts": ("power_limit_w", 1.0),
    "smClock": ("clock_mhz", 1.0),
    "memoryClock": ("mem_clock_mhz", 1.0),
}
"""(field of Gpu, factor to its unit) by the last part of the key, as wandb 0.31 writes them."""
HOST, GPU, GPU_COUNT, GPU_NVIDIA = 12, 18, 19, 24


@dataclass(slots=True)
class Hardware:
    """What the environment record says of the machine that logs."""

    host: str = "localhost"
    names: list[str] = field(default_factory=list[str])
    memory_gb: list[float] = field(default_factory=list[float])

    def learn(self, fields: Fields) -> Iterator[RunInfo]:
        """Take in an environment record. Its GPUs are those of one host, which need not be all."""
        self.host = fields.text(HOST) or self.host
        cards = [fields_of(raw) for raw in fields.all_bytes(GPU_NVIDIA)]
        held = [(card.text(1), (card.integer(2) or 0) / 1e9) for card in cards]
        yield from self._learn(fields.text(GPU), fields.integer(GPU_COUNT), held)

    def learn_named(self, environment: Mapping[str, object]) -> Iterator[RunInfo]:
        """Take in the same record as the server keeps it, in JSON: `_wandb.e` of the configuration."""
        name, host, told = (environment.get(key) for key in ("gpu", "host", "gpu_nvidia"))
        if isinstance(host, str) and host:
            self.host = host
        listed = cast("list[object]", told) if isinstance(told, list) else []
        cards = [cast("dict[str, object]", card) for card in listed if isinstance(card, dict)]
        held = [(_text(card.get("name")), (_count(card.get("memoryTotal")) or 0) / 1e9) for card in cards]
        yield from self._learn(_text(name), _count(environment.get("gpu_count")), held)

    def _learn(
        self, name: str | None, count: int | None, cards: Sequence[tuple[str | None, float]]
    ) -> Iterator[RunInfo]:
        """`cards` are (name, GB of memory) by index."""
        if cards:
            self.names = [card or name or "" for card, _ in cards]
            self.memory_gb = [gb for _, gb in cards]
        if name and count:
            note = f"W&B saw {count} × {name} on the host that logs; other hosts are not in its log"
            yield RunInfo(gpu_type=name, notes=(note,))


def gpus_of(fields: Fields, hardware: Hardware) -> list[GpuSample]:
    """The GPUs of a stats record, a sample for each host; none where it has none."""
    stamp = fields.payload(2)
    if stamp is None:
        return []
    time = fields_of(stamp)
    at = (time.integer(1) or 0) + (time.integer(2) or 0) / 1e9
    numbers = ((key, number_of(text)) for key, text in items_of(fields, 3))
    return samples_of(((key, value) for key, value in numbers if value is not None), at, hardware)


def samples_of(readings: Iterable[tuple[str, float]], at: float, hardware: Hardware) -> list[GpuSample]:
    """The GPUs among (key, value) readings of one moment (unix s): a sample for each host told apart."""
    found: dict[str, dict[int, dict[str, Any]]] = {}
    for key, value in readings:
        match = KEY.fullmatch(key)
        if match is None or match[2] not in FIELDS or value != value:
            continue
        name, factor = FIELDS[match[2]]
        gpus = found.setdefault(match[3] or hardware.host, {})
        gpus.setdefault(int(match[1]), {})[name] = value * factor
    for gpus in found.values():
        for index, values in gpus.items():
            if index < len(hardware.names):
                values["name"] = hardware.names[index] or None
                values["mem_total_gb"] = hardware.memory_gb[index] or None
    return [
        GpuSample(
            at=at,
            host=host,
            backend="wandb",
            gpus=tuple(Gpu(index=index, **values) for index, values in sorted(gpus.items())),
        )
        for host, gpus in found.items()
    ]


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _count(value: object) -> int | None:
    """A whole number, which JSON made of protobuf writes as text where it may be large."""
    if isinstance(value, str):
        return int(value) if value.isascii() and value.isdigit() else None
    return int(value) if isinstance(value, int | float) and 0 <= value < 2**63 else None
