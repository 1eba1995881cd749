"""What lies beside a SwanLab log: the run's configuration and its machine, in `files`. Read at swanlab 0.10.

Its one rule: each file is read when it has changed, and only then.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import cast

from pydantic_core import from_json

from ...models.run import ConfigValue, RunInfo
from .yamlblock import NO_SCALAR, entries, unquoted

CONFIG, MACHINE = "config.yaml", "swanlab-metadata.json"
LARGEST = 4 * 1024 * 1024
_DIGITS = re.compile(r"[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_KNOWN: Mapping[str, ConfigValue] = {"null": None, "~": None, "": None, "true": True, "false": False}


class Beside:
    """The files beside one log, looked at again when they have changed."""

    def __init__(self, log: Path) -> None:
        self._folder = log.parent / "files"
        self._seen: dict[str, tuple[int, int]] = {}

    def config(self) -> dict[str, ConfigValue]:
        """The configuration, flattened with dots; empty where there is nothing new."""
        text = self._news(CONFIG)
        return dict(config_of(text)) if text else {}

    def machine(self) -> list[RunInfo]:
        """What the machine that logs has for GPUs. Other machines are not in the log."""
        text = self._news(MACHINE)
        names = _gpus(text) if text else []
        if not names:
            return []
        note = f"SwanLab saw {len(names)} × {names[0]} on the host that logs; other hosts are not in its log"
        return [RunInfo(gpu_type=names[0], notes=(note,))]

    def _news(self, name: str) -> str:
        path = self._folder / name
        try:
            about = path.stat()
            state = (about.st_mtime_ns, about.st_size)
            if self._seen.get(name) == state or about.st_size > LARGEST:
                return ""
            with path.open("rb") as file:
                data = file.read(LARGEST)
        except OSError:
            return ""
        self._seen[name] = state
        return data.decode("utf-8", "replace")


def config_of(text: str) -> Iterator[tuple[str, ConfigValue]]:
    """(key, value) of each scalar under the `value` of SwanLab's entries; lists are passed over."""
    for entry in entries(text):
        key, *inner = entry.path
        if inner[:1] == ["value"] and entry.text[0] not in NO_SCALAR:
            yield ".".join((key, *inner[1:])), _scalar(entry.text)


def _scalar(text: str) -> ConfigValue:
    if (quoted := unquoted(text)) is not None:
        return quoted
    if text in _KNOWN:
        return _KNOWN[text]
    if not _DIGITS.fullmatch(text):
        return text
    try:
        return int(text) if text.lstrip("-+").isdigit() else float(text)
    except ValueError:  # a whole number of more digits than Python takes
        return text


def _gpus(text: str) -> list[str]:
    """Names of the GPUs: `hardware.accelerators` of version 2, `gpu` of version 1."""
    try:
        document: object = from_json(text)
    except ValueError:
        return []
    names: list[object] = []
    for accelerator in _list(_part(_part(document, "hardware"), "accelerators")):
        names += [_part(device, "name") for device in _list(_part(accelerator, "devices"))]
    makers = _part(document, "gpu")
    for maker in cast("dict[str, object]", makers).values() if isinstance(makers, dict) else ():
        names += _list(_part(maker, "type"))
    return [name for name in names if isinstance(name, str) and name]


def _part(document: object, name: str) -> object:
    return cast("Mapping[str, object]", document).get(name) if isinstance(document, dict) else None


def _list(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else []
