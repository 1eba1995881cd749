"""Targets that are no path: a word before a colon says where the run is read from.

Each place is a module with `open(target) -> Sequence[Source]`, which raises TargetError where the words mean
nothing, and does not connect yet: a source says by its SourceStatus how that went. Modules are named here as
text and imported when a target asks for one.
"""

from collections.abc import Sequence
from importlib import import_module
from typing import NamedTuple

from ..source import Source
from ..tells import Tells


class Place(NamedTuple):
    """A kind of target."""

    prefix: str
    """What its targets begin with."""
    module: str
    name: str = ""
    """What is read there, where that is not one of the formats; its module has `TELLS` then."""


PLACES: tuple[Place, ...] = (
    Place("wandb:", ".wandb_api", "W&B run on its server"),
    Place("https://", ".wandb_api"),
    Place("http://", ".wandb_api"),
    Place("ssh://", ".ssh"),
    Place("ray:", ".ray"),
    Place("tinker:", ".tinker", "Tinker's REST interface"),
    Place("demo:", ".demo"),
)


def place_of(target: str) -> Place | None:
    """The place that a target names; None where it is a path."""
    return next((place for place in PLACES if target.startswith(place.prefix)), None)


def open_place(place: Place, target: str) -> Sequence[Source]:
    """The sources of a target at a place.

    Raises:
        TargetError: its words mean nothing there.
    """
    return import_module(place.module, __name__).open(target)


def told_by_places() -> list[tuple[str, Tells]]:
    """(name, what it tells) of all that places read in ways of their own."""
    return [(place.name, import_module(place.module, __name__).TELLS) for place in PLACES if place.name]
