"""What a W&B run says, wherever its rows are read from: its file or its server.

Its one rule: both are told alike. Rows, configuration and console come in as W&B keeps them; whose keys they
are decides who makes events of them.
"""

import math
from collections.abc import Iterable, Iterator, Mapping

from ...models.event import Event, Progress
from ...models.run import ConfigValue, RunInfo
from .tb_tellers import PlainTeller, Teller, teller_of
from .tfevents import Group
from .verl.faults import Faults
from .verl.rayline import said

STEP_KEYS = ("train/global_step", "trainer/global_step", "rollout/step", "train/step", "eval/step", "_step")
"""Where a trainer keeps its own count, W&B's `_step` counts calls and not steps."""
OWN = ("_step", "_timestamp", "_runtime")
UNDECIDED_ROWS = 8


class WandbTelling:
    """Makes events of one run."""

    def __init__(self) -> None:
        self.last_step: int | None = None
        """The newest step, by the trainer's own count."""
        self._info = RunInfo()
        self._faults = Faults()
        self._teller: Teller | None = None
        self._undecided: list[Group] = []
        self._config: dict[str, ConfigValue] = {}
        self._progress: Progress | None = None

    def row(self, values: dict[str, float]) -> Iterable[Event]:
        """The events of one row of the history, which is used up."""
        key = next((key for key in STEP_KEYS if key in values), None)
        step = values.get(key, -1.0) if key is not None else -1.0
        if not 0 <= step < 2**53:
            return ()  # a row without a step, or with one that is no number
        at, runtime = values.get("_timestamp"), values.get("_runtime")
        for own in OWN:
            values.pop(own, None)
        self.last_step = max(int(step), self.last_step or 0)
        if runtime is not None and math.isfinite(runtime):
            self._progress = Progress(step=int(step), elapsed_s=runtime)
        group = Group(int(step), at if at is not None and math.isfinite(at) else 0.0, values)
        if self._teller is not None:
            return self._noted(self._teller.whole(group))
        self._undecided.append(group)
        tags = {tag for waiting in self._undecided for tag in waiting.values}
        teller = teller_of(tags)
        if teller is None and len(self._undecided) < UNDECIDED_ROWS:
            return ()
        return self._decide(teller or PlainTeller(None))

    def configured(self, config: Mapping[str, ConfigValue]) -> Iterator[Event]:
        """What is new in the configuration, flattened with dots."""
        if not config:
            return
        self._config.update(config)
        yield RunInfo(config=dict(config))
        if self._teller is not None:
            # What the framework's own reader makes of it.
            yield from self._noted(self._teller.config(self._config))

    def output(self, text: str) -> Iterator[Event]:
        """What the console's lines say of failures."""
        for line in text.splitlines():
            if self._faults.reading or "rror" in line or "Traceback" in line or "memory" in line:
                for one in said(line):
                    yield from self._faults.read(one.by, one.words, None)

    def progress(self) -> list[Event]:
        """Where the run stands, once, if that has changed."""
        told, self._progress = self._progress, None
        return [told] if told is not None else []

    def rest(self) -> list[Event]:
        """Nothing more is to come for now: rows whose framework is still not known are taken as they are."""
        return self._decide(PlainTeller(None)) if self._teller is None and self._undecided else []

    def flush(self) -> list[Event]:
        """Nothing more is to come at all."""
        return [*self.rest(), *self._faults.flush()]

    @property
    def short(self) -> str:
        """How far a run got that stopped before its last step, such as `step 40 of 100`; else empty."""
        last, total = self._info.last_step, self._info.total_steps
        if last is None or self.last_step is None or self.last_step >= last:
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
