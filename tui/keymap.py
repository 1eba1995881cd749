"""Other keys for what keys do: which ids there are, and whether what the user wants can be."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from itertools import combinations

from textual.binding import Binding

from . import bindings
from .app import VIEWS
from .screens.framed import FramedScreen

EVERYWHERE = "everywhere"
REPLAY = "in a replay"


class KeymapError(ValueError):
    """A key that cannot be had; `id` is what it was to do."""

    def __init__(self, id: str, problem: str) -> None:
        super().__init__(f"screen.keys.{id}: {problem}")
        self.id = id


@dataclass(slots=True)
class Known:
    """What a key does, and on which screens."""

    binding: Binding
    places: set[str] = field(default_factory=set[str])

    def keys(self, keymap: Mapping[str, str]) -> set[str]:
        """The keys that do it under a keymap."""
        said = keymap.get(self.binding.id or "", self.binding.key)
        return {key.strip() for key in said.split(",")}

    def meets(self, other: "Known") -> bool:
        """Whether both work at one time."""
        everywhere = {EVERYWHERE, REPLAY}
        return bool(self.places & other.places or everywhere & self.places or everywhere & other.places)


def known() -> dict[str, Known]:
    """All that keys do, by id. Imports every screen."""
    found: dict[str, Known] = {}

    def add(binding: Binding, place: str) -> None:
        if binding.id:
            found.setdefault(binding.id, Known(binding)).places.add(place)

    for binding in (*bindings.SCREENS, *bindings.GENERAL):
        add(binding, EVERYWHERE)
    for binding in bindings.REPLAY:
        add(binding, REPLAY)
    for name, view in VIEWS.items():
        module, _, kind = view.partition(":")
        screen: type[FramedScreen] = getattr(import_module(module, __package__), kind)
        for binding in screen.KEYS:
            add(binding, name)
    return found


def check(keymap: Mapping[str, str]) -> None:
    """Nothing, where these keys can be had: keys by id.

    Raises:
        KeymapError: an id is not known, or one key would do two things that are there together.
    """
    if not keymap:
        return
    ids = known()
    for id in keymap:
        if id not in ids:
            raise KeymapError(id, "no such id; `rltop config keys` lists them")
    for (one, mine), (other, theirs) in combinations(ids.items(), 2):
        if one not in keymap and other not in keymap:
            continue
        both = mine.keys(keymap) & theirs.keys(keymap)
        if both and mine.meets(theirs):
            moved, stays = (one, other) if one in keymap else (other, one)
            raise KeymapError(moved, f"{min(both)} is {stays} already")
