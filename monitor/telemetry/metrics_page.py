"""One page of metrics: dcgm-exporter's, Ray's, vLLM's or SGLang's. Its one rule: what it is shows in it."""

from .fetch import Address, FetchError, get
from .promtext import points
from .sampler import Found, Told
from .series import VOCABULARIES, Hosts
from .serving import Engine

RETRY_S = 5.0


class MetricsProbe:
    """Reads one page. Exporters take their own figures every 5 to 30 s."""

    def __init__(self, address: Address) -> None:
        self.who = address.host
        self._address = address
        self._page = Page(address.host)

    def look(self, now: float, want_tensor: bool) -> Found:
        try:
            text = get(self._address).decode("utf-8", "replace")
        except FetchError as error:
            return Found((), str(error), RETRY_S)
        told = self._page.read(text, now)
        if not told:
            return Found((), f"{self.who} tells of no GPU and of no engine", RETRY_S)
        return Found(tuple(told), next((each.note for each in told if each.note), ""))

    def cut(self) -> None:
        """Each wait for the other side has an end of its own."""

    def close(self) -> None:
        """Nothing is held open."""


class Page:
    """What the pages of one address say, one after the other."""

    def __init__(self, host: str) -> None:
        self._host = host
        self._name = host.rpartition(":")[0] or host
        self._hosts = [(words, Hosts(words)) for words in VOCABULARIES]
        self._engine = Engine(host)

    def read(self, text: str, at: float) -> list[Told]:
        """The GPUs of each host that is told of, and the engine; `at` is unix seconds."""
        told: list[Told] = []
        for words, hosts in self._hosts:
            told += hosts.samples(points(text, words.metrics), at, host=self._name)
        engine = self._engine.reading(text, at)
        return told if engine is None else [*told, engine]
