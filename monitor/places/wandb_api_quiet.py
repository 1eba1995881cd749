"""The environment that W&B's package finds while it is asked something. Its one rule: nobody else finds it.

The package takes its settings from the environment and leaves the address of its helper process there. A
command that rltop starts, such as a new training run, must meet neither.
"""

import atexit
import os
import shutil
import tempfile
import threading
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache

SILENCE = {
    "WANDB_SILENT": "true",  # says nothing, and can no longer ask for a key
    "WANDB_CONSOLE": "off",
    "WANDB_ERROR_REPORTING": "false",
}
HASTE = {
    "WANDB_X_GRAPHQL_RETRY_MAX": "1",  # waits as long as the server asks; after that the pauses are ours
    "WANDB_X_GRAPHQL_TIMEOUT_SECONDS": "20",
}
"""Unless the user has set them."""
FOLDERS = ("WANDB_DIR", "WANDB_CACHE_DIR", "WANDB_DATA_DIR", "WANDB_ARTIFACT_DIR")
"""Where the package would keep files of its own."""
HELPER = "WANDB_SERVICE"
"""The helper process of whoever started us is not ours to use, and ours not theirs."""

_lock = threading.Lock()
_inside = 0
_before: dict[str, str | None] = {}


@contextmanager
def quiet() -> Generator[None]:
    """The environment that the package is to find, as long as any thread asks something."""
    global _inside
    with _lock:
        _inside += 1
        if _inside == 1:
            wanted = {**HASTE, **{name: os.environ[name] for name in HASTE if name in os.environ}}
            wanted |= {**SILENCE, **dict.fromkeys(FOLDERS, _folder())}
            _before.update({name: os.environ.get(name) for name in (*wanted, HELPER)})
            os.environ.update(wanted)
            os.environ.pop(HELPER, None)
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                _restore()


def _restore() -> None:
    for name, value in _before.items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value


@cache
def _folder() -> str:
    """A folder that goes with this process."""
    folder = tempfile.mkdtemp(prefix="rltop-wandb-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
