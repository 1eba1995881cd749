"""Where in a TOML file a setting stands. Pure; the file is known to be TOML already."""

import re
from collections.abc import Sequence

_HEADER = re.compile(r"\[{1,2}(.*)\]{1,2}\s*(?:#[^\]]*)?$")
_PART = re.compile(r'"([^"]*)"|\'([^\']*)\'|([^.\s"\']+)')


def line_of(text: str, key: Sequence[str]) -> int:
    """The line, from 1, that gives `key`, or as much of it as has a line of its own; else the first."""
    best, depth = 1, 0
    table: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), start=1):
        line = line.strip()
        header = _HEADER.match(line)
        if header:
            path = table = _parts(header[1])
        elif "=" in line and not line.startswith("#"):
            path = (*table, *_parts(line.split("=", 1)[0]))
        else:
            continue
        if len(path) > depth and path == tuple(key[: len(path)]):
            best, depth = number, len(path)
    return best


def _parts(dotted: str) -> tuple[str, ...]:
    return tuple(a or b or c for a, b, c in _PART.findall(dotted))
