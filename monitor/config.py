"""Settings from rltop.toml: the user's own, and over it the one in the current folder.

The one rule: a setting that cannot be used is an error that names the file, the line and the key.
"""

import os
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import cast

from pydantic import ValidationError

from ..models.looks import Looks
from ..models.notifying import NotifySettings
from ..models.settings import RunSettings, Settings, SettingsError, TokenRates
from ..models.value import Value
from .settingline import line_of

NAME = "rltop.toml"

Table = dict[str, object]

_TABLES: dict[str, type[Value]] = {"notify": NotifySettings, "screen": Looks, "token_rates": TokenRates}
"""Settings that are tables of fixed keys."""


def load(paths: Iterable[Path], target: str | None = None) -> Table:
    """The settings of all files that exist, later ones over earlier ones, tables merged key by key.

    What is said of some runs alone comes on top where `target` is one of them, and is left out else.

    Raises:
        SettingsError: a file cannot be read, is not TOML, or holds a setting that is unknown or wrong.
    """
    merged: Table = {}
    for path in filter(is_there, paths):
        merged = _over(merged, read(path))
    runs = cast("Mapping[str, Table]", merged.pop("runs", {}))
    for pattern, said in runs.items():
        if target is not None and is_run(pattern, target):
            merged = _over(merged, said)
    return merged


def is_run(pattern: str, target: str) -> bool:
    """Whether a pattern is of this run: of what it was called on the command line, of its path, or of the
    name of its file or of the folder that this is in."""
    path = Path(target).absolute() if "://" not in target else Path(target)
    names = (target, str(path), path.name, path.parent.name)
    return any(fnmatchcase(name, pattern) for name in names)


def read(path: Path) -> Table:
    """One file, checked.

    Raises:
        SettingsError: see `load`.
    """
    text, table = _parsed(path)
    try:
        Settings.model_validate(table)
    except ValidationError as error:
        problem = error.errors()[0]
        where = [str(part) for part in problem["loc"] if part != "[key]"]  # pydantic's word for a key
        known = Settings if len(where) == 1 else RunSettings
        unknown = problem["type"] == "extra_forbidden"
        known = _TABLES.get(where[-2], known) if len(where) > 1 else known
        what = f"unknown setting; known are {', '.join(known.model_fields)}" if unknown else problem["msg"]
        raise _wrong(path, text, where, what) from None
    _check_rules(path, text, table)
    _check_secrets(path, table)
    return table


def origins(paths: Iterable[Path], target: str | None = None) -> dict[tuple[str, ...], str]:
    """By key, such as ("alerts", "budget", "warn"), which line of which file it is from.

    Raises:
        SettingsError: see `load`.
    """
    found: dict[tuple[str, ...], str] = {}
    for_run: dict[tuple[str, ...], str] = {}
    for path in filter(is_there, paths):
        text, table = _parsed(path)
        runs = cast("Mapping[str, Table]", table.pop("runs", {}))
        found |= {key: f"{path}, line {line_of(text, key)}" for key in _keys(table)}
        for pattern, said in runs.items():
            if target is not None and is_run(pattern, target):
                place = ("runs", pattern)
                for_run |= {k: f"{path}, line {line_of(text, (*place, *k))}" for k in _keys(said)}
    return found | for_run


def is_there(path: Path) -> bool:
    """Whether there is something of this name, if only a link to nothing: what is there has to be right."""
    return os.path.lexists(path)


def _parsed(path: Path) -> tuple[str, Table]:
    if path.exists() and not path.is_file():
        raise SettingsError(f"{path}: not a file")
    try:
        text = path.read_text(encoding="utf-8")
        return text, tomllib.loads(text)
    except OSError as error:
        raise SettingsError(f"{path}: {error.strerror or 'cannot be read'}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path}: not TOML: {error}") from None


def _check_rules(path: Path, text: str, table: Table) -> None:
    """The thresholds of alerts, which only the rules themselves know."""
    runs = cast("Mapping[str, Table]", table.get("runs", {}))
    said = {(): table, **{("runs", pattern): some for pattern, some in runs.items()}}
    if not any("alerts" in one for one in said.values()):
        return
    from .alerts import check_settings  # all rules, for the few who have set something about them
    from .alerts.options import RuleSettingsError

    for place, one in said.items():
        try:
            check_settings(RunSettings.model_validate(_of_a_run(one)).alerts)
        except RuleSettingsError as error:
            where = (*place, "alerts", error.rule, *((error.key,) if error.key else ()))
            raise _wrong(path, text, where, error.problem) from None


def _check_secrets(path: Path, table: Table) -> None:
    """An address that stands in the file itself holds a secret: then nobody else may read the file."""
    runs = cast("Mapping[str, Table]", table.get("runs", {}))
    said = [cast("Table", one.get("notify", {})) for one in (table, *runs.values())]
    urls = [url for one in said for url in cast("list[str]", one.get("urls", []))]
    if not urls or os.name != "posix":
        return
    from .notify.urls import is_plain  # for the few who have addresses

    if any(map(is_plain, urls)) and path.stat().st_mode & 0o077:
        raise SettingsError(
            f"{path}: notify.urls holds an address and others may read the file: `chmod 600 {path}`, "
            'or write "$NAME" there and keep the address in the environment'
        )


def _of_a_run(table: Table) -> Table:
    return {key: value for key, value in table.items() if key in RunSettings.model_fields}


def _wrong(path: Path, text: str, where: Iterable[str], what: str) -> SettingsError:
    key = tuple(where)
    return SettingsError(f"{path}, line {line_of(text, key)}: {'.'.join(key)}: {what}")


def _keys(table: Mapping[str, object], above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _keys(cast("Table", value), (*above, key))
        else:
            yield (*above, key)


def _over(below: Mapping[str, object], above: Mapping[str, object]) -> Table:
    merged = dict(below)
    for key, value in above.items():
        before = merged.get(key)
        if isinstance(before, dict) and isinstance(value, dict):
            value = _over(cast("Table", before), cast("Table", value))
        merged[key] = value
    return merged
