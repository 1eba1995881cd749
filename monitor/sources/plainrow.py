"""Rows that are nothing but numbers, as nearly all are. Its one rule: the types alone decide, and a row
is looked through once, since a long log has millions of numbers.
"""

from typing import cast


def floats_of(row: dict[str, object]) -> dict[str, float] | None:
    """The row itself, its whole numbers made floats; None where some of it is no number, or fits no float."""
    for key in [key for key, value in row.items() if type(value) is not float]:
        value = row[key]
        if type(value) is not int:
            return None
        try:
            row[key] = float(value)
        except OverflowError:
            return None
    return cast("dict[str, float]", row)
