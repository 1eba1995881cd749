"""Other keys for what keys do: which ids there are, and whether what the user wants can be."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from itertools import combinations

from textual.binding import Binding
from textual.keys import KEY_NAME_REPLACEMENTS, Keys, key_to_character

from . import bindings
from .app import VIEWS
from .screens.framed import FramedScreen

EVERYWHERE = "everywhere"
REPLAY = "in a replay"
HELD = frozenset({"ctrl", "alt", "shift", "super", "meta", "hyper"})
NAMES = frozenset((*(key.value for key in Keys), *KEY_NAME_REPLACEMENTS.values()))


@dataclass(slots=True)
class Known:
    """What a key does, and on which screens."""

    binding: Binding
    places: set[str] = field(default_factory=set[str])

    def keys(self, keymap: Mapping[str, str]) -> set[str]:
        """The keys that do it under a keymap."""
        return set(_named(keymap.get(self.binding.id or "", self.binding.key)))

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


def problem_of(keymap: Mapping[str, str]) -> tuple[str, str] | None:
    """(id, why) of the first of these keys by id that cannot be had; None where all can.

    An id may be unknown, a key may be none, or it would do two things that are there together.
    """
    ids = known()
    for id, said in keymap.items():
        if id not in ids:
            return id, "no such id; `rltop config keys` lists them"
        for key in _named(said):
            if not _is_key(key):
                return id, f"{key or 'nothing'} is no key; say such as c, f2, ctrl+x, or several: c,f2"
    for (one, mine), (other, theirs) in combinations(ids.items(), 2):
        if one not in keymap and other not in keymap:
            continue
        both = mine.keys(keymap) & theirs.keys(keymap)
        if both and mine.meets(theirs):
            moved, stays = (one, other) if one in keymap else (other, one)
            return moved, f"{min(both)} is {stays} already"
    return None


def _named(keys: str) -> list[str]:
    """The names of keys that are parted by commas: `/` is `slash`."""
    every = [key.strip() for key in keys.split(",")]
    return [next(iter(Binding.make_bindings([Binding(key, "", "")]))).key if key else "" for key in every]


def _is_key(name: str) -> bool:
    """Whether a terminal may send it: a sign, or a key with a name, also with ctrl, alt or shift."""
    *held, key = name.split("+")
    return set(held) <= HELD and (key in NAMES or key_to_character(key) is not None)
