"""NVML through pynvml, with types. Its one rule: nobody else touches pynvml, and all that fails is NvmlError.

Nothing is remembered but the names of processes. PCIe throughput is left out on purpose: NVML counts bytes
for 20 ms in each such call, 0.3 s for eight GPUs.
"""

import ctypes
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar, cast

from .driver import (
    FUNCTION_NOT_FOUND,
    INVALID,
    NOT_FOUND,
    NOT_SUPPORTED,
    PYNVML_MISSING,
    TIMEOUT,
    UNKNOWN,
    Ask,
    GpmSample,
    Handle,
    NvmlError,
    Process,
    Slice,
)

TENSOR = 5
"""GPM metric: share of time in which the tensor cores did anything, in percent."""
RECOVERY_ACTION = 230
"""Field: what must be done before the GPU is well again."""
XID = 0x8
"""Event: an error that the driver gives a number."""
ERRORS_AT_ONCE = 64
"""A GPU that breaks tells of the same error again and again."""

T = TypeVar("T")
READS: dict[Ask, Callable[[Any, Handle], Any]] = {
    "util": lambda nvml, gpu: nvml.nvmlDeviceGetUtilizationRates(gpu).gpu,
    "memory": lambda nvml, gpu: _memory(nvml.nvmlDeviceGetMemoryInfo(gpu, nvml.nvmlMemory_v2)),
    "memory_before_v2": lambda nvml, gpu: _memory(nvml.nvmlDeviceGetMemoryInfo(gpu)),
    "power": lambda nvml, gpu: nvml.nvmlDeviceGetPowerUsage(gpu),
    "power_limit": lambda nvml, gpu: nvml.nvmlDeviceGetEnforcedPowerLimit(gpu),
    "energy": lambda nvml, gpu: nvml.nvmlDeviceGetTotalEnergyConsumption(gpu),
    "temperature": lambda nvml, gpu: nvml.nvmlDeviceGetTemperatureV(gpu, nvml.NVML_TEMPERATURE_GPU),
    "temperature_before_v13": lambda nvml, gpu: nvml.nvmlDeviceGetTemperature(gpu, nvml.NVML_TEMPERATURE_GPU),
    "clock": lambda nvml, gpu: nvml.nvmlDeviceGetClockInfo(gpu, nvml.NVML_CLOCK_SM),
    "clock_max": lambda nvml, gpu: nvml.nvmlDeviceGetMaxClockInfo(gpu, nvml.NVML_CLOCK_SM),
    "mem_clock": lambda nvml, gpu: nvml.nvmlDeviceGetClockInfo(gpu, nvml.NVML_CLOCK_MEM),
    "reasons": lambda nvml, gpu: nvml.nvmlDeviceGetCurrentClocksEventReasons(gpu),
    "reasons_before_v12": lambda nvml, gpu: nvml.nvmlDeviceGetCurrentClocksThrottleReasons(gpu),
    "ecc": lambda nvml, gpu: nvml.nvmlDeviceGetTotalEccErrors(
        gpu, nvml.NVML_MEMORY_ERROR_TYPE_UNCORRECTED, nvml.NVML_VOLATILE_ECC
    ),
    "recovery": lambda nvml, gpu: _field(nvml.nvmlDeviceGetFieldValues(gpu, [RECOVERY_ACTION])[0]),
}


class Nvml:
    """The driver's library on this machine."""

    def __init__(self) -> None:
        self._pynvml = _import_pynvml()
        self._events: Any = None
        self._names: dict[int, str | None] = {}

    def open(self) -> None:
        self._call(lambda nvml: nvml.nvmlInit())

    def close(self) -> None:
        events, self._events = self._events, None
        if events is not None:
            with suppress(NvmlError):  # the driver may be gone, and its memory with it
                self._call(lambda nvml: nvml.nvmlEventSetFree(events))
        self._call(lambda nvml: nvml.nvmlShutdown())

    def count(self) -> int:
        return int(self._call(lambda nvml: nvml.nvmlDeviceGetCount()))

    def handle(self, index: int) -> Handle:
        return Handle(self._call(lambda nvml: nvml.nvmlDeviceGetHandleByIndex(index)))

    def key(self, handle: Handle) -> object:
        return _address(handle)

    def uuid(self, handle: Handle) -> str:
        return _text(self._call(lambda nvml: nvml.nvmlDeviceGetUUID(handle)))

    def name(self, handle: Handle) -> str:
        return _text(self._call(lambda nvml: nvml.nvmlDeviceGetName(handle)))

    def read(self, handle: Handle, what: Ask) -> tuple[float, ...]:
        found = self._call(lambda nvml: READS[what](nvml, handle))
        return cast("tuple[float, ...]", found) if isinstance(found, tuple) else (float(found),)

    def processes(self, handle: Handle) -> list[Process]:
        try:
            found = self._call(lambda nvml: nvml.nvmlDeviceGetComputeRunningProcesses_v3(handle))
        except NvmlError as error:
            if error.code != FUNCTION_NOT_FOUND:
                raise
            found = self._call(lambda nvml: nvml.nvmlDeviceGetComputeRunningProcesses_v2(handle))
        return [
            Process(
                int(each.pid),
                None if each.usedGpuMemory is None else float(each.usedGpuMemory),
                self._process_name(int(each.pid)),
            )
            for each in found
        ]

    def slices(self, handle: Handle) -> list[Slice]:
        current, _ = self._call(lambda nvml: nvml.nvmlDeviceGetMigMode(handle))
        if not current:
            return []
        slices: list[Slice] = []
        for index in range(int(self._call(lambda nvml: nvml.nvmlDeviceGetMaxMigDeviceCount(handle)))):
            try:
                part = self._slice(handle, index)
            except NvmlError as error:
                if error.code != NOT_FOUND:  # a place where there is no part
                    raise
                continue
            slices.append(
                Slice(
                    index,
                    uuid=self._if_told(lambda part=part: self.uuid(part)),
                    name=self._if_told(lambda part=part: self.name(part)),
                    memory=self._if_told(lambda part=part: self._memory_of(part)),
                )
            )
        return slices

    def watch(self, handle: Handle) -> None:
        if self._events is None:
            self._events = self._call(lambda nvml: nvml.nvmlEventSetCreate())
        self._call(lambda nvml: nvml.nvmlDeviceRegisterEvents(handle, XID, self._events))

    def errors(self) -> list[tuple[object, int]]:
        found: list[tuple[object, int]] = []
        while self._events is not None and len(found) < ERRORS_AT_ONCE:
            try:
                event = self._call(lambda nvml: nvml.nvmlEventSetWait_v2(self._events, 0))
            except NvmlError as error:
                if error.code == TIMEOUT:
                    break
                raise
            if event.eventType == XID:
                found.append((_address(event.device), int(event.eventData)))
        return found

    def has_gpm(self, handle: Handle) -> bool:
        return bool(self._call(lambda nvml: nvml.nvmlGpmQueryDeviceSupport(handle)).isSupportedDevice)

    def new_gpm_sample(self) -> GpmSample:
        return GpmSample(self._call(lambda nvml: nvml.nvmlGpmSampleAlloc()))

    def take(self, handle: Handle, into: GpmSample) -> None:
        self._call(lambda nvml: nvml.nvmlGpmSampleGet(handle, into))

    def free(self, sample: GpmSample) -> None:
        self._call(lambda nvml: nvml.nvmlGpmSampleFree(sample))

    def tensor_active(self, earlier: GpmSample, later: GpmSample) -> float:
        question = self._call(lambda nvml: nvml.c_nvmlGpmMetricsGet_t())
        question.version = self._call(lambda nvml: nvml.NVML_GPM_METRICS_GET_VERSION)
        question.numMetrics = 1
        question.sample1, question.sample2 = earlier, later
        question.metrics[0].metricId = TENSOR
        self._call(lambda nvml: nvml.nvmlGpmMetricsGet(question))
        answer = question.metrics[0]
        if answer.nvmlReturn:
            raise NvmlError(int(answer.nvmlReturn), "no tensor activity")
        return float(answer.value)

    def _slice(self, handle: Handle, index: int) -> Handle:
        return Handle(self._call(lambda nvml: nvml.nvmlDeviceGetMigDeviceHandleByIndex(handle, index)))

    def _memory_of(self, handle: Handle) -> tuple[float, float]:
        used, total = self.read(handle, "memory_before_v2")
        return used, total

    def _process_name(self, pid: int) -> str | None:
        """The program's file name. Inside a container the host's numbers name nothing."""
        if pid not in self._names:
            if len(self._names) >= 1000:
                self._names.clear()
            path = self._if_told(lambda: _text(self._call(lambda nvml: nvml.nvmlSystemGetProcessName(pid))))
            self._names[pid] = path.rpartition("/")[2] or None if path else None
        return self._names[pid]

    def _if_told(self, ask: Callable[[], T]) -> T | None:
        try:
            return ask()
        except NvmlError:
            return None

    def _call(self, ask: Callable[[Any], Any]) -> Any:
        try:
            return ask(self._pynvml)
        except self._pynvml.NVMLError as error:
            raise NvmlError(int(error.value), str(error)) from None
        except AttributeError as error:  # an older pynvml that lacks a name is like an older driver
            raise NvmlError(FUNCTION_NOT_FOUND, str(error)) from None
        except UnicodeDecodeError:
            raise NvmlError(UNKNOWN, "no text") from None


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


def _memory(info: Any) -> tuple[float, float]:
    """Where there are 0 bytes in all, the GPU has no memory of its own and the call does not apply."""
    if not info.total:
        raise NvmlError(NOT_SUPPORTED, "no memory of its own")
    return float(info.used), float(info.total)


def _field(found: Any) -> int:
    if found.nvmlReturn:
        # The call as a whole succeeds; a driver that does not know the field says so in the field.
        unknown_field = found.nvmlReturn == INVALID
        raise NvmlError(NOT_SUPPORTED if unknown_field else int(found.nvmlReturn), "no such field")
    return int(found.value.uiVal)


def _address(handle: Any) -> int | None:
    return ctypes.cast(handle, ctypes.c_void_p).value


def _text(found: str | bytes) -> str:
    """Old releases of pynvml gave bytes."""
    return found.decode("utf-8", "replace") if isinstance(found, bytes) else found
