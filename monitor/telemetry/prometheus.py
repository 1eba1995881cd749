"""The GPUs of a fleet, from a Prometheus server. Its one rule: one query for each figure that is shown.

All of 1,024 GPUs in one figure is 84 kB; all their figures with all labels, 2.8 MB. A server goes on telling
the last value for five minutes after an exporter has gone, so it is also asked when each was last heard.
"""

from collections.abc import Iterator
from typing import Any, cast
from urllib.parse import urlencode

from pydantic_core import from_json

from ...models.text import duration, printable
from .fetch import Address, FetchError, get
from .promtext import Point, number
from .sampler import Found
from .series import VOCABULARIES, Hosts, Vocabulary

RETRY_S = 10.0
SILENT_S = 90.0
"""An exporter is asked every 15 to 30 s: from here on it has missed several turns."""
IDENTITY_EVERY = 60
"""Looks between two at what the GPUs are called."""


class PrometheusProbe:
    """Asks one server, or what speaks its language."""

    def __init__(self, address: Address, matchers: str = "") -> None:
        """`matchers` narrow the GPUs down, as in PromQL: `cluster="a"`."""
        self.who = f"Prometheus at {address.host}"
        self._address = address._replace(url=address.url.rstrip("/") + "/api/v1/query")
        self._matchers = matchers
        self._words: Vocabulary | None = None
        self._names: tuple[str, ...] = ()
        """The figures that the server has."""
        self._hosts: Hosts | None = None
        self._looks = 0

    def look(self, now: float, want_tensor: bool) -> Found:
        try:
            if self._words is None and not self._find():
                return Found(
                    (), f"{self.who} knows no GPU: neither dcgm-exporter's nor Ray's metrics", RETRY_S
                )
            return self._read(now, want_tensor)
        except FetchError as error:
            return Found((), str(error), RETRY_S)

    def cut(self) -> None:
        """Each wait for the server has an end of its own."""

    def close(self) -> None:
        """Nothing is held open."""

    def _find(self) -> bool:
        """Which exporter's figures the server has, and which of them."""
        for words in VOCABULARIES:
            names = "|".join(words.metrics)
            inner = f'__name__=~"{names}"' + (f",{self._matchers}" if self._matchers else "")
            there = {
                labels.get("__name__") for labels, _, _ in self._query(f"count by (__name__) ({{{inner}}})")
            }
            if there:
                self._words, self._hosts = words, Hosts(words)
                self._names = tuple(name for name in words.metrics if name in there)
                return True
        return False

    def _read(self, now: float, want_tensor: bool) -> Found:
        words, hosts = self._words, self._hosts
        assert words is not None
        assert hosts is not None
        ages = self._ages(words)
        samples = hosts.samples(
            self._points(words, want_tensor), {host: now - age_s for host, age_s in ages.items()}
        )
        self._looks += 1
        silent = {host: age_s for host, age_s in ages.items() if age_s >= SILENT_S}
        told = tuple(
            sample.model_copy(
                update={
                    "backend": f"prometheus/{words.backend}",
                    "stale_s": silent.get(sample.host),
                    "note": f"stale {duration(silent[sample.host])}: its exporter does not answer Prometheus"
                    if sample.host in silent
                    else sample.note,
                }
            )
            for sample in samples
        )
        if not told:
            self._words = None  # what was there has gone: look for it anew
            return Found((), f"{self.who} no longer tells of any GPU", RETRY_S)
        return Found(told, f"{len(silent)} of {len(told)} hosts are stale" if silent else "")

    def _points(self, words: Vocabulary, want_tensor: bool) -> Iterator[Point]:
        by = [*words.host, *words.number, *([words.part] if words.part else [])]
        for place, name in enumerate(self._names):
            if words.metrics[name].field == "tensor_active" and not want_tensor:
                continue
            labels = by
            if not place and self._looks % IDENTITY_EVERY == 0:
                labels = [*by, *words.uuid, *words.model, *([words.part_name] if words.part_name else [])]
            for found, value, _ in self._query(f"max by ({', '.join(labels)}) ({self._selector(name)})"):
                yield Point(name, found, value)

    def _ages(self, words: Vocabulary) -> dict[str, float]:
        """Seconds since each host was heard, by the server's own clock."""
        query = f"max by ({', '.join(words.host)}) (timestamp({self._selector(self._names[0])}))"
        return {
            printable(host): max(0.0, asked_at - heard_at)
            for labels, heard_at, asked_at in self._query(query)
            if (host := next((labels[name] for name in words.host if labels.get(name)), ""))
        }

    def _selector(self, name: str) -> str:
        return f"{name}{{{self._matchers}}}" if self._matchers else name

    def _query(self, query: str) -> Iterator[tuple[dict[str, str], float, float]]:
        """(labels, value, unix seconds by the server's clock) of each series.

        Raises:
            FetchError: there is no answer, or it says what is wrong.
        """
        try:
            answer: Any = from_json(get(self._address, urlencode({"query": query}).encode()))
            for series in cast("list[Any]", answer["data"]["result"]):
                at, text = series["value"]
                if (value := number(text)) is not None:
                    yield _labels(series["metric"]), value, float(at)
        except (ValueError, TypeError, KeyError, AttributeError):
            raise FetchError(f"{self.who}: not an answer of Prometheus") from None


def _labels(told: dict[str, Any]) -> dict[str, str]:
    """Names and values; whatever else a server may send is text too from here on."""
    if set(map(type, told.values())) <= {str}:
        return told
    return {name: str(value) for name, value in told.items()}
