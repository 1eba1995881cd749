"""`rltop config`: which files of settings there are, whether they are right, and what holds in the end."""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import cast

from pydantic_core import to_json

from ..models.settings import Settings, SettingsError
from ..models.text import printable
from ..monitor.config import is_there, load, origins, read
from ..monitor.settingline import line_of
from .flags import complain, config_files

SECRET = "(not shown)"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What to do, and with what."""
    does = parser.add_subparsers(dest="do", metavar="show|path|check|keys", required=True)
    show = does.add_parser("show", help="every setting that is said, and where")
    show.add_argument("target", nargs="?", metavar="TARGET", help="with what is said of this run alone")
    show.add_argument("--json", action="store_true", help="print JSON")
    does.add_parser("path", help="the files that are read, the more particular last")
    does.add_parser("keys", help="what keys do, by the id under which [screen.keys] gives it other keys")
    check = does.add_parser("check", help="exit 0 when all can be used, 2 with the file and line when not")
    check.add_argument("file", nargs="?", type=Path, metavar="FILE", help="one file (those that are read)")


def run(args: argparse.Namespace) -> int:
    """Show, locate or check the settings.

    Raises:
        SettingsError: a file cannot be used.
    """
    if args.do == "path":
        for path in config_files():
            print(printable(f"{path}{'' if is_there(path) else '  (not there)'}"))
        return 0
    if args.do == "keys":
        return _keys()
    if args.do == "check":
        return _check(config_files() if args.file is None else (args.file,), named=args.file is not None)
    return _show(args.target, args.json)


def _check(paths: Sequence[Path], named: bool) -> int:
    there = list(filter(is_there, paths))
    if named and not there:
        return complain(f"{paths[0]}: no such file")
    for path in there:
        table = read(path)
        _check_screen(path, table)
        count = len(list(_leaves(table)))
        print(f"{path}: fine, {count} setting{'' if count == 1 else 's'}")
    if not there:
        print("no rltop.toml: every setting has its default")
    return 0


def _check_screen(path: Path, table: Mapping[str, object]) -> None:
    """What only the screen knows: its themes and what its keys do."""
    if "screen" not in table:
        return
    from ..tui.looks import LooksError, check  # the screen, for the few who have said something of it

    try:
        check(Settings.model_validate({"screen": table["screen"]}).screen)
    except LooksError as error:
        line = line_of(path.read_text(encoding="utf-8"), ("screen", *error.place))
        raise SettingsError(f"{path}, line {line}: {error}") from None


def _show(target: str | None, as_json: bool) -> int:
    paths = config_files()
    said = load(paths, target)
    Settings.model_validate(said)
    where = origins(paths, target)
    told = [
        {
            "setting": ".".join(key),
            "value": SECRET if key[0] == "notify" and key[-1] == "urls" else value,
            "origin": where.get(key, ""),
        }
        for key, value in _leaves(said)
    ]
    if as_json:
        print(to_json(told, indent=2).decode())
    elif not told:
        print("no rltop.toml: every setting has its default")
    else:
        width = max(len(str(one["setting"])) for one in told)
        for one in told:
            print(printable(f"{one['setting']:<{width}}  {one['value']}  ({one['origin']})"))
    return 0


def _keys() -> int:
    from ..tui.keymap import known  # every screen, which no other word of this command needs

    keymap = Settings.model_validate(load(config_files())).screen.keys
    for id, what in known().items():
        keys, places = ",".join(sorted(what.keys(keymap))), ", ".join(sorted(what.places))
        print(f"{id:<20} {keys:<28} {what.binding.description}  ({places})")
    return 0


def _leaves(
    table: Mapping[str, object], above: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], object]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _leaves(cast("dict[str, object]", value), (*above, key))
        else:
            yield (*above, key), value
