"""The GPUs of this machine, by NVML. Its one rule: a GPU is told of, or one line says why there is none."""

from ...models.gpu import GpuSample
from .binding import Nvml
from .devices import Devices
from .sampler import Found

BACKEND = "nvml"


class NvmlProbe:
    """Looks at the GPUs of this machine."""

    who = "the NVIDIA driver"

    def __init__(self, host: str) -> None:
        self._host = host
        self._devices = Devices(Nvml)

    def look(self, now: float, want_tensor: bool) -> Found:
        sweep = self._devices.sweep(now, want_tensor)
        if not sweep.gpus:
            return Found((), sweep.note, sweep.retry_s)
        sample = GpuSample(at=now, host=self._host, backend=BACKEND, gpus=sweep.gpus, note=sweep.note)
        return Found((sample,), sweep.note, sweep.retry_s)

    def cut(self) -> None:
        """A call into the driver cannot be ended."""

    def close(self) -> None:
        self._devices.close()
