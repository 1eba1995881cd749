"""What NVML's error numbers mean for us: a GPU without a reading, a GPU gone, or no driver at all."""

import math
from typing import NamedTuple

from .driver import (
    DEPRECATED,
    DRIVER_NOT_LOADED,
    FUNCTION_NOT_FOUND,
    GPU_IS_LOST,
    LIBRARY_NOT_FOUND,
    NO_PERMISSION,
    NOT_SUPPORTED,
    OLD_STRUCT,
    PYNVML_MISSING,
    RESET_REQUIRED,
    UNINITIALIZED,
    UNKNOWN,
    VERSION_MISMATCH,
)

NEVER = frozenset({NOT_SUPPORTED, NO_PERMISSION, FUNCTION_NOT_FOUND, OLD_STRUCT, DEPRECATED})
"""A reading that answers so will go on answering so: it need not be asked for again."""
GONE = frozenset({GPU_IS_LOST, RESET_REQUIRED})
"""The GPU itself is out of reach, whatever it was asked for."""
DRIVER_GONE = frozenset({UNINITIALIZED, DRIVER_NOT_LOADED, VERSION_MISMATCH})
"""No GPU can be asked for anything."""

RETRY_S = 60.0
"""Pause before the driver is looked for again. Attaching may take it seconds."""


class Fault(NamedTuple):
    """Why nothing can be read."""

    reason: str
    """One line for the user, with the way out where there is one."""
    retry_s: float = RETRY_S
    """Seconds after which to try again; infinite where only a new process can succeed."""


def fault_of(code: int, text: str) -> Fault:
    """What an error of the driver as a whole means; `text` is NVML's own name for it."""
    return FAULTS.get(code) or Fault(f"NVML error {code}: {text}")


NO_GPU = Fault("the NVIDIA driver is loaded but sees no GPU")
FAULTS = {
    PYNVML_MISSING: Fault("pynvml cannot be imported; install nvidia-ml-py", math.inf),
    UNINITIALIZED: Fault("the NVIDIA driver has let go of us; attaching again", 0.0),
    NO_PERMISSION: Fault("no permission to use the NVIDIA driver; see who may open /dev/nvidia*"),
    DRIVER_NOT_LOADED: Fault("the NVIDIA driver is not loaded; does nvidia-smi work here?"),
    LIBRARY_NOT_FOUND: Fault(
        "no NVIDIA driver here: libnvidia-ml.so.1 not found; a container needs --gpus or its equivalent"
    ),
    FUNCTION_NOT_FOUND: Fault("the NVIDIA driver is too old to be read", math.inf),
    VERSION_MISMATCH: Fault(
        "NVIDIA driver and library differ in version, as after an update; restart rltop, or else the machine",
        math.inf,
    ),
    UNKNOWN: Fault(
        "the NVIDIA driver answers Unknown Error; in a container that has lost its GPUs, create it anew"
    ),
}
