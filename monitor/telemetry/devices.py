"""All GPUs of this machine, kept track of by UUID. Its one rule: a GPU once seen is told of until the end.

A GPU that stops answering, or that the driver no longer counts, is `lost` and keeps its place. The driver is
attached to anew now and then while one is missing, as only that shows what is left.
"""

import math
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from ...models.gpu import Gpu
from .binding import Handle, Nvml, NvmlError
from .faults import DRIVER_GONE, GONE, NO_GPU, RETRY_S, UNKNOWN, fault_of
from .gpm import TensorMeter
from .readings import THROTTLED, EnergyCounter, Gauges


class Sweep(NamedTuple):
    """One look at all GPUs."""

    gpus: tuple[Gpu, ...]
    """Empty where none has ever been seen."""
    note: str = ""
    """One line for the user: why there are none, or what is wrong with some."""
    retry_s: float = 0.0
    """There is no use in looking again before so many seconds have passed; infinite for never."""


@dataclass(slots=True)
class Slot:
    """A GPU's place."""

    index: int
    """The driver's number of it when first seen; the driver may renumber when another drops out."""
    uuid: str | None = None
    name: str | None = None
    handle: Handle | None = None
    """None while it is lost."""
    gauges: Gauges = field(default_factory=Gauges)
    energy: EnergyCounter = field(default_factory=EnergyCounter)


class Devices:
    """The GPUs behind one driver. Blocks for as long as the driver does; for one thread alone."""

    def __init__(self) -> None:
        self._nvml: Nvml | None = None
        """None while not attached."""
        self._tensor: TensorMeter | None = None
        self._slots: list[Slot] = []
        self._counted = 0
        """GPUs that the driver told of when it was attached to."""
        self._attached_at = -math.inf

    def sweep(self, now: float, want_tensor: bool) -> Sweep:
        """Read all GPUs at `now`, unix seconds. Never raises: what is wrong is in the note."""
        try:
            nvml = self._attached(now)
            gpus = tuple(self._read(slot, nvml, want_tensor) for slot in self._slots)
        except NvmlError as error:
            self.close()
            fault = fault_of(error.code, str(error))
            return Sweep(tuple(_told(slot, "unknown") for slot in self._slots), fault.reason, fault.retry_s)
        if not gpus:
            return Sweep((), NO_GPU.reason, NO_GPU.retry_s)
        return Sweep(gpus, self._note())

    def close(self) -> None:
        """Let go of the driver. May be called twice; a later sweep attaches again."""
        nvml, self._nvml = self._nvml, None
        if nvml is None:
            return
        self._release_counters()
        with suppress(NvmlError):  # it may have let go of us first
            nvml.close()

    def _attached(self, now: float) -> Nvml:
        """The driver, attached to anew where that may show what has become of a GPU."""
        if self._nvml is not None:
            some_lost = any(slot.handle is None for slot in self._slots) or not self._slots
            overdue = some_lost and not 0 <= now - self._attached_at < RETRY_S
            if not overdue and self._nvml.count() == self._counted:
                return self._nvml
            self.close()
        self._attached_at = now
        nvml = Nvml()
        nvml.open()
        self._nvml = nvml
        self._enumerate(nvml)
        return nvml

    def _enumerate(self, nvml: Nvml) -> None:
        """Give every GPU that answers its place, the old one where it had one."""
        self._counted = nvml.count()
        for slot in self._slots:
            slot.handle = None
            slot.gauges = Gauges()
        silent: list[int] = []
        for index in range(self._counted):
            try:
                handle = nvml.handle(index)
                uuid = _identity(nvml, handle)
            except NvmlError as error:
                if error.code not in GONE and error.code != UNKNOWN:
                    raise
                silent.append(index)
                continue
            slot = self._place(index, uuid)
            slot.handle, slot.uuid = handle, uuid
            slot.name = _name(nvml, handle) or slot.name
        # A silent GPU is one of those missing, or else one that was never heard.
        missing = sum(slot.handle is None for slot in self._slots)
        for index in silent[: max(0, len(silent) - missing)]:
            self._slots.append(Slot(index))
        self._slots.sort(key=lambda slot: slot.index)

    def _place(self, index: int, uuid: str | None) -> Slot:
        """Where a GPU that answers belongs."""
        free = [slot for slot in self._slots if slot.handle is None]
        same = [slot for slot in free if uuid is not None and slot.uuid == uuid]
        # A GPU that was lost before it could say who it is, or that never says so, goes by its number.
        nameless = [slot for slot in free if slot.index == index and (slot.uuid is None or uuid is None)]
        if same or nameless:
            return (same or nameless)[0]
        taken = {slot.index for slot in self._slots}
        slot = Slot(index if index not in taken else max(taken) + 1)
        self._slots.append(slot)
        return slot

    def _read(self, slot: Slot, nvml: Nvml, want_tensor: bool) -> Gpu:
        if slot.handle is None:
            return _told(slot, "lost")
        try:
            values = slot.gauges.read(nvml, slot.handle)
            tensor_active = self._tensor_active(slot, nvml, want_tensor)
        except NvmlError as error:
            if error.code in DRIVER_GONE:
                raise
            slot.handle = None
            return _told(slot, "lost")
        energy_j = values.get("energy_j")
        return Gpu(
            index=slot.index,
            uuid=slot.uuid,
            name=slot.name,
            util=values.get("util"),
            mem_used_gb=values.get("mem_used_gb"),
            mem_total_gb=values.get("mem_total_gb"),
            power_w=values.get("power_w"),
            temp_c=values.get("temp_c"),
            tensor_active=tensor_active,
            energy_j=None if energy_j is None else slot.energy.read(energy_j),
            state="throttled" if int(values.get("clock_reasons", 0.0)) & THROTTLED else "ok",
        )

    def _tensor_active(self, slot: Slot, nvml: Nvml, wanted: bool) -> float | None:
        if not wanted or slot.handle is None:
            self._release_counters()
            return None
        if self._tensor is None:
            self._tensor = TensorMeter(nvml)
        try:
            return self._tensor.read(slot.index, slot.handle)
        except NvmlError as error:
            if error.code in GONE or error.code in DRIVER_GONE:
                raise
            return None

    def _release_counters(self) -> None:
        if self._tensor is not None:
            self._tensor.release()
            self._tensor = None

    def _note(self) -> str:
        lost = [slot.index for slot in self._slots if slot.handle is None]
        if lost:
            which = "GPU" if len(lost) == 1 else "GPUs"
            return f"{which} {_listed(lost)} of {len(self._slots)} lost; looked for every {RETRY_S:.0f} s"
        denied = sorted({name for slot in self._slots for name in slot.gauges.denied})
        return f"no permission to read {', '.join(denied)}" if denied else ""


def _told(slot: Slot, state: Literal["lost", "unknown"]) -> Gpu:
    """A GPU of which nothing is known at the moment but who it is."""
    return Gpu(index=slot.index, uuid=slot.uuid, name=slot.name, state=state)


def _identity(nvml: Nvml, handle: Handle) -> str | None:
    """The UUID, where there is one to be had.

    Raises:
        NvmlError: the GPU does not answer.
    """
    try:
        return nvml.uuid(handle)
    except NvmlError as error:
        if error.code in GONE or error.code in DRIVER_GONE or error.code == UNKNOWN:
            raise
        return None


def _name(nvml: Nvml, handle: Handle) -> str | None:
    try:
        return nvml.name(handle)
    except NvmlError:
        return None


def _listed(indices: Iterable[int]) -> str:
    return ", ".join(str(index) for index in indices)
