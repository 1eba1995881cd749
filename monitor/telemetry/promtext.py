"""Prometheus' text format, for the few names that are wanted. Its one rule: what is no number is left out.

A page of an engine has thousands of histogram lines, and a full parser takes 40 µs for each: whatever does
not begin with a wanted name is passed over first.
"""

import math
import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

LINE = re.compile(r"""([A-Za-z_:][\w:]*)\s*(?:\{((?:[^"}]|"(?:[^"\\]|\\.)*")*)\})?\s+(\S+)""")
LABEL = re.compile(r"""([A-Za-z_]\w*)\s*=\s*"((?:[^"\\]|\\.)*)\"""")
ESCAPE = re.compile(r"\\(.)")


class Point(NamedTuple):
    """One number of one series."""

    name: str
    labels: dict[str, str]
    value: float


def points(text: str, wanted: Collection[str]) -> Iterator[Point]:
    """The numbers of the wanted names, in the order of the page. NaN and infinities are no numbers."""
    prefixes, names = tuple(wanted), frozenset(wanted)
    for line in text.split("\n"):  # and not where else Unicode ends a line: a label may hold that
        if not line.startswith(prefixes):
            continue
        match = LINE.match(line)
        if match is None or match[1] not in names:
            continue
        value = number(match[3])
        if value is not None:
            yield Point(match[1], _labels(match[2] or ""), value)


def number(text: str) -> float | None:
    """A value as Prometheus writes it; None for NaN, infinities and what is no number."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _labels(text: str) -> dict[str, str]:
    return {
        name: ESCAPE.sub(_unescaped, value) if "\\" in value else value for name, value in LABEL.findall(text)
    }


def _unescaped(match: "re.Match[str]") -> str:
    return "\n" if match[1] == "n" else match[1]
