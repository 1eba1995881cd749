"""The numbers that a home-made training loop prints: `Loss: 0.5 | acc=62.5% | time 130ms`.

Its one rule: a number counts only when it is whole and its unit is one that is known; `1.2k` and `00:12:05`
are left out rather than misread.
"""

import re
from typing import NamedTuple

from .pyrepr import number_of

_VALUE = (
    r"(?P<value>[-+]?(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|\.\d+|nan|inf))"
    r"[ ]?(?P<unit>%|ms\b|s\b|min\b)?(?![\w:/]|[.,]\d)"
)
NAMED = re.compile(
    r"(?P<name>[A-Za-z][\w ./@-]{0,60}?)['\"*]{0,3}[ ]?(?:\((?P<per>ms|s|sec|%)\))?"
    rf"\s*[:=]\s*['\"]?{_VALUE}"
)
"""`Grad Norm: 1.5`, `loss=0.5`, `'loss': '0.5'`, `time per iteration (ms): 130`."""
SPACED = re.compile(rf"(?P<name>[A-Za-z][\w./-]{{0,40}}(?:[ ][A-Za-z][\w./-]{{0,40}}){{0,2}})[ ]+{_VALUE}")
"""`train loss 2.5`, in the manner of nanoGPT."""
CELLS = re.compile(r"\s*(?:,(?!\d)|[|;])\s*|\s+[-–—]+\s+|(?<![:=\s])\s{2,}")
LONGEST = 10_000
"""Characters of a cell: hundreds of pairs. What is longer is text, and slow to search."""
SCALES = {"%": 0.01, "ms": 0.001, "min": 60.0}


class Pairs(NamedTuple):
    """Numbers by name."""

    raw: dict[str, float]
    """As printed."""
    scaled: dict[str, float]
    """In seconds and shares, where the unit is printed with the number."""


def pairs_of(text: str) -> Pairs:
    """The numbers of a line, from behind its place."""
    raw: dict[str, float] = {}
    scaled: dict[str, float] = {}
    for cell in CELLS.split(text):
        if len(cell) > LONGEST:
            continue
        found = list(NAMED.finditer(cell)) or SPACED.finditer(cell)
        for match in found:
            number = number_of(match["value"].replace(",", ""))
            if number is None:
                continue
            name = match["name"].strip()
            raw[name] = number
            unit = match["unit"] or match.groupdict().get("per") or ""
            scaled[name] = number * SCALES.get(unit, 1.0)
    return Pairs(raw, scaled)
