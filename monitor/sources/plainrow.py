"""Rows that are nothing but numbers, as nearly all are. Its one rule: that is decided for the whole row, by
the types alone, so that no number is looked at in Python.
"""

from collections.abc import Mapping
from typing import cast

_NUMBERS = frozenset((int, float))


def floats_of(row: Mapping[str, object]) -> dict[str, float] | None:
    """The row as floats; None where some of it is no number, or fits no float."""
    values = cast("list[float]", list(row.values()))
    if not _NUMBERS.issuperset(map(type, values)):
        return None
    try:
        return dict(zip(row, map(float, values), strict=True))
    except OverflowError:
        return None
