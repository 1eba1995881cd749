"""One run that is logged in several places, as one source.

Its one rule: one log leads. Its steps, its restarts and its end are the run's; the other logs only add what
it does not tell, to steps that it does tell. So no step counts twice, and no token is paid for twice.

All logs are read to their ends before the first step is passed on. A step told later waits a moment for the
other logs; what comes later still is added to it while it is among the newest two, and after that only as
long as that costs little, since it makes the pipeline start anew.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce
from typing import Any

from ...models.event import Ended, Event, LogLine, Progress, Totals
from ...models.gpu import Serving
from ...models.run import RunInfo
from ...models.step import Eval, Step
from .choice import GROUPS
from .circle import Circle, News
from .member import Key, Member, over

PATIENCE_S = 3.0
"""How long a step waits for what the other logs tell of it."""
OPEN_ROWS = 2
"""As in the fold: so many of the newest steps may still be added to without anything starting anew."""
LATE_ROWS = 5000
"""Rows gone through anew at most for what was told late, a minute."""
LATE_S = 60.0
LAG = 3
"""A log that is further behind than so many steps is not waited for."""
KEPT = 512
"""Steps of the leader kept to compare a log with that tells too little so far."""


class Joined:
    """Joins logs to the first of them; `find` and `said` are those of Circle."""

    def __init__(
        self, first: Member, find: Callable[[set[str]], Sequence[Member]], said: bool = False
    ) -> None:
        self._logs = Circle(first, find, said)
        self._given: dict[Key, int] = {}
        """For each step passed on: a bit for each of the other logs that has added to it."""
        self._recent: list[Key] = []
        self._caught_up = False
        """What was there before we came has been passed on."""
        self._held_since: float | None = None
        self._ahead_since: float | None = None
        self._late: dict[Key, Step] = {}
        self._late_at = float("-inf")
        self._known: set[str] = set()
        """Facts that the leader has told: `field`, or `config.key`."""
        self._lines: set[str] = set()

    @property
    def more(self) -> bool:
        """Whether more lies waiting right now."""
        return self._logs.more

    def poll(self, now: float) -> list[Event]:
        """Events since the last call."""
        news = self._logs.read(now)
        if not self._logs.is_alone and not self._logs.settled and not self._logs.settle():
            return [*self._logs.statuses(), *self._before()]
        return self._passed_on(now, news)

    def close(self) -> list[Event]:
        """All that is left, with no more waiting for anyone."""
        news = self._logs.close()
        if not self._logs.is_alone and not self._logs.settled:
            self._logs.settle(anyway=True)
        self._late_at = float("-inf")
        return self._passed_on(None, news)

    def _passed_on(self, now: float | None, news: News) -> list[Event]:
        """What the run tells; None for `now` when nothing more is to come."""
        if self._logs.is_alone:
            return self._logs.leader.all_of_it()
        events = [*self._logs.statuses(), *self._release(now, news)]
        return [*events, *self._logs.statuses()]

    def _before(self) -> Iterator[Event]:
        """What can be said before there is a step: facts and lines of the log that was named first."""
        first = self._logs.leader
        while first.queue and isinstance(first.queue[0], RunInfo | LogLine):
            event = first.queue.popleft()
            if isinstance(event, RunInfo):
                yield from self._fact(first, event)
            elif isinstance(event, LogLine):
                yield from self._line(event)

    def _release(self, now: float | None, news: News) -> Iterator[Event]:
        if self._logs.apart and any(news.values()) and self._logs.judge():
            self._logs.choose()
            news = {member: list(member.parts) for member in self._logs.others}
        elif any(member.told.keys() - self._logs.owner.keys() for member in self._logs.others):
            self._logs.choose()
        others = self._logs.others
        for member in others:
            member.sort_out()
            for event in member.queue:
                if isinstance(event, RunInfo):
                    yield from self._fact(member, event)
        yield from self._steps(now)
        yield from self._ahead(now)
        for index, member in enumerate(others):
            yield from self._added(index, news.get(member, ()))
        yield from self._late_parts(now)
        yield from self._endings(others)
        self._forget(news)
        self._caught_up = True

    def _steps(self, now: float | None) -> Iterator[Event]:
        """What the leader tells, in its order, each step with what the others tell of it."""
        leader = self._logs.leader
        while leader.queue:
            event = leader.queue[0]
            if isinstance(event, Step):
                missing = self._missing(event)
                if missing and now is not None:
                    self._held_since = now if self._held_since is None else self._held_since
                    if now - self._held_since < PATIENCE_S and self._caught_up:
                        return
                self._held_since = None
                leader.queue.popleft()
                yield from self._up_to(event)
                yield from self._step(event, open_=bool(missing))
                continue
            leader.queue.popleft()
            if isinstance(event, RunInfo):
                yield from self._fact(leader, event)
            elif isinstance(event, LogLine):
                yield from self._line(event)
            elif not isinstance(event, Eval | Totals | Progress) or self._logs.owner[event.kind] is leader:
                yield event

    def _ahead(self, now: float | None) -> Iterator[Event]:
        """Steps that other logs tell and the leader has not come to: it may have stopped before the run did.

        Should it tell them later, they are the same steps, and told as the leader tells them.
        """
        leader = self._logs.leader
        newest = leader.newest
        if newest is None or leader.queue:
            return
        ahead = {
            (step, leader.attempts)
            for member in self._logs.others
            for step, attempt in member.parts
            if step > newest[0] and attempt == member.attempts and (step, leader.attempts) not in self._given
        }
        if not ahead:
            self._ahead_since = None
            return
        if self._ahead_since is None:
            self._ahead_since = now if self._caught_up else float("-inf")
        if now is not None and self._ahead_since is not None and now - self._ahead_since < PATIENCE_S:
            return
        for key in sorted(ahead):
            parts = [part for member in self._logs.others if (part := self._part(member, *key)) is not None]
            step = reduce(over, reversed(parts))
            self._pass(key)
            yield step.model_copy(update={"attempt": key[1], "complete": False})

    def _pass(self, key: Key) -> None:
        """Note that a step is passed on with what the other logs have told of it by now."""
        self._given[key] = sum(
            1 << index
            for index, member in enumerate(self._logs.others)
            if self._part(member, *key) is not None
        )
        self._recent = [*self._recent, key][-OPEN_ROWS:]

    def _missing(self, step: Step) -> bool:
        """Whether a log that keeps up has still to tell of a step."""
        if (step.step, step.attempt) in self._given:
            return False
        return any(
            self._part(member, step.step, step.attempt) is None
            and member.newest is not None
            and step.step - LAG <= member.newest[0] < step.step
            and self._logs.adds(member)
            for member in self._logs.others
        )

    def _step(self, step: Step, open_: bool) -> Iterator[Event]:
        key = (step.step, step.attempt)
        extra = None
        if key not in self._given:
            extra = self._extra(key, self._logs.others)
            self._pass(key)
        if extra is not None:
            yield extra.model_copy(update={"complete": False})
            step = _without(step, extra, self._logs.owner, self._logs.leader)
        yield step.model_copy(update={"complete": False}) if open_ and step.complete else step

    def _extra(self, key: Key, members: Iterable[Member]) -> Step | None:
        """What other logs than the leader tell of a step."""
        found: Step | None = None
        for member in members:
            part = self._part(member, *key)
            if part is None:
                continue
            fields: dict[str, Any] = {"step": key[0], "attempt": key[1], "raw": part.raw}
            for group, names in GROUPS.items():
                if self._logs.owner.get(group) is member:
                    fields |= {
                        name: value for name in names if (value := getattr(part, name)) not in (None, {})
                    }
            piece = Step.model_construct(_fields_set=set(fields), **fields)
            found = piece if found is None else over(piece, found)
        return found

    def _part(self, member: Member, step: int, attempt: int) -> Step | None:
        """What a log tells of the leader's step: both are in the same attempt at the end."""
        shifted = attempt - (self._logs.leader.attempts - member.attempts)
        part = member.parts.get((step, shifted))
        if part is None and sum((step, n) in self._given for n in range(self._logs.leader.attempts + 1)) <= 1:
            return next(
                (member.parts[step, n] for n in range(member.attempts, -1, -1) if (step, n) in member.parts),
                None,
            )
        return part

    def _added(self, index: int, keys: Iterable[Key]) -> Iterator[Event]:
        """What the other log at `index` tells of steps that have been passed on already."""
        member = self._logs.others[index]
        for told in dict.fromkeys(keys):
            key = self._of_leader(member, told)
            if key not in self._given or self._given[key] >> index & 1:
                continue
            extra = self._extra(key, [member])
            if extra is None:
                continue
            self._given[key] |= 1 << index
            if key in self._recent:
                yield extra
            else:
                before = self._late.get(key)
                self._late[key] = extra if before is None else over(before, extra)

    def _of_leader(self, member: Member, key: Key) -> Key:
        """The leader's step that a step of another log is: both are in the same attempt at the end."""
        step, attempt = key
        shifted = attempt + self._logs.leader.attempts - member.attempts
        if (step, shifted) in self._given:
            return step, shifted
        return next(((step, n) for n in range(shifted, -1, -1) if (step, n) in self._given), key)

    def _late_parts(self, now: float | None) -> Iterator[Event]:
        """What came late, as much as may be gone through anew."""
        if not self._late or (now is not None and now - self._late_at < LATE_S):
            return
        self._late_at = now or self._late_at
        may = max(1, LATE_ROWS // max(len(self._given), 1))
        for key in sorted(self._late)[-may:]:
            yield self._late[key]
        self._late.clear()

    def _up_to(self, step: Step) -> Iterator[Event]:
        """What other logs tell that belongs before a step: its evaluations, readings of the time before."""
        for member in self._logs.others:
            while member.evals and member.evals[0].step <= step.step:
                told = member.evals.popleft()
                if self._logs.owner["eval"] is member:
                    yield told.model_copy(update={"attempt": step.attempt})
            until = step.ended_at
            while until is not None and member.samples and member.samples[0].at <= until:
                yield member.samples.popleft()

    def _endings(self, others: Sequence[Member]) -> Iterator[Event]:
        """What the other logs tell that belongs to no step."""
        leader = self._logs.leader
        ended: list[Ended] = []
        for member in others:
            yield from member.samples
            member.samples.clear()
            if not leader.queue:
                yield from self._last_evals(member)
            for event in member.queue:
                if isinstance(event, LogLine):
                    yield from self._line(event)
                elif isinstance(event, Ended):
                    ended.append(event)
                elif isinstance(event, Serving) or (
                    isinstance(event, Totals) and self._logs.owner["totals"] is member
                ):
                    yield event
                elif isinstance(event, Progress) and self._logs.owner["progress"] is member:
                    yield event.model_copy(update={"attempt": leader.attempts})
            member.queue.clear()
        # A crash that a log proves counts for more than W&B's word that all went well.
        for end in sorted(ended, key=lambda end: end.status == "crashed"):
            if end.status == "crashed" or not leader.kinds["ended"]:
                yield end

    def _last_evals(self, member: Member) -> Iterator[Event]:
        """Evaluations after the last step so far."""
        last = max((step for step, _ in self._recent), default=-1)
        while member.evals and member.evals[0].step <= last:
            told = member.evals.popleft()
            if self._logs.owner["eval"] is member:
                yield told.model_copy(update={"attempt": self._logs.leader.attempts})

    def _fact(self, member: Member, info: RunInfo) -> Iterator[RunInfo]:
        """What a log says of the run as a whole; of the others, what the leader has not said."""
        names = {
            name for name in info.model_fields_set if getattr(info, name) not in (None, "unknown", {}, ())
        }
        if member is self._logs.leader:
            self._known |= names | {f"config.{key}" for key in info.config}
            yield info
            return
        fields = {name: getattr(info, name) for name in names - self._known - {"config", "kind"}}
        config = {key: value for key, value in info.config.items() if f"config.{key}" not in self._known}
        if config:
            fields["config"] = config
        if fields:
            yield RunInfo.model_construct(_fields_set=set(fields), **fields)

    def _line(self, line: LogLine) -> Iterator[LogLine]:
        """A line of a log, once: W&B keeps a copy of the console."""
        if line.text not in self._lines:
            self._lines.add(line.text)
            yield line

    def _forget(self, news: News) -> None:
        """Let go of what has been passed on."""
        leader = self._logs.leader
        keep = KEPT if self._logs.apart else OPEN_ROWS
        while len(leader.parts) > keep:
            leader.parts.pop(next(iter(leader.parts)))
        for index, member in enumerate(self._logs.others):
            if not news.get(member):
                continue
            used = [
                key for key in member.parts
                if self._given.get(self._of_leader(member, key), 0) >> index & 1
            ]  # fmt: skip
            for key in used[:-KEPT] if self._logs.apart else used[:-OPEN_ROWS]:
                del member.parts[key]


def _without(step: Step, extra: Step, owner: dict[str, Member], leader: Member) -> Step:
    """The leader's step without what another log was chosen for and does tell."""
    dropped = {
        name
        for group, names in GROUPS.items()
        if owner.get(group, leader) is not leader
        and any(getattr(extra, one) not in (None, {}) for one in names)
        for name in names
    }
    if not dropped & step.model_fields_set:
        return step
    kept = {name: getattr(step, name) for name in step.model_fields_set - dropped}
    return Step.model_construct(_fields_set=set(kept), **kept)
