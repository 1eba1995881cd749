"""The local GPUs as one more source of a session. Its one rule: a poll returns at once."""

import socket

from ...models.event import Event
from ...models.gpu import GpuSample
from .nvml import NvmlSampler


class GpuSource:
    """Tells a GpuSample when there is a new one, every two seconds; nothing at all where there are no GPUs.

    It says nothing about how reading goes: a session must not wait for GPUs to end, nor count them as a log.
    """

    more = False

    def __init__(self, host: str | None = None, want_tensor: bool = False) -> None:
        """`host` is what this machine is called on screen; by default its own name."""
        self._sampler = NvmlSampler(host or socket.gethostname(), want_tensor=want_tensor)
        self._told: GpuSample | None = None
        self._polled = False

    @property
    def want_tensor(self) -> bool:
        """Whether tensor activity is read. Ask for it while somebody sees it."""
        return self._sampler.want_tensor

    @want_tensor.setter
    def want_tensor(self, wanted: bool) -> None:
        self._sampler.want_tensor = wanted

    def reason(self, now: float) -> str:
        """One line on why there are no GPUs; empty when all is well."""
        return self._sampler.reason(now)

    def poll(self, now: float) -> list[Event]:
        """The newest sample, if it has not been told. While the driver hangs: the last one, with its age."""
        if not self._polled:
            self._polled = True
            return []  # a session's first frame should not have to share the processor with pynvml's import
        sample = self._sampler.latest(now)
        if sample is None or sample == self._told:
            return []
        self._told = sample
        return [sample]

    def close(self) -> list[Event]:
        """Let go of the driver."""
        self._sampler.close()
        return []
