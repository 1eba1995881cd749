"""Settings from rltop.toml: the user's own, and over it the one in the current folder.

The one rule: a setting that cannot be used is an error that names the file, the line and the key.
"""

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import cast

from pydantic import ValidationError

from ..models.settings import Settings, SettingsError

NAME = "rltop.toml"


def load(paths: Iterable[Path]) -> dict[str, object]:
    """The settings of all files that exist, later ones over earlier ones, tables merged key by key.

    Raises:
        SettingsError: a file cannot be read, is not TOML, or holds a setting that is unknown or wrong.
    """
    merged: dict[str, object] = {}
    for path in paths:
        if path.is_file():
            merged = _over(merged, read(path))
    return merged


def read(path: Path) -> dict[str, object]:
    """One file, checked.

    Raises:
        SettingsError: see `load`.
    """
    try:
        text = path.read_text(encoding="utf-8")
        table = tomllib.loads(text)
    except OSError as error:
        raise SettingsError(f"{path}: {error.strerror or 'cannot be read'}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path}: not TOML: {error}") from None
    try:
        Settings.model_validate(table)
    except ValidationError as error:
        problem = error.errors()[0]
        where = [str(part) for part in problem["loc"]]
        unknown = problem["type"] == "extra_forbidden"
        what = f"unknown setting; known are {', '.join(Settings.model_fields)}" if unknown else problem["msg"]
        line = _line_of(text, where)
        raise SettingsError(f"{path}, line {line}: {'.'.join(where)}: {what}") from None
    return table


def _over(below: Mapping[str, object], above: Mapping[str, object]) -> dict[str, object]:
    merged = dict(below)
    for key, value in above.items():
        before = merged.get(key)
        if isinstance(before, dict) and isinstance(value, dict):
            value = _over(cast("dict[str, object]", before), cast("dict[str, object]", value))
        merged[key] = value
    return merged


def _line_of(text: str, where: list[str]) -> int:
    """The line on which the innermost part of a key stands, or the first one."""
    lines = text.splitlines()
    for name in reversed(where):
        for number, line in enumerate(lines, start=1):
            if line.strip().startswith((name, f"[{name}", f'"{name}"')) or f".{name}]" in line:
                return number
    return 1
