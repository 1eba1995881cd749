"""All GPUs of one machine, kept track of by UUID. Its one rule: a GPU once seen is told of until the end.

A GPU that stops answering, or that the driver no longer counts, is `lost` and keeps its place. The driver is
attached to anew now and then while one is missing, as only that shows what is left.
"""

import math
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ...models.gpu import Gpu, GpuProcess, GpuState, MigSlice
from .driver import UNKNOWN, Driver, Handle, NvmlError
from .faults import DRIVER_GONE, GONE, NO_GPU, RETRY_S, fault_of
from .gpm import TensorMeter
from .readings import HARMFUL, EnergyCounter, Gauges, recovery_of, throttle_of
from .xid import named

GB = 1e9
XID_NEWS_S = 600.0
"""How long an error of a GPU that goes on is news."""


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
    key: object = None
    """What its errors come under. Kept when it is lost: that is when they come."""
    xid: int | None = None
    xid_at: float | None = None


class Devices:
    """The GPUs behind one driver. Blocks for as long as the driver does; for one thread alone."""

    def __init__(self, driver: Callable[[], Driver]) -> None:
        self._new_driver = driver
        self._driver: Driver | None = None
        """None while not attached."""
        self._tensor: TensorMeter | None = None
        self._slots: list[Slot] = []
        self._counted = 0
        """GPUs that the driver told of when it was attached to."""
        self._attached_at = -math.inf

    def sweep(self, now: float, want_tensor: bool) -> Sweep:
        """Read all GPUs at `now`, unix seconds. Never raises: what is wrong is in the note."""
        try:
            self._hear_errors(now)
            driver = self._attached(now)
            gpus = tuple(self._read(slot, driver, want_tensor) for slot in self._slots)
        except NvmlError as error:
            self.close()
            fault = fault_of(error.code, str(error))
            return Sweep(tuple(_told(slot, "unknown") for slot in self._slots), fault.reason, fault.retry_s)
        if not gpus:
            return Sweep((), NO_GPU.reason, NO_GPU.retry_s)
        return Sweep(gpus, self._note(now) or _sick(gpus) or self._denied())

    def close(self) -> None:
        """Let go of the driver. May be called twice; a later sweep attaches again."""
        driver, self._driver = self._driver, None
        if driver is None:
            return
        self._release_counters()
        with suppress(NvmlError):  # it may have let go of us first
            driver.close()

    def _attached(self, now: float) -> Driver:
        """The driver, attached to anew where that may show what has become of a GPU."""
        if self._driver is not None:
            some_lost = any(slot.handle is None for slot in self._slots) or not self._slots
            overdue = some_lost and not 0 <= now - self._attached_at < RETRY_S
            if not overdue and self._driver.count() == self._counted:
                return self._driver
            self.close()
        self._attached_at = now
        driver = self._new_driver()
        driver.open()
        self._driver = driver
        self._enumerate(driver)
        return driver

    def _enumerate(self, driver: Driver) -> None:
        """Give every GPU that answers its place, the old one where it had one."""
        self._counted = driver.count()
        for slot in self._slots:
            slot.handle = None
            slot.gauges = Gauges()
        silent: list[int] = []
        for index in range(self._counted):
            try:
                handle = driver.handle(index)
                uuid = _identity(driver, handle)
            except NvmlError as error:
                if error.code not in GONE and error.code != UNKNOWN:
                    raise
                silent.append(index)
                continue
            slot = self._place(index, uuid)
            slot.handle, slot.uuid, slot.key = handle, uuid, driver.key(handle)
            slot.name = _name(driver, handle) or slot.name
            with suppress(NvmlError):  # then its errors are not heard
                driver.watch(handle)
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

    def _hear_errors(self, now: float) -> None:
        """Before all else: attaching anew would lose what has not been heard."""
        if self._driver is None:
            return
        with suppress(NvmlError):  # whether the driver is there at all shows in what follows
            for key, xid in self._driver.errors():
                for slot in self._slots:
                    if slot.key is not None and slot.key == key:
                        slot.xid, slot.xid_at = xid, now

    def _read(self, slot: Slot, driver: Driver, want_tensor: bool) -> Gpu:
        gpu = slot.handle
        if gpu is None:
            return _told(slot, "lost")
        try:
            values = slot.gauges.read(driver, gpu)
            tensor_active = self._tensor_active(slot, driver, want_tensor)
            lists = _lists(slot.gauges, driver, gpu)
        except NvmlError as error:
            if error.code in DRIVER_GONE:
                raise
            slot.handle = None
            return _told(slot, "lost")
        throttle = throttle_of(values.pop("reasons", None))
        recovery = recovery_of(values.pop("recovery", None))
        if "energy_j" in values:
            values["energy_j"] = slot.energy.read(values["energy_j"])
        numbers: dict[str, Any] = {**values, "ecc_errors": _whole(values.get("ecc_errors"))}
        return Gpu(
            index=slot.index,
            uuid=slot.uuid,
            name=slot.name,
            tensor_active=tensor_active,
            throttle=throttle,
            recovery=recovery,
            xid=slot.xid,
            xid_at=slot.xid_at,
            state="throttled" if HARMFUL.intersection(throttle or ()) else "ok",
            **lists,
            **numbers,
        )

    def _tensor_active(self, slot: Slot, driver: Driver, wanted: bool) -> float | None:
        if not wanted or slot.handle is None:
            self._release_counters()
            return None
        if self._tensor is None:
            self._tensor = TensorMeter(driver)
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

    def _note(self, now: float) -> str:
        """The gravest thing there is to say."""
        lost = [slot for slot in self._slots if slot.handle is None]
        if lost:
            which = "GPU" if len(lost) == 1 else "GPUs"
            why = f" ({named(lost[0].xid)})" if len(lost) == 1 and lost[0].xid is not None else ""
            numbers = _listed(slot.index for slot in lost)
            return f"{which} {numbers} of {len(self._slots)} lost{why}; looked for every {RETRY_S:.0f} s"
        fresh = [
            (slot.xid_at, slot) for slot in self._slots if slot.xid_at and now - slot.xid_at < XID_NEWS_S
        ]
        if fresh:
            _, slot = max(fresh, key=lambda each: each[0])
            return f"GPU {slot.index}: {named(slot.xid or 0)}"
        return ""

    def _denied(self) -> str:
        denied = sorted({name for slot in self._slots for name in slot.gauges.denied})
        return f"no permission to read {', '.join(denied)}" if denied else ""


def _sick(gpus: tuple[Gpu, ...]) -> str:
    """What the driver wants done."""
    sick = [gpu for gpu in gpus if gpu.recovery not in (None, "none")]
    return f"GPU {sick[0].index} is not well; the driver wants: {sick[0].recovery}" if sick else ""


def _lists(gauges: Gauges, driver: Driver, gpu: Handle) -> dict[str, Any]:
    """Processes and parts, as fields of Gpu."""
    processes = gauges.told("processes", lambda: driver.processes(gpu))
    slices = gauges.told("mig", lambda: driver.slices(gpu)) or []
    return {
        "processes": None
        if processes is None
        else tuple(
            GpuProcess(
                pid=each.pid, name=each.name, mem_used_gb=None if each.used is None else each.used / GB
            )
            for each in processes
        ),
        "mig": tuple(
            MigSlice(
                index=each.place,
                uuid=each.uuid,
                name=each.name,
                mem_used_gb=each.memory[0] / GB if each.memory else None,
                mem_total_gb=each.memory[1] / GB if each.memory else None,
            )
            for each in slices
        ),
    }


def _told(slot: Slot, state: GpuState) -> Gpu:
    """A GPU of which nothing is known at the moment but who it is."""
    return Gpu(
        index=slot.index, uuid=slot.uuid, name=slot.name, state=state, xid=slot.xid, xid_at=slot.xid_at
    )


def _identity(driver: Driver, handle: Handle) -> str | None:
    """The UUID, where there is one to be had.

    Raises:
        NvmlError: the GPU does not answer.
    """
    try:
        return driver.uuid(handle)
    except NvmlError as error:
        if error.code in GONE or error.code in DRIVER_GONE or error.code == UNKNOWN:
            raise
        return None


def _name(driver: Driver, handle: Handle) -> str | None:
    try:
        return driver.name(handle)
    except NvmlError:
        return None


def _whole(value: float | None) -> int | None:
    return None if value is None else int(value)


def _listed(indices: Iterable[int]) -> str:
    return ", ".join(str(index) for index in indices)
