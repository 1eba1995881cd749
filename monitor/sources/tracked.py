"""The rows of an experiment tracker as events, whichever tracker kept them.

Its one rule: whose framework's keys the rows have is decided once, by the keys of several rows, and from then
on that framework's own reader makes the steps: a tracker and a console log of one run say the same.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import cast

from ...models.event import Event
from ...models.run import ConfigValue, RunInfo
from .tb_tellers import PlainTeller, Teller, teller_of
from .tfevents import Group

STEP_KEYS = ("train/global_step", "trainer/global_step", "rollout/step", "train/step", "eval/step")
"""Where a trainer keeps its own count: a tracker's own may count calls and not steps."""
UNDECIDED_ROWS = 8
LARGEST_STEP = 2**53
DEEPEST = 12


class TrackedRun:
    """Makes events of the rows and the configuration of one run."""

    def __init__(self) -> None:
        self.last_step: int | None = None
        self.total_steps: int | None = None
        """As the configuration has it."""
        self._teller: Teller | None = None
        self._undecided: list[Group] = []
        self._config: dict[str, ConfigValue] = {}

    def row(self, values: Mapping[str, float], step: float | None, at: float | None) -> Iterable[Event]:
        """The events of a row; `step` is the tracker's own count, `at` in unix seconds."""
        own = next((values[key] for key in STEP_KEYS if key in values), step)
        if own is None or not 0 <= own < LARGEST_STEP:
            return ()  # without a step, or with one that is no number
        went_back = self.last_step is not None and int(own) < self.last_step
        self.last_step = int(own)
        group = Group(int(own), at or 0.0, dict(values))
        if self._teller is not None:
            again = self._teller.resume(group) if went_back else ()
            return (*again, *self._teller.whole(group))
        self._undecided.append(group)
        teller = teller_of({tag for waiting in self._undecided for tag in waiting.values})
        if teller is None and len(self._undecided) < UNDECIDED_ROWS:
            return ()
        return self._decide(teller or PlainTeller(None))

    def configured(self, config: Mapping[str, ConfigValue]) -> Iterator[Event]:
        """The events of what the tracker was told of the configuration, flattened with dots."""
        if not config:
            return
        self._config.update(config)
        yield RunInfo(config=dict(config))
        yield from self._told_config()

    def flush(self) -> Iterable[Event]:
        """Rows whose framework was not known: no more will come to tell."""
        return self._decide(PlainTeller(None)) if self._undecided else ()

    @property
    def ended_short(self) -> bool:
        """Whether the steps known so far are fewer than the run was to have."""
        last, total = self.last_step, self.total_steps
        return last is not None and total is not None and last < total

    def _decide(self, teller: Teller) -> list[Event]:
        self._teller = teller
        waiting, self._undecided = self._undecided, []
        events = list(self._told_config())
        return events + [event for group in waiting for event in teller.whole(group)]

    def _told_config(self) -> Iterator[Event]:
        if self._teller is None or not self._config:
            return
        for event in self._teller.config(self._config):
            if isinstance(event, RunInfo) and event.total_steps is not None:
                self.total_steps = event.total_steps
            yield event


def flattened(document: Mapping[str, object], prefix: str = "", depth: int = 0) -> dict[str, ConfigValue]:
    """The scalars of a nested configuration, their keys joined by dots."""
    flat: dict[str, ConfigValue] = {}
    for key, value in document.items():
        if isinstance(value, dict) and depth < DEEPEST:
            flat |= flattened(cast("dict[str, object]", value), f"{prefix}{key}.", depth + 1)
        elif value is None or isinstance(value, str | int | float | bool):
            flat[prefix + key] = value
    return flat
