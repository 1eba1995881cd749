"""A driver elsewhere, as it answered last: what far.py sent, or nvidia-smi. Its one rule: it asks nobody.

It answers as the driver on this machine would, so that what an answer means is decided in one place. What
comes from elsewhere may have any shape; what has the wrong one is an unknown error.
"""

from typing import Any, cast

from .driver import (
    FUNCTION_NOT_FOUND,
    GPU_IS_LOST,
    NO_PERMISSION,
    NOT_SUPPORTED,
    RESET_REQUIRED,
    UNKNOWN,
    Ask,
    GpmSample,
    Handle,
    NvmlError,
    Process,
    Slice,
)

MIB = 1024 * 1024
NEWS_KEPT = 256
SMI: tuple[tuple[str, Ask, float], ...] = (
    ("utilization.gpu", "util", 1),
    ("power.draw", "power", 1000),
    ("power.limit", "power_limit", 1000),
    ("temperature.gpu", "temperature", 1),
    ("clocks.sm", "clock", 1),
    ("clocks.max.sm", "clock_max", 1),
    ("clocks.mem", "mem_clock", 1),
    ("ecc.errors.uncorrected.volatile.total", "ecc", 1),
)
"""nvidia-smi's words, and NVML's units in one of theirs."""
SMI_FIELDS = (
    "count",
    "index",
    "uuid",
    "name",
    "memory.used",
    "memory.total",
    *(field for field, _, _ in SMI),
)
SMI_REASONS = "clocks_event_reasons.active"
"""Asked for last, as not every release knows it."""
SMI_ERRORS = (
    ("not supported", NOT_SUPPORTED),
    ("n/a", NOT_SUPPORTED),
    ("permission", NO_PERMISSION),
    ("lost", GPU_IS_LOST),
    ("reset", RESET_REQUIRED),
)
"""Parts of what stands in brackets in place of a number."""


class Snapshot:
    """The Driver of Devices, over the last answer."""

    def __init__(self) -> None:
        self._answer: dict[str, Any] = {}
        self._news: list[Any] = []

    def take_in(self, answer: dict[str, Any]) -> None:
        """From now on this is what the driver says."""
        self._answer = answer
        self._news = [*self._news, *_items(answer.get("xids"))][-NEWS_KEPT:]

    def open(self) -> None:
        self.count()

    def close(self) -> None:
        """Nothing is held open."""

    def count(self) -> int:
        error = self._answer.get("error")
        if error is not None:
            raise NvmlError(error if isinstance(error, int) else UNKNOWN, "the far driver")
        return len(self._gpus())

    def handle(self, index: int) -> Handle:
        gpu = self._gpus()[index]
        if not isinstance(gpu, dict):
            raise NvmlError(UNKNOWN, "not a GPU")
        words = cast("dict[str, Any]", gpu)
        if "e" in words:
            raise _error(words)
        return Handle(words.get("uuid") or index)

    def key(self, handle: Handle) -> object:
        return self._index(handle)

    def uuid(self, handle: Handle) -> str:
        return self._text(handle, "uuid")

    def name(self, handle: Handle) -> str:
        return self._text(handle, "name")

    def read(self, handle: Handle, what: Ask) -> tuple[float, ...]:
        values = tuple(_float(value) for value in self._told(handle, what))
        if len(values) != (2 if what.startswith("memory") else 1):
            raise NvmlError(UNKNOWN, "not so many numbers")
        return values

    def processes(self, handle: Handle) -> list[Process]:
        try:
            return [
                Process(
                    int(pid), None if used is None else _float(used), name if isinstance(name, str) else None
                )
                for pid, used, name in self._told(handle, "processes")
            ]
        except (TypeError, ValueError):
            raise NvmlError(UNKNOWN, "not processes") from None

    def slices(self, handle: Handle) -> list[Slice]:
        try:
            return [
                Slice(
                    int(place),
                    uuid if isinstance(uuid, str) else None,
                    name if isinstance(name, str) else None,
                    (_float(memory[0]), _float(memory[1])) if memory else None,
                )
                for place, uuid, name, memory in self._told(handle, "slices")
            ]
        except (TypeError, ValueError, LookupError):
            raise NvmlError(UNKNOWN, "not parts") from None

    def watch(self, handle: Handle) -> None:
        """The far end watches all."""

    def errors(self) -> list[tuple[object, int]]:
        news, self._news = self._news, []
        pairs = [cast("list[Any]", each) for each in news if isinstance(each, list)]
        return [(pair[0], pair[1]) for pair in pairs if len(pair) == 2 and isinstance(pair[1], int)]

    def has_gpm(self, handle: Handle) -> bool:
        told = self._gpu(handle).get("told")
        return isinstance(told, dict) and "tensor" in told

    def new_gpm_sample(self) -> GpmSample:
        return GpmSample([None])

    def take(self, handle: Handle, into: GpmSample) -> None:
        """The far end has both samples; here, the answer is kept in the place of one."""
        cast("list[Any]", into)[0] = handle

    def free(self, sample: GpmSample) -> None:
        """Nothing is held."""

    def tensor_active(self, earlier: GpmSample, later: GpmSample) -> float:
        (value,) = (_float(each) for each in self._told(cast("list[Any]", later)[0], "tensor")[:1] or [None])
        return value

    def _gpus(self) -> list[Any]:
        return _items(self._answer.get("gpus"))

    def _index(self, handle: Handle) -> int | None:
        for index, gpu in enumerate(self._gpus()):
            if isinstance(gpu, dict) and (cast("dict[str, Any]", gpu).get("uuid") or index) == handle:
                return index
        return None

    def _gpu(self, handle: Handle) -> dict[str, Any]:
        """
        Raises:
            NvmlError: it is not in the last answer.
        """
        index = self._index(handle)
        gpu = {"e": GPU_IS_LOST} if index is None else cast("dict[str, Any]", self._gpus()[index])
        if "e" in gpu:
            raise _error(gpu)
        return gpu

    def _told(self, handle: Handle, what: str) -> list[Any]:
        told = self._gpu(handle).get("told")
        answer = cast("dict[str, Any]", told).get(what) if isinstance(told, dict) else None
        if isinstance(answer, dict):
            raise _error(cast("dict[str, Any]", answer))
        if not isinstance(answer, list):
            raise NvmlError(FUNCTION_NOT_FOUND, f"not asked for {what}")
        return cast("list[Any]", answer)

    def _text(self, handle: Handle, what: str) -> str:
        found = self._gpu(handle).get(what)
        if not isinstance(found, str):
            raise NvmlError(NOT_SUPPORTED, f"no {what}")
        return found


def smi_answer(rows: list[list[str]]) -> dict[str, Any]:
    """What nvidia-smi printed of all GPUs at one moment, rows in the order of SMI_FIELDS, as an answer."""
    return {"gpus": [_smi_gpu(row) for row in rows]}


def _smi_gpu(row: list[str]) -> dict[str, Any]:
    values = dict(zip((*SMI_FIELDS, SMI_REASONS), row, strict=False))
    if not values.get("uuid", "").startswith("GPU-"):
        return _smi_error(values.get("uuid", ""))
    told = {what: _smi_number(values.get(field, ""), per_unit) for field, what, per_unit in SMI}
    used, total = (_smi_number(values.get(field, ""), MIB) for field in ("memory.used", "memory.total"))
    told["memory_before_v2"] = [*used, *total] if isinstance(used, list) and isinstance(total, list) else used
    reasons = values.get(SMI_REASONS, "")
    told["reasons"] = [int(reasons, 16)] if reasons.startswith("0x") else _smi_error(reasons)
    return {"uuid": values["uuid"], "name": values["name"], "told": told}


def _smi_number(text: str, per_unit: float) -> list[float] | dict[str, int]:
    try:
        return [float(text) * per_unit]
    except ValueError:
        return _smi_error(text)


def _smi_error(text: str) -> dict[str, int]:
    return {"e": next((code for part, code in SMI_ERRORS if part in text.lower()), UNKNOWN)}


def _error(words: dict[str, Any]) -> NvmlError:
    code = words.get("e")
    return NvmlError(code if isinstance(code, int) else UNKNOWN, "the far driver")


def _float(value: Any) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    raise NvmlError(UNKNOWN, "not a number")


def _items(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []
