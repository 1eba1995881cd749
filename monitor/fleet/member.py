"""One log of a run that may be logged in several: its sources, and what it has told so far.

Its one rule: a step is kept here until the run has taken what it needs of it, and no longer.
"""

import os
from collections import Counter, deque
from collections.abc import Iterable, Sequence

from ...models.event import Event, SourceStatus
from ...models.gpu import GpuSample
from ...models.step import Eval, Step
from ..source import Source
from .choice import told_by
from .evidence import Telling, Verdict

Key = tuple[int, int]
"""(step, attempt)."""


class Member:
    """A log, read to its end and then followed."""

    def __init__(self, name: str, sources: Sequence[Source], named: bool = False) -> None:
        self.name = name
        """What the user calls it: in notes."""
        self.named = named
        """It is of another run for certain: not read, and no more than named."""
        self.verdict: Verdict | None = None
        """Whether it is of the run; None until it has been compared."""
        self.queue: deque[Event] = deque()
        """Everything told and not passed on yet, in order, but for what lies apart below."""
        self.evals: deque[Eval] = deque()
        self.samples: deque[GpuSample] = deque()
        self.statuses: list[SourceStatus] = []
        """News of how reading goes."""
        self.latest: dict[str, SourceStatus] = {}
        """By path."""
        self.parts: dict[Key, Step] = {}
        self.newest: Key | None = None
        self.count = 0
        """Steps told, each attempt for itself."""
        self.told: Counter[str] = Counter()
        """Fields told, by group."""
        self.keys: set[str] = set()
        """The log's own names of numbers."""
        self.kinds: Counter[str] = Counter()
        """Events told, by kind."""
        self.attempts = 0
        self.plain = False
        """There is no other log: what is told is passed on, and none of it is kept."""
        self._sources = sources

    @property
    def more(self) -> bool:
        """Whether more lies waiting right now."""
        return any(source.more for source in self._sources)

    @property
    def called(self) -> str:
        """The name of its first file: a folder may hold several logs."""
        first = next(iter(self.latest), "")
        return os.path.basename(first.rstrip("/")) or self.name

    def poll(self, now: float) -> list[Key]:
        """Read on; the steps that something new was told of."""
        return self.take(event for source in self._sources for event in source.poll(now))

    def close(self) -> list[Key]:
        """Take what the sources held back, and let go of them."""
        return self.take(event for source in self._sources for event in source.close())

    def take(self, events: Iterable[Event]) -> list[Key]:
        """Keep events; the steps that something new was told of."""
        news: list[Key] = []
        for event in events:
            if isinstance(event, SourceStatus):
                self.statuses.append(event)
                self.latest[event.path] = event
                continue
            self.queue.append(event)
            if self.plain:
                continue
            self.kinds[event.kind] += 1
            if isinstance(event, Step):
                news.append(self._keep(event))
        return news

    def all_of_it(self) -> list[Event]:
        """What has been told since the last time, for a run that has no other log."""
        events = [*self.queue, *self.statuses]
        self.queue.clear()
        self.statuses.clear()
        self.parts.clear()
        return events

    def _keep(self, step: Step) -> Key:
        key = (step.step, step.attempt)
        before = self.parts.get(key)
        self.parts[key] = step if before is None else over(before, step)
        self.count += before is None
        self.newest = key
        self.told.update(told_by(step))
        self.keys.update(step.raw)
        self.attempts = max(self.attempts, step.attempt)
        return key

    def telling(self, steps: Iterable[int] | None = None) -> Telling:
        """The numbers of some steps, or of all that are still kept, to compare them with another log's."""
        wanted = None if steps is None else set(steps)
        telling = Telling()
        for (step, _), part in self.parts.items():
            if wanted is None or step in wanted:
                telling.add(part)
        return telling

    def steps(self) -> set[int]:
        """Numbers of the steps that are still kept."""
        return {step for step, _ in self.parts}

    def sort_out(self) -> None:
        """Part what was told: readings and evaluations wait for their steps, which are kept as parts."""
        rest: list[Event] = []
        for event in self.queue:
            if isinstance(event, Eval):
                self.evals.append(event)
            elif isinstance(event, GpuSample):
                self.samples.append(event)
            elif not isinstance(event, Step):
                rest.append(event)
        self.queue.clear()
        self.queue.extend(rest)


def over(before: Step, later: Step) -> Step:
    """Two parts of a step as one: the later wins."""
    known = {name: value for name in later.model_fields_set if (value := getattr(later, name)) is not None}
    known["raw"] = {**before.raw, **later.raw}
    known["phases"] = {**before.phases, **later.phases}
    return before.model_copy(update=known)
