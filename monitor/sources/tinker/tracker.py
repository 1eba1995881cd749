"""A Tinker run in a tracker, such as W&B, where the cookbook logs the rows of metrics.jsonl too.

The one rule: a row is read as the same row of the file is.
"""

from collections.abc import Iterable, Mapping
from typing import cast

from pydantic_core import to_json

from ....models.event import Event
from ....models.run import ConfigValue, RunInfo
from ...source import Line
from ..tfevents import Group
from .config import Settings, info_of
from .facts import RunFacts
from .metrics import MetricsParser


class TinkerTeller:
    """Makes events of the rows of one run."""

    def __init__(self) -> None:
        self._facts = RunFacts()
        self._parser = MetricsParser(self._facts)
        self._named = False

    def whole(self, group: Group) -> Iterable[Event]:
        """The events of a row."""
        row = to_json({**group.values, "step": group.step}, inf_nan_mode="constants").decode()
        events = self._parser.feed(Line(row, group.at or None))
        if self._named:
            return events
        self._named = True
        return [RunInfo(framework="tinker", platform="tinker"), *events]

    def resume(self, group: Group) -> Iterable[Event]:
        """Nothing: a row that goes back says so itself."""
        return ()

    def text(self, tag: str, text: str) -> Iterable[Event]:
        """Nothing: the cookbook logs its samples as text."""
        return ()

    def config(self, config: Mapping[str, ConfigValue]) -> Iterable[Event]:
        """What config.json says, of which a tracker has all but lists."""
        info = info_of(_nested(config))
        self._facts.max_tokens = info.max_tokens
        self._facts.save_every = info.save_every
        if info.total_steps is not None:
            self._facts.total_steps = info.total_steps
        return [info]


def _nested(config: Mapping[str, ConfigValue]) -> Settings:
    """Settings whose names were joined with dots, as they were."""
    settings: Settings = {}
    for name, value in config.items():
        *outer, last = name.split(".")
        place = settings
        for part in outer:
            inner = place.setdefault(part, {})
            if not isinstance(inner, dict):
                break  # a name with a dot in it
            place = cast(Settings, inner)
        else:
            place[last] = value
    return settings
