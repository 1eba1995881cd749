"""The rows of an experiment tracker as events, whichever tracker kept them.

Its one rule: whose framework's keys the rows have is decided once, by the keys of several rows, and from then
on that framework's own reader makes the steps: a tracker and a console log of one run say the same.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import cast

from ...models.event import Event
from ...models.run import ConfigValue, RunInfo
from .tb_tellers import PlainTeller, Teller, TrlTeller, teller_of, teller_of_config
from .tfevents import Group

STEP_KEYS = ("train/global_step", "trainer/global_step", "rollout/step", "train/step", "eval/step")
"""Where a trainer keeps its own count: a tracker's own may count calls and not steps."""
UNDECIDED_ROWS = 8
LARGEST_STEP = 2**53
DEEPEST = 12


class TrackedRun:
    """Makes events of the rows and the configuration of one run.

    `resumes`: a lower step means that the run was resumed there. Where rows of evaluations have steps of
    their own, as in W&B, it means nothing.
    """

    def __init__(self, resumes: bool = True) -> None:
        self.last_step: int | None = None
        """The newest step, by the trainer's own count."""
        self._resumes = resumes
        self._info = RunInfo()
        self._teller: Teller | None = None
        self._undecided: list[Group] = []
        self._config: dict[str, ConfigValue] = {}

    def row(self, values: dict[str, float], step: float | None, at: float | None) -> Iterable[Event]:
        """The events of a row, which is used up; `step` is the tracker's own count, `at` in unix seconds."""
        own = next((values[key] for key in STEP_KEYS if key in values), step)
        if own is None or not 0 <= own < LARGEST_STEP:
            return ()  # without a step, or with one that is no number
        before = self.last_step
        went_back = self._resumes and before is not None and int(own) < before
        self.last_step = int(own) if self._resumes else max(int(own), before or 0)
        group = Group(int(own), at if at is not None and math.isfinite(at) else 0.0, values)
        if self._teller is not None:
            again = self._teller.resume(group) if went_back else ()
            return self._noted((*again, *self._teller.whole(group)))
        self._undecided.append(group)
        teller = teller_of({tag for waiting in self._undecided for tag in waiting.values})
        if teller is None and len(self._undecided) < UNDECIDED_ROWS:
            return ()
        return self._decide(teller or PlainTeller(None))

    def configured(self, config: Mapping[str, ConfigValue]) -> Iterator[Event]:
        """The events of what is new in the configuration, flattened with dots."""
        if not config:
            return
        self._config.update(config)
        yield RunInfo(config=dict(config))
        if self._teller is None and not self._undecided and (found := teller_of_config(self._config)):
            # The first row may be long in coming.
            framework, self._teller = found
            yield RunInfo(framework=framework, platform="self-hosted")
        if self._teller is not None:
            # What the framework's own reader makes of it.
            yield from self._noted(self._teller.config(self._config))

    def flush(self) -> list[Event]:
        """Nothing more is to come for now: rows whose framework is not known are taken as they are."""
        return self._decide(PlainTeller(None)) if self._teller is None and self._undecided else []

    @property
    def short(self) -> str:
        """How far a run got that stopped before its last step, such as `step 40 of 100`; else empty."""
        last, total = self._info.last_step, self._info.total_steps
        about = self._teller.total_off_by if isinstance(self._teller, TrlTeller) else 0
        if last is None or self.last_step is None or self.last_step >= last - about:
            return ""
        return f"step {self.last_step} of {total}"

    def _decide(self, teller: Teller) -> list[Event]:
        self._teller = teller
        waiting, self._undecided = self._undecided, []
        events = self._noted(teller.config(self._config))
        return events + [event for group in waiting for event in self._noted(teller.whole(group))]

    def _noted(self, events: Iterable[Event]) -> list[Event]:
        """The events, after a look at how many steps they say there are."""
        told = list(events)
        for event in told:
            if isinstance(event, RunInfo):
                self._info = self._info.merged(event.model_copy(update={"config": {}}))
        return told


def flattened(document: Mapping[str, object], prefix: str = "", depth: int = 0) -> dict[str, ConfigValue]:
    """The scalars of a nested configuration, their keys joined by dots."""
    flat: dict[str, ConfigValue] = {}
    for key, value in document.items():
        if isinstance(value, dict) and depth < DEEPEST:
            flat |= flattened(cast("dict[str, object]", value), f"{prefix}{key}.", depth + 1)
        elif value is None or isinstance(value, str | int | float | bool):
            flat[prefix + key] = value
    return flat
