"""From a device string to a row of the GPU table.

The one rule: whole words must agree, so that an H200 is no H20 and an L40S no L40.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from ...models.money import GpuPrice

_WORD = re.compile(r"[A-Z0-9]+")
_COUNT = re.compile(r"^\d+X(?=[A-Z])")  # 8xB200
_FORM = re.compile(r"(?<=\d)(SXM\d?|PCIE|NVL)$")  # H100SXM5, H100PCIe
_SIZE = re.compile(r"^(\d+)GB?$")  # 80G, 80GB
_GEFORCE = re.compile(r"^RTX(\d+)$")  # RTX4090
_SHARE = re.compile(r"^(MIG|VGPU|LAPTOP|MOBILE|MAX|D|\d+[CQ])$")
"""A slice of a card, a vGPU profile, or a cut-down variant: neither its price nor its peak is the card's."""


@dataclass(frozen=True, slots=True)
class GpuTable:
    """Rows of `data/gpus.json`: the fields of GpuPrice and `match`, the words that a name must have."""

    rows: tuple[Mapping[str, object], ...]
    _found: dict[str, GpuPrice | None] = field(
        default_factory=dict[str, "GpuPrice | None"], repr=False, compare=False
    )

    def find(self, name: str) -> GpuPrice | None:
        """The row whose words all stand in `name`, the most specific one; None when none does."""
        if name not in self._found:
            self._found[name] = self._search(name)
        return self._found[name]

    def _search(self, name: str) -> GpuPrice | None:
        words = words_of(name)
        if any(_SHARE.match(word) for word in words):
            return None
        fits = [row for row in self.rows if words.issuperset(_match(row))]
        if not fits:
            return None
        most = max(len(_match(row)) for row in fits)
        best = [row for row in fits if len(_match(row)) == most]
        return _price(best[0]) if len(best) == 1 else None

    def prices(self) -> tuple[GpuPrice, ...]:
        """The whole table."""
        return tuple(_price(row) for row in self.rows)


def words_of(name: str) -> frozenset[str]:
    """The words of a device string, upper case, with counts, form factors and sizes set apart."""
    words: set[str] = set()
    for word in _WORD.findall(name.upper()):
        word = _COUNT.sub("", word)
        form = _FORM.search(word)
        if form:
            words.add(form.group())
            word = word[: form.start()]
        if size := _SIZE.match(word):
            word = f"{size.group(1)}GB"
        if geforce := _GEFORCE.match(word):
            words.add("RTX")
            word = geforce.group(1)
        words.add(word)
    return frozenset(words)


def _match(row: Mapping[str, object]) -> tuple[str, ...]:
    match = row["match"]
    return tuple(match) if isinstance(match, list) else ()  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


def _price(row: Mapping[str, object]) -> GpuPrice:
    return GpuPrice.model_validate({key: value for key, value in row.items() if key != "match"})
