"""What a GPU is judged by: one metric at a time, as text, and as a level from 0 to 7.

Its one rule: what is not known has no level. A dash is shown, never an empty bar.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ...models import text
from ...models.gpu import Gpu, GpuSample

LEVELS = 7
IDLE = 10.0
"""At this share of the time in a kernel, or less, a GPU is paid for and does nothing."""
COLD_C, HOT_C = 30.0, 90.0
OF_THE_LIMIT_W = 1000.0
"""What power is held against where the card does not tell its limit."""


@dataclass(frozen=True, slots=True)
class Metric:
    """One way to look at all GPUs."""

    name: str
    title: str
    share: Callable[[Gpu], float | None]
    """0 to 1, of the most that there can be."""
    write: Callable[[Gpu], str]
    low_is_bad: bool = True

    def level(self, gpu: Gpu) -> int | None:
        """0 to 7; None where it is not known."""
        share = self.share(gpu)
        return None if share is None else round(min(max(share, 0.0), 1.0) * LEVELS)


def points(value: float | None) -> str:
    """A share from 0 to 100."""
    return text.percent(None if value is None else value / 100)


def watts(value: float | None) -> str:
    """`612 W`, from ten thousand on `12.3 kW`, from a million on `1.2 MW`."""
    if value is None:
        return text.UNKNOWN
    return (
        f"{value:.0f} W"
        if value < 10_000
        else f"{value / 1e3:.1f} kW"
        if value < 1e6
        else f"{value / 1e6:.2f} MW"
    )


def gigabytes(used: float | None, total: float | None) -> str:
    """`142/179 GB`."""
    if used is None:
        return text.UNKNOWN
    size, unit = (1.0, "GB") if max(used, total or 0.0) < 10_000 else (1000.0, "TB")
    digits = 0 if unit == "GB" else 1
    of = "" if total is None else f"/{total / size:.{digits}f}"
    return f"{used / size:.{digits}f}{of} {unit}"


def degrees(value: float | None) -> str:
    """`63°C`."""
    return text.UNKNOWN if value is None else f"{value:.0f}°C"


def _memory(gpu: Gpu) -> float | None:
    return gpu.mem_used_gb / gpu.mem_total_gb if gpu.mem_used_gb is not None and gpu.mem_total_gb else None


def _power(gpu: Gpu) -> float | None:
    return None if gpu.power_w is None else gpu.power_w / (gpu.power_limit_w or OF_THE_LIMIT_W)


def _heat(gpu: Gpu) -> float | None:
    return None if gpu.temp_c is None else (gpu.temp_c - COLD_C) / (HOT_C - COLD_C)


def _hundredth(value: float | None) -> float | None:
    return None if value is None else value / 100


METRICS = (
    Metric("busy", "busy", lambda gpu: _hundredth(gpu.util), lambda gpu: points(gpu.util)),
    Metric(
        "tensor",
        "tensor cores",
        lambda gpu: _hundredth(gpu.tensor_active),
        lambda gpu: points(gpu.tensor_active),
    ),
    Metric(
        "memory",
        "memory",
        _memory,
        lambda gpu: gigabytes(gpu.mem_used_gb, gpu.mem_total_gb),
        low_is_bad=False,
    ),
    Metric("power", "power", _power, lambda gpu: watts(gpu.power_w)),
    Metric("heat", "temperature", _heat, lambda gpu: degrees(gpu.temp_c), low_is_bad=False),
)
"""In the order in which they are gone through."""


@dataclass(frozen=True, slots=True)
class Node:
    """One host's GPUs."""

    host: str
    gpus: tuple[Gpu, ...]
    note: str = ""
    stale_s: float | None = None


def nodes_of(samples: Iterable[GpuSample]) -> list[Node]:
    """The hosts in the order of their names, numbers within them counted as numbers."""
    nodes = [Node(one.host, one.gpus, one.note, one.stale_s) for one in samples if one.gpus]
    return sorted(nodes, key=lambda node: _natural(node.host))


def short_names(nodes: list[Node]) -> dict[str, str]:
    """Names of hosts without what all of them begin and end with: `node-0017.cluster` is `0017`."""
    hosts = [node.host for node in nodes]
    if len(hosts) < 2:
        return {host: host for host in hosts}
    first, last = min(hosts), max(hosts)
    start = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), 0)
    while start and first[start - 1].isdigit():
        start -= 1  # not in the middle of a number
    ends = [host[::-1] for host in hosts]
    low, high = min(ends), max(ends)
    end = next((i for i, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), 0)
    while end and low[end - 1].isalnum():
        end -= 1  # at a dot or a dash only
    return {host: host[start : len(host) - end] or host for host in hosts}


def mean(values: Iterable[float | None]) -> float | None:
    """Of those that are known."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def total(values: Iterable[float | None]) -> float | None:
    """Of those that are known."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _natural(name: str) -> tuple[tuple[int, int | str], ...]:
    parts: list[tuple[int, int | str]] = []
    digits = ""
    for sign in f"{name} ":
        if sign.isascii() and sign.isdigit():
            digits += sign
            continue
        if digits:
            parts.append((0, int(digits)))
            digits = ""
        parts.append((1, sign))
    return tuple(parts)
