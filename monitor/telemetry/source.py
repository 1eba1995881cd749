"""GPUs and engines as one more source of a session. Its one rule: a poll returns at once."""

from collections.abc import Sequence

from ...models.event import Event
from .sampler import Sampler, Told

AGED_S = 5.0
"""Pause between two tellings of a reading that has only grown older."""


class GpuSource:
    """Tells each reading once; while a backend does not answer: the last one, with its age.

    It says nothing about how reading goes: a session must not wait for GPUs to end, nor count them as a log.
    """

    more = False

    def __init__(self, samplers: Sequence[Sampler]) -> None:
        self._samplers = samplers
        self._told: dict[tuple[int, str], Told] = {}
        """The last reading told, by sampler and host."""
        self._aged_at: dict[tuple[int, str], float] = {}
        self._polled = False

    @property
    def want_tensor(self) -> bool:
        """Whether tensor activity is read. Ask for it while somebody sees it."""
        return any(sampler.want_tensor for sampler in self._samplers)

    @want_tensor.setter
    def want_tensor(self, wanted: bool) -> None:
        for sampler in self._samplers:
            sampler.want_tensor = wanted

    def reason(self, now: float) -> str:
        """One line on why there is nothing to tell; empty when all is well."""
        return "; ".join(reason for sampler in self._samplers if (reason := sampler.reason(now)))

    def poll(self, now: float) -> list[Event]:
        """What is new since the last poll."""
        if not self._polled:
            self._polled = True
            return []  # a session's first frame should not have to share the processor with pynvml's import
        return [
            told
            for number, sampler in enumerate(self._samplers)
            for told in sampler.latest(now)
            if self._is_news((number, told.host), told, now)
        ]

    def close(self) -> list[Event]:
        """Let go of all backends."""
        for sampler in self._samplers:
            sampler.close()
        return []

    def _is_news(self, key: tuple[int, str], told: Told, now: float) -> bool:
        before = self._told.get(key)
        if before is told:
            return False
        if told.stale_s is not None:
            if before is not None and 0 <= now - self._aged_at.get(key, now - AGED_S) < AGED_S:
                return False
            self._aged_at[key] = now
        self._told[key] = told
        return True
