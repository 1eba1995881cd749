"""Gathers what a console says of the run as a whole: commands, configuration, totals, names.

Its one rule: what the run prints of itself beats what it was asked for, and what it counts while it
runs beats what was computed beforehand.
"""

from collections.abc import Iterator

from ....models.event import Event
from ....models.run import RunInfo
from . import config, dump, overrides
from .dump import Dump
from .faults import HYDRA_ERROR
from .hints import Hint
from .telling import Telling


class RunFacts:
    """The facts of one console. A configuration dump is read over many lines."""

    def __init__(self, telling: Telling) -> None:
        self._telling = telling
        self._dump: Dump | None = None
        self._taken = False
        """The dump took the last statement: it begins no other dump, whatever it looks like."""
        self._command = False
        """The last line was a command that goes on in the next."""
        self._flat: dict[str, config.ConfigValue] = {}
        self._printed = False
        self._batches: int | None = None
        self._counted = False

    @property
    def reading(self) -> bool:
        """Whether a dump or command is open: then every line matters."""
        return self._dump is not None or self._command

    def takes(self, by: str, words: str) -> bool:
        """Give the statement to the open dump; False when it is not part of it."""
        self._taken = self._dump is not None and by == self._dump.by and self._dump.take(words)
        return self._taken

    def read(self, by: str, words: str) -> Iterator[Event]:
        """Dumps, commands and overrides in a statement."""
        if not self._taken and dump.starts(words):
            yield from self.end_dump()
            self._dump = Dump(by)
            self._dump.take(words)
        if self._dump is not None and self._dump.done:
            yield from self.end_dump()
        if HYDRA_ERROR in words and not self._printed:
            yield from self._asked_for(overrides.from_list(words[words.find(HYDRA_ERROR) :]))
        elif self._command or (
            not by and "verl.trainer" in words and "python" in words and "ERROR" not in words
        ):
            yield from self._asked_for(overrides.from_command(words.rstrip().removesuffix("\\")))
            self._command = words.rstrip().endswith("\\")

    def end_dump(self) -> Iterator[Event]:
        """The dump is over, or breaks off here."""
        if self._dump is None:
            return
        flat, self._dump = self._dump.flat, None
        yield from self.printed(flat)

    def printed(self, flat: dict[str, config.ConfigValue]) -> Iterator[Event]:
        """A configuration that the run has printed."""
        if any(key.startswith(("actor_rollout_ref.", "trainer.", "data.")) for key in flat):
            self._printed = True
            self._flat = {**self._flat, **flat}
            yield from self._telling.configured(flat, printed=True)
            yield from self._plan()

    def clear(self) -> None:
        """What was being read is void: the log starts again."""
        self._dump = None
        self._command = False

    def hint(self, found: Hint) -> Iterator[Event]:
        """Take note of what a plain line let slip."""
        if found.batches is not None:
            self._batches = found.batches
            yield from self._plan()
        if found.total_steps is not None:
            yield from self.counted(found.total_steps)
        info = self._telling.info
        learnt: dict[str, object] = {}
        if found.optimiser_steps and info.total_steps is None:
            learnt["total_steps"] = found.optimiser_steps
        if found.device and info.gpu_type is None:
            learnt["gpu_type"] = found.device
        if found.model and info.model is None:
            learnt["model"] = found.model
        if found.name and info.name is None:
            learnt["name"] = found.name
        if found.world_size and info.gpus is None:
            learnt["gpus"] = found.world_size
            learnt["notes"] = (f"{found.world_size} GPUs: the ranks that wrote the checkpoint",)
        if learnt:
            yield from self._telling.learn(RunInfo.model_validate(learnt))

    def counted(self, total_steps: int) -> Iterator[Event]:
        """The run itself says how many steps it will do."""
        if total_steps > 0:
            self._counted = True
            yield from self._telling.learn(RunInfo(total_steps=total_steps))

    def _asked_for(self, flat: dict[str, config.ConfigValue]) -> Iterator[Event]:
        if flat:
            self._flat = {**self._flat, **flat}
            yield from self._telling.configured(flat, printed=False)
            yield from self._plan()

    def _plan(self) -> Iterator[Event]:
        """Steps planned, once batches per epoch and epochs are both known."""
        total = config.steps_of(self._flat, self._batches)
        if total is not None and not self._counted:
            yield from self._telling.learn(RunInfo(total_steps=total))
