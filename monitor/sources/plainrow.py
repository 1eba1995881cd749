"""Rows that are nothing but numbers, as nearly all are. Its one rule: that is decided for the whole row, by
the types alone, so that no number is looked at in Python.
"""

from typing import cast

_NUMBERS = frozenset((int, float))


def floats_of(row: dict[str, object]) -> dict[str, float] | None:
    """The row itself, its whole numbers made floats; None where some of it is no number, or fits no float."""
    types = set(map(type, row.values()))
    if not types <= _NUMBERS:
        return None
    if int in types:
        try:
            row.update([(key, float(cast("int", value))) for key, value in row.items() if type(value) is int])
        except OverflowError:
            return None
    return cast("dict[str, float]", row)
