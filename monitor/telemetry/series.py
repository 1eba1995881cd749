"""From metrics to GPU samples: what dcgm-exporter and Ray call things. Its one rule: one table a vendor.

Sources: dcgm-exporter's etc/default-counters.csv and NVIDIA's DCGM field list; Ray's
dashboard/modules/reporter/reporter_agent.py.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ...models.gpu import Gpu, GpuSample, MigSlice
from ...models.text import printable
from .promtext import Point
from .readings import HARMFUL, throttle_of

MIB = 1024 * 1024 / 1e9
OFF_THE_BUS = 79


class Metric(NamedTuple):
    """How one series becomes one field."""

    field: str
    """Of Gpu, or one of `free_gb`, `reserved_gb`, `reasons`, from which fields are made."""
    factor: float = 1.0
    """Our units in one of theirs."""
    high: float = 100.1
    """From here on, and below 0, it is no measurement: DCGM writes 9.2e18 for blank, Ray -1."""
    of_part: bool = False
    """Of a part alone, where the GPU is split."""


class Vocabulary(NamedTuple):
    """What one kind of exporter calls things. Of several labels the first that is there counts."""

    backend: str
    metrics: Mapping[str, Metric]
    """By name; where two give the same field, the one further up wins."""
    host: tuple[str, ...]
    number: tuple[str, ...]
    uuid: tuple[str, ...]
    model: tuple[str, ...]
    part: str = ""
    """The number of the part of a split GPU."""
    part_name: str = ""


DCGM = Vocabulary(
    "dcgm",
    {
        "DCGM_FI_DEV_GPU_UTIL": Metric("util"),
        "DCGM_FI_PROF_GR_ENGINE_ACTIVE": Metric("util", 100.0, of_part=True),
        "DCGM_FI_PROF_PIPE_TENSOR_ACTIVE": Metric("tensor_active", 100.0, of_part=True),
        "DCGM_FI_DEV_FB_USED": Metric("mem_used_gb", MIB, 1e6, of_part=True),
        "DCGM_FI_DEV_FB_FREE": Metric("free_gb", MIB, 1e6, of_part=True),
        "DCGM_FI_DEV_FB_RESERVED": Metric("reserved_gb", MIB, 1e6, of_part=True),
        "DCGM_FI_DEV_POWER_USAGE": Metric("power_w", high=1e5),
        "DCGM_FI_DEV_POWER_MGMT_LIMIT": Metric("power_limit_w", high=1e5),
        "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION": Metric("energy_j", 1e-3, 1e15),
        "DCGM_FI_DEV_GPU_TEMP": Metric("temp_c", high=200.0),
        "DCGM_FI_DEV_SM_CLOCK": Metric("clock_mhz", high=1e5),
        "DCGM_FI_DEV_MEM_CLOCK": Metric("mem_clock_mhz", high=1e5),
        "DCGM_FI_DEV_CLOCKS_EVENT_REASONS": Metric("reasons", high=2.0**53),
        "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS": Metric("reasons", high=2.0**53),
        "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL": Metric("ecc_errors", high=2.0**53),
        "DCGM_FI_DEV_XID_ERRORS": Metric("xid", high=1e6),
    },
    host=("hostname", "Hostname", "instance"),
    number=("gpu",),
    uuid=("UUID",),
    model=("modelName",),
    part="GPU_I_ID",
    part_name="GPU_I_PROFILE",
)
RAY = Vocabulary(
    "ray",
    {
        "ray_node_gpus_utilization": Metric("util"),
        # Its help text says bytes; the code divides by 1024² before.
        "ray_node_gram_used": Metric("mem_used_gb", MIB, 1e6),
        "ray_node_gram_available": Metric("free_gb", MIB, 1e6),
        "ray_node_gpu_power_milliwatts": Metric("power_w", 1e-3, 1e5),
        "ray_node_gpu_temperature_celsius": Metric("temp_c", high=200.0),
    },
    host=("ip", "instance"),
    number=("GpuIndex",),
    uuid=("GpuUuid",),
    model=("GpuDeviceName",),
)
VOCABULARIES = (DCGM, RAY)


@dataclass(slots=True)
class _Unit:
    """What is told of a GPU, or of a part of one."""

    values: dict[str, float] = field(default_factory=dict[str, float])
    ranks: dict[str, int] = field(default_factory=dict[str, int])
    uuid: str | None = None
    name: str | None = None
    parts: "dict[int, _Unit]" = field(default_factory=dict[int, "_Unit"])

    def put(self, metric: Metric, rank: int, value: float) -> None:
        if 0 <= value * metric.factor < metric.high and rank <= self.ranks.get(metric.field, rank):
            self.values[metric.field] = value * metric.factor
            self.ranks[metric.field] = rank


class Hosts:
    """The GPUs of many hosts, put together from points. A GPU once seen is told of until the end."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._ranks = {name: rank for rank, name in enumerate(vocabulary.metrics)}
        self._known: dict[str, dict[int, tuple[str | None, str | None]]] = {}
        """(UUID, name) of every GPU ever seen, by host and number."""

    def samples(
        self, points: Iterable[Point], at: Mapping[str, float] | float, host: str = ""
    ) -> list[GpuSample]:
        """A sample of each host in `points`; `at` is unix seconds, of all or by host.

        `host` is meant where the labels name none.
        """
        found: dict[str, dict[int, _Unit]] = {}
        for point in points:
            self._sort_in(found, point, host)
        return [
            GpuSample(
                at=at.get(printable(name), 0.0) if isinstance(at, Mapping) else at,
                host=printable(name),
                backend=self._vocabulary.backend,
                gpus=gpus,
                note=_note(gpus),
            )
            for name, units in sorted(found.items())
            if (gpus := self._gpus(name, units))
        ]

    def _sort_in(self, found: dict[str, dict[int, _Unit]], point: Point, host: str) -> None:
        words, labels = self._vocabulary, point.labels
        metric = words.metrics.get(point.name)
        index = _whole(_first(labels, words.number))
        if metric is None or index is None:
            return
        units = found.setdefault(_first(labels, words.host) or host, {})
        unit = units.setdefault(index, _Unit())
        unit.uuid = _first(labels, words.uuid) or unit.uuid
        unit.name = _first(labels, words.model) or unit.name
        part = _whole(labels.get(words.part)) if words.part else None
        rank = self._ranks[point.name]
        if part is None:
            unit.put(metric, rank, point.value)
        elif metric.of_part:
            inner = unit.parts.setdefault(part, _Unit())
            inner.name = labels.get(words.part_name) or inner.name
            inner.put(metric, rank, point.value)
        else:  # such as power: the exporter repeats the whole GPU's for each part
            unit.put(metric, rank, point.value)

    def _gpus(self, host: str, units: dict[int, _Unit]) -> tuple[Gpu, ...]:
        known = self._known.setdefault(host, {})
        for index, unit in units.items():
            before = known.get(index, (None, None))
            known[index] = (_shown(unit.uuid) or before[0], _shown(unit.name) or before[1])
        return tuple(
            _gpu(index, uuid, name, units.get(index)) for index, (uuid, name) in sorted(known.items())
        )


def _gpu(index: int, uuid: str | None, name: str | None, unit: _Unit | None) -> Gpu:
    if unit is None:
        return Gpu(index=index, uuid=uuid, name=name, state="lost")
    values: dict[str, Any] = dict(unit.values)
    total_gb = _total(values)
    throttle = throttle_of(values.pop("reasons", None))
    xid = int(values.pop("xid", 0.0)) or None  # 0 is none so far
    ecc_errors = values.pop("ecc_errors", None)
    lost = xid == OFF_THE_BUS and "util" not in values
    return Gpu(
        index=index,
        uuid=uuid,
        name=name,
        mem_total_gb=total_gb,
        throttle=throttle,
        xid=xid,
        ecc_errors=None if ecc_errors is None else int(ecc_errors),
        state="lost" if lost else "throttled" if HARMFUL.intersection(throttle or ()) else "ok",
        mig=tuple(_part(number, part) for number, part in sorted(unit.parts.items())),
        **values,
    )


def _part(number: int, part: _Unit) -> MigSlice:
    values: dict[str, Any] = dict(part.values)
    total_gb = _total(values)
    return MigSlice(
        index=number, name=_shown(part.name), mem_used_gb=values.get("mem_used_gb"), mem_total_gb=total_gb
    )


def _total(values: dict[str, Any]) -> float | None:
    """All memory, from what is used, free and reserved; these are taken out."""
    free_gb, reserved_gb = values.pop("free_gb", None), values.pop("reserved_gb", 0.0)
    used_gb = values.get("mem_used_gb")
    return None if free_gb is None or used_gb is None else used_gb + free_gb + reserved_gb


def _note(gpus: tuple[Gpu, ...]) -> str:
    lost = [str(gpu.index) for gpu in gpus if gpu.state == "lost"]
    if not lost:
        return ""
    return f"{'GPU' if len(lost) == 1 else 'GPUs'} {', '.join(lost)} of {len(gpus)} lost"


def _first(labels: Mapping[str, str], names: tuple[str, ...]) -> str | None:
    for name in names:
        if found := labels.get(name):
            return found
    return None


def _shown(text: str | None) -> str | None:
    return None if text is None else printable(text)


def _whole(text: str | None) -> int | None:
    return int(text) if text is not None and text.isascii() and text.isdigit() and len(text) < 8 else None
