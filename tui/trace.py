"""A few values as a line one cell high. Pure."""

from collections.abc import Sequence

from .glyphs import BRAILLE, BRAILLE_BITS

ROWS = 4
LEVEL = 0.25
"""Share of their size that values must move by for their trace to fill its rows: a wobble is no trend."""


def trace(values: Sequence[float], width: int) -> str:
    """Values over up to `width` cells in braille, two a cell, the newest at the right."""
    count = min(2 * width, len(values))
    if count < 1:
        return ""
    points = [values[(index + 1) * len(values) // count - 1] for index in range(count)]
    low, high = min(points), max(points)
    room = LEVEL * abs(low + high) / 2
    # What hardly moves is kept to the middle of one row, or it would jump between two.
    reach, foot = (high - low, low) if high - low >= room else (room, (low + high) / 2 - room * 3 / 8)
    rows = [ROWS - 1 - min(max(int((value - foot) / (reach or 1.0) * ROWS), 0), ROWS - 1) for value in points]
    return "".join(
        chr(BRAILLE | sum(BRAILLE_BITS[side][row] for side, row in enumerate(rows[at : at + 2])))
        for at in range(0, count, 2)
    )
