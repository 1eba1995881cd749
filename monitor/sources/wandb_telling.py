"""What a W&B run says, wherever its rows are read from: its file or its server.

Its one rule: both are told alike. Rows, configuration and console come in as W&B keeps them; whose keys they
are decides who makes events of them.
"""

import math
from collections.abc import Iterable, Iterator, Mapping

from ...models.event import Event, Progress
from ...models.run import ConfigValue
from .tracked import LARGEST_STEP, STEP_KEYS, TrackedRun
from .verl.faults import Faults
from .verl.rayline import said

OWN = ("_step", "_timestamp", "_runtime")


class WandbTelling:
    """Makes events of one run."""

    def __init__(self) -> None:
        self._run = TrackedRun(resumes=False)
        self._faults = Faults()
        self._at: tuple[int, float] | None = None
        """The newest row's step, and seconds since the start."""

    @property
    def last_step(self) -> int | None:
        """The newest step, by the trainer's own count."""
        return self._run.last_step

    @property
    def short(self) -> str:
        """How far a run got that stopped before its last step, such as `step 40 of 100`; else empty."""
        return self._run.short

    def row(self, values: dict[str, float]) -> Iterable[Event]:
        """The events of one row of the history, which is used up."""
        count, at, runtime = (values.pop(own, None) for own in OWN)
        step = next((values[key] for key in STEP_KEYS if key in values), count)
        if step is not None and 0 <= step < LARGEST_STEP and runtime is not None and math.isfinite(runtime):
            self._at = int(step), runtime
        return self._run.row(values, count, at)

    def configured(self, config: Mapping[str, ConfigValue]) -> Iterator[Event]:
        """What is new in the configuration, flattened with dots."""
        return self._run.configured(config)

    def output(self, text: str) -> Iterator[Event]:
        """What the console's lines say of failures."""
        for line in text.splitlines():
            if self._faults.reading or "rror" in line or "Traceback" in line or "memory" in line:
                for one in said(line):
                    yield from self._faults.read(one.by, one.words, None)

    def progress(self) -> list[Event]:
        """Where the run stands, once, if that has changed."""
        at, self._at = self._at, None
        return [Progress(step=at[0], elapsed_s=at[1])] if at is not None else []

    def rest(self) -> list[Event]:
        """Nothing more is to come for now: rows whose framework is still not known are taken as they are."""
        return self._run.flush()

    def flush(self) -> list[Event]:
        """Nothing more is to come at all."""
        return [*self.rest(), *self._faults.flush()]
