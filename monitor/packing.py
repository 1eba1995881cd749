"""Old cells in little room. Its one rule: what is read back is what was packed, of raw keys its first seven
digits.

Bytes of the same rank lie together: signs, exponents and the first digits of neighbours are much alike, and
are compressed; the last digits of measured values are noise and stand as they are.
"""

import math
import zlib
from array import array
from typing import NamedTuple

from .newest import NAN

SINGLE = 2.0**24
"""Below it, single precision holds seven digits, and whole numbers exactly."""
MOST_MEMORY = 9
"""What the compressor may take for its work, which makes its output shorter."""
REMEMBERED = 1024
"""Columns of a block that may have cells in common."""


class Packed(NamedTuple):
    """Cells from row `first` on."""

    first: int
    length: int
    code: str
    """The precision of an array's cells."""
    planes: tuple[bytes, ...]
    """All first bytes, all second bytes, …, compressed where that is shorter; none where all are `same`."""
    same: float = NAN


class Packer:
    """Packs the columns of a history. Cells that two columns have in common are kept once: most of our own
    quantities are one of the log's under another name.
    """

    def __init__(self) -> None:
        self._last: dict[tuple[int, bytes, bool], Packed] = {}
        """What was packed last, by first row, digest and exactness."""

    def packed(self, first: int, cells: "array[float]", exact: bool) -> Packed:
        """As `packed`."""
        from hashlib import blake2b  # 2 ms, for which most runs are too short

        digest = blake2b(cells, digest_size=16).digest()
        same = self._last.get((first, digest, True)) or self._last.get((first, digest, exact))
        if same is not None:
            return same
        if len(self._last) >= REMEMBERED:
            del self._last[next(iter(self._last))]
        self._last[first, digest, exact] = fresh = packed(first, cells, exact)
        return fresh


def packed(first: int, cells: "array[float]", exact: bool) -> Packed:
    """The cells, packed; `exact`, to the last digit."""
    if cells.tobytes() == cells[:1].tobytes() * len(cells):
        return Packed(first, len(cells), "d", (), cells[0])
    code = "f" if _fits_single(cells, exact) else "d"
    data = array(code, cells)
    size, whole = data.itemsize, data.tobytes()
    return Packed(first, len(cells), code, tuple(_short(whole[rank::size]) for rank in range(size)))


def unpacked(block: Packed) -> "array[float]":
    """The cells."""
    if not block.planes:
        return array("d", [block.same]) * block.length
    size = len(block.planes)
    whole = bytearray(block.length * size)
    for rank, plane in enumerate(block.planes):
        whole[rank::size] = plane if len(plane) == block.length else zlib.decompress(plane, -zlib.MAX_WBITS)
    return array("d", array(block.code, bytes(whole)))


def _fits_single(cells: "array[float]", exact: bool) -> bool:
    """Whether nothing is lost in single precision; unless `exact`, nothing that matters."""
    if exact:
        return array("d", array("f", cells)).tobytes() == cells.tobytes()
    finite = cells if math.isfinite(sum(cells)) else [cell for cell in cells if math.isfinite(cell)]
    return min(finite, default=0.0) > -SINGLE and max(finite, default=0.0) < SINGLE


def _short(plane: bytes) -> bytes:
    """Compressed by runs and frequencies alone: looking for repeated passages takes longer and finds none."""
    press = zlib.compressobj(1, zlib.DEFLATED, -zlib.MAX_WBITS, MOST_MEMORY, zlib.Z_RLE)
    short = press.compress(plane) + press.flush()
    return short if len(short) < len(plane) else plane
