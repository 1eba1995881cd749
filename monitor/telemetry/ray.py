"""The GPUs of a Ray cluster. Its one rule: every node is asked for itself; one that is silent grows stale.

Each node has a page of metrics; their addresses are in a file on the head, and on its dashboard. Where the
nodes cannot be reached from here, as through a tunnel to the dashboard alone, the dashboard's own summary
will do. Sources: Ray's docs on "Using Prometheus" and dashboard/modules/{metrics,node}.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, cast

from pydantic_core import from_json

from ...models.gpu import GpuSample
from .fetch import Address, FetchError, address_of, get
from .metrics_page import Page
from .promtext import Point
from .sampler import Found, Told
from .series import RAY, Hosts

DISCOVERY = Path("/tmp/ray/prom_metrics_service_discovery.json")
ASKED_AT_ONCE = 16
NODE_TIMEOUT_S = 3.0
RETRY_S = 5.0


class RayProbe:
    """Reads all nodes that the head knows."""

    def __init__(self, place: Address | Path) -> None:
        """`place` is the dashboard, or the file of addresses."""
        self.who = str(place) if isinstance(place, Path) else place.host
        self._place = place
        self._pages: dict[str, Page] = {}
        self._summary = Hosts(RAY)

    def look(self, now: float, want_tensor: bool) -> Found:
        try:
            targets = self._targets()
        except FetchError as error:
            return Found((), str(error), RETRY_S)
        told = [each for page in self._read_all(targets, now) for each in page]
        if not any(isinstance(each, GpuSample) for each in told) and isinstance(self._place, Address):
            told += self._from_summary(self._place, now)
        if not told:
            return Found((), f"Ray at {self.who}: none of {len(targets)} addresses tells of a GPU", RETRY_S)
        return Found(tuple(told), next((each.note for each in told if each.note), ""))

    def cut(self) -> None:
        """Each wait for a node has an end of its own."""

    def close(self) -> None:
        """Nothing is held open."""

    def _targets(self) -> list[str]:
        """host:port of each page.

        Raises:
            FetchError: they cannot be had.
        """
        try:
            if isinstance(self._place, Path):
                data = self._place.read_bytes()
            else:
                data = get(_below(self._place, "/api/prometheus/sd"))
            return sorted(set(_targets_of(from_json(data))))
        except OSError as error:
            why = "not there: is this the head of a running cluster?"
            raise FetchError(f"{self._place}: {why if not_there(error) else error.strerror}") from None
        except ValueError:
            raise FetchError(f"{self.who}: the list of Ray's metrics addresses cannot be read") from None

    def _read_all(self, targets: list[str], now: float) -> Iterator[list[Told]]:
        if not targets:
            return
        with ThreadPoolExecutor(min(ASKED_AT_ONCE, len(targets)), thread_name_prefix="rltop-ray") as pool:
            yield from pool.map(partial(self._read, now), targets)

    def _read(self, now: float, target: str) -> list[Told]:
        try:
            data = get(address_of(f"http://{target}/metrics"), timeout_s=NODE_TIMEOUT_S)
        except (FetchError, ValueError):
            return []  # the sampler goes on telling what was read last, with its age
        page = self._pages.setdefault(target, Page(target))
        return page.read(data.decode("utf-8", "replace"), now)

    def _from_summary(self, dashboard: Address, now: float) -> list[Told]:
        try:
            answer = from_json(get(_below(dashboard, "/nodes?view=summary")))
            return list(self._summary.samples(_summary_points(answer), now))
        except (FetchError, ValueError):
            return []


def not_there(error: OSError) -> bool:
    return isinstance(error, FileNotFoundError)


def _below(dashboard: Address, path: str) -> Address:
    return dashboard._replace(url=dashboard.url.rstrip("/") + path)


def _targets_of(answer: Any) -> Iterator[str]:
    """Prometheus' form: a list of groups, each with its targets."""
    for group in _items(answer):
        for target in _items(_field(group, "targets")):
            if isinstance(target, str):
                yield target


def _summary_points(answer: Any) -> Iterator[Point]:
    """The dashboard's summary in the words of the pages."""
    for node in _items(_field(_field(answer, "data"), "summary")):
        for gpu in _items(_field(node, "gpus")):
            labels = {
                "ip": _field(node, "ip"),
                "GpuIndex": _field(gpu, "index"),
                "GpuUuid": _field(gpu, "uuid"),
                "GpuDeviceName": _field(gpu, "name"),
            }
            words = {name: str(value) for name, value in labels.items() if value is not None}
            used, total = _field(gpu, "memoryUsed"), _field(gpu, "memoryTotal")
            both = isinstance(used, int | float) and isinstance(total, int | float)
            values = {
                "ray_node_gpus_utilization": _field(gpu, "utilizationGpu"),
                "ray_node_gram_used": used,
                "ray_node_gram_available": total - used if both else None,
                "ray_node_gpu_power_milliwatts": _field(gpu, "powerMw"),
                "ray_node_gpu_temperature_celsius": _field(gpu, "temperatureC"),
            }
            for name, value in values.items():
                if isinstance(value, int | float):
                    yield Point(name, words, float(value))


def _field(value: Any, name: str) -> Any:
    return cast("dict[str, Any]", value).get(name) if isinstance(value, dict) else None


def _items(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []
