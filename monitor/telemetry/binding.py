"""NVML through pynvml, with types. Its one rule: nobody else touches pynvml, and all that fails is NvmlError.

Units are NVML's own (bytes, milliwatts, millijoules); whoever reads them converts. Nothing is remembered.
PCIe throughput is left out on purpose: NVML counts bytes for 20 ms in each such call, 0.3 s for eight GPUs.
"""

import warnings
from typing import Any, NewType, cast

Handle = NewType("Handle", object)
"""A GPU, for as long as the driver stays open."""
GpmSample = NewType("GpmSample", object)
"""The hardware counters of a GPU at one moment, kept by the driver."""

NOT_SUPPORTED = 3
TENSOR = 5
"""GPM metric: share of time in which the tensor cores did anything, in percent."""


class NvmlError(Exception):
    """A call that failed."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code
        """NVML's own number."""


class Nvml:
    """The driver's library. Everything may raise NvmlError, and may block for as long as the driver likes."""

    def __init__(self) -> None:
        self._pynvml = _import_pynvml()

    def open(self) -> None:
        """Load the library and attach to the driver."""
        self._call("nvmlInit")

    def close(self) -> None:
        """Detach; handles are void from here on."""
        self._call("nvmlShutdown")

    def count(self) -> int:
        return int(self._call("nvmlDeviceGetCount"))

    def handle(self, index: int) -> Handle:
        return Handle(self._call("nvmlDeviceGetHandleByIndex", index))

    def uuid(self, handle: Handle) -> str:
        return _text(self._call("nvmlDeviceGetUUID", handle))

    def name(self, handle: Handle) -> str:
        return _text(self._call("nvmlDeviceGetName", handle))

    def utilization(self, handle: Handle) -> float:
        """Percent of the last 1/6 to 1 s in which some kernel ran."""
        return float(self._call("nvmlDeviceGetUtilizationRates", handle).gpu)

    def memory(self, handle: Handle) -> tuple[float, float]:
        """(used, total) bytes; what the driver keeps for itself is not counted as used."""
        return _memory(self._call("nvmlDeviceGetMemoryInfo", handle, self._constant("nvmlMemory_v2")))

    def memory_before_v2(self, handle: Handle) -> tuple[float, float]:
        """(used, total) bytes; what the driver keeps for itself is counted as used."""
        return _memory(self._call("nvmlDeviceGetMemoryInfo", handle))

    def power_mw(self, handle: Handle) -> float:
        return float(self._call("nvmlDeviceGetPowerUsage", handle))

    def energy_mj(self, handle: Handle) -> float:
        return float(self._call("nvmlDeviceGetTotalEnergyConsumption", handle))

    def temperature_c(self, handle: Handle) -> float:
        return float(self._call("nvmlDeviceGetTemperatureV", handle, self._constant("NVML_TEMPERATURE_GPU")))

    def temperature_before_v13(self, handle: Handle) -> float:
        return float(self._call("nvmlDeviceGetTemperature", handle, self._constant("NVML_TEMPERATURE_GPU")))

    def clock_reasons(self, handle: Handle) -> float:
        """Bits that say why the clocks are below their maximum."""
        return float(self._call("nvmlDeviceGetCurrentClocksEventReasons", handle))

    def clock_reasons_before_v12(self, handle: Handle) -> float:
        return float(self._call("nvmlDeviceGetCurrentClocksThrottleReasons", handle))

    def has_gpm(self, handle: Handle) -> bool:
        """Whether the GPU has the counters at all: Hopper and later."""
        return bool(self._call("nvmlGpmQueryDeviceSupport", handle).isSupportedDevice)

    def new_gpm_sample(self) -> GpmSample:
        """An empty sample, to be given back with `free`."""
        return GpmSample(self._call("nvmlGpmSampleAlloc"))

    def take(self, handle: Handle, into: GpmSample) -> None:
        """Read the counters as they stand."""
        self._call("nvmlGpmSampleGet", handle, into)

    def free(self, sample: GpmSample) -> None:
        self._call("nvmlGpmSampleFree", sample)

    def tensor_active(self, earlier: GpmSample, later: GpmSample) -> float:
        """Percent of the time between two samples in which the tensor cores were busy."""
        question = self._constant("c_nvmlGpmMetricsGet_t")()
        question.version = self._constant("NVML_GPM_METRICS_GET_VERSION")
        question.numMetrics = 1
        question.sample1, question.sample2 = earlier, later
        question.metrics[0].metricId = TENSOR
        self._call("nvmlGpmMetricsGet", question)
        answer = question.metrics[0]
        if answer.nvmlReturn:
            raise NvmlError(int(answer.nvmlReturn), "no tensor activity")
        return float(answer.value)

    def _call(self, name: str, *args: object) -> Any:
        try:
            return self._constant(name)(*args)
        except self._pynvml.NVMLError as error:
            raise NvmlError(int(error.value), str(error)) from None
        except UnicodeDecodeError:
            raise NvmlError(self._pynvml.NVML_ERROR_UNKNOWN, f"{name} answers with no text") from None

    def _constant(self, name: str) -> Any:
        """Something of pynvml's; an older one that lacks it is like an older driver."""
        found = getattr(self._pynvml, name, None)
        if found is None:
            raise NvmlError(self._pynvml.NVML_ERROR_FUNCTION_NOT_FOUND, f"this pynvml has no {name}")
        return found


def _import_pynvml() -> Any:
    """The module; taking 15 ms, it is imported only where GPUs are read.

    Raises:
        NvmlError: it cannot be imported; then it is as if there were no library.
    """
    with warnings.catch_warnings():
        # Where the deprecated distribution is installed too, it warns here, across the screen.
        warnings.simplefilter("ignore")
        try:
            import pynvml  # pyright: ignore[reportMissingTypeStubs]
        except ImportError as error:
            raise NvmlError(PYNVML_MISSING, str(error)) from None
    return cast("Any", pynvml)


PYNVML_MISSING = -1
"""Our own code: no NVML number is negative."""


def _memory(info: Any) -> tuple[float, float]:
    """Where there are 0 bytes in all, the GPU has no memory of its own and the call does not apply."""
    if not info.total:
        raise NvmlError(NOT_SUPPORTED, "no memory of its own")
    return float(info.used), float(info.total)


def _text(found: str | bytes) -> str:
    """Old releases of pynvml gave bytes."""
    return found.decode("utf-8", "replace") if isinstance(found, bytes) else found
