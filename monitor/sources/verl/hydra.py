"""Reads the folder that Hydra leaves behind, `.hydra/`: the configuration that a run was started with.

Its one rule: it says what was asked for. What the run itself prints is told later and wins, and a
reference `${…}` that leads nowhere is not known.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from ....models.event import Event, SourceStatus
from ....models.run import ConfigValue, RunInfo
from ..yamlblock import NO_SCALAR, entries, unquoted
from . import config
from .overrides import OVERRIDE
from .scalar import scalar

FOLDER = ".hydra"
LARGEST = 1024 * 1024
REFERENCE = re.compile(r"\$\{([\w.]+)\}")
HOPS = 8


class HydraSource:
    """The configuration in a `.hydra` folder, or in another that `read` knows, told once."""

    source = "hydra"
    name = "config.yaml"

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._told = False

    def read(self) -> dict[str, ConfigValue]:
        """The configuration; {} where there is none that can be read."""
        return read_folder(self._folder)

    @property
    def more(self) -> bool:
        """Never: it is read in one go."""
        return False

    def poll(self, now: float) -> list[Event]:
        """What the configuration tells, the first time it is there."""
        if self._told:
            return []
        flat = self.read()
        if not flat:
            return []
        self._told = True
        info = config.info_of(flat)
        status = SourceStatus(source=self.source, path=str(self._folder / self.name), lines=len(flat))
        return [RunInfo(framework="verl", platform="self-hosted"), info, status]

    def close(self) -> list[Event]:
        """Nothing is held back."""
        return []


def read_folder(folder: Path) -> dict[str, ConfigValue]:
    """The configuration with its references followed; {} where there is none that can be read."""
    return {
        **resolved(read_yaml(text_of(folder / "config.yaml"))),
        **_overrides(text_of(folder / "overrides.yaml")),
    }


def read_yaml(text: str) -> dict[str, ConfigValue]:
    """The scalars of a block-style YAML mapping, flattened with dots; lists and the like are skipped."""
    return {
        ".".join(entry.path): scalar(entry.text) if (quoted := unquoted(entry.text)) is None else quoted
        for entry in entries(text)
        if entry.text[0] not in NO_SCALAR
    }


def resolved(flat: dict[str, ConfigValue]) -> dict[str, ConfigValue]:
    """The mapping with references to other keys followed; those that lead nowhere are left out."""
    return {key: value for key, start in flat.items() for value in _follow(flat, start)}


def _follow(flat: dict[str, ConfigValue], value: ConfigValue) -> Iterator[ConfigValue]:
    for _ in range(HOPS):
        if not isinstance(value, str) or "${" not in value:
            yield value
            return
        match = REFERENCE.fullmatch(value)
        if match is None or match[1] not in flat:
            return
        value = flat[match[1]]


def _overrides(text: str) -> dict[str, ConfigValue]:
    found: dict[str, ConfigValue] = {}
    for line in text.splitlines():
        match = OVERRIDE.fullmatch(line.removeprefix("- ").strip().strip("'\""))
        if match and "${" not in match[2] and not match[2].startswith(("[", "{")):
            found[match[1]] = scalar(match[2])
    return found


def text_of(path: Path) -> str:
    """The text of a file of settings; nothing where it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(LARGEST).decode("utf-8", "replace")
    except OSError:
        return ""
