"""From an address to what reads it: `ssh://node`, `http://node:9400/metrics`, `prom:http://…`, `ray`.

Its one rule: an address that cannot be meant is refused before anything is started.
"""

import socket

from .sampler import Sampler
from .source import GpuSource


def local(host: str | None = None, want_tensor: bool = False) -> GpuSource:
    """The GPUs of this machine; `host` is what it is called on screen, by default its own name."""
    from .nvml import NvmlProbe

    return GpuSource([Sampler(NvmlProbe(host or socket.gethostname()), want_tensor=want_tensor)])
