"""The logs that may be of one run: which of them are, which of them leads, and what is taken from which.

Its one rule: a log joins on evidence alone, or because the user says so. What is not proven stays apart, and
what is disproved is let go of.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence

from ...models.event import SourceStatus
from .choice import GROUPS, owners, spoken
from .evidence import MOST_STEPS, Verdict, compare
from .member import Key, Member

LEAD = 2
"""Steps that a log must have more than the one named first, to lead in its place."""
SAID = Verdict(True, "as you say")
MOST_NAMED = 3
"""Logs of other runs named in the notes."""

News = dict[Member, list[Key]]
"""Steps that something new was told of, by log."""


class Circle:
    """The first log of a run, and what may belong to it.

    `find` names the others, once the first has begun to be read, given the paths that it is read from. Where
    `said`, the user says that they are of one run; otherwise their numbers have to.
    """

    def __init__(self, first: Member, find: Callable[[set[str]], Sequence[Member]], said: bool) -> None:
        self.members = [first]
        """The logs of this run, the leading one first once `settled`."""
        self.apart: list[Member] = []
        """Logs that have told too little to say whether they are of the run."""
        self.owner: dict[str, Member] = {}
        """The log that each group of fields, and each of some kinds of event, is taken from."""
        self.settled = False
        self._find = find
        self._said = said
        self._looked = False
        self._others: list[Member] = []
        """Logs that turned out to be of other runs."""
        self._notes: tuple[str, ...] = ()

    @property
    def leader(self) -> Member:
        """The log whose steps are the run's."""
        return self.members[0]

    @property
    def others(self) -> Sequence[Member]:
        """The logs of the run that add to the leader."""
        return self.members[1:]

    @property
    def more(self) -> bool:
        """Whether more lies waiting right now."""
        return not self._looked or any(member.more for member in (*self.members, *self.apart))

    @property
    def is_alone(self) -> bool:
        """Whether there is one log and never was another."""
        return len(self.members) == 1 and not self.apart and not self._others

    @property
    def paths(self) -> set[str]:
        """What the run is read from."""
        return {path for member in self.members for path in member.latest}

    def read(self, now: float) -> News:
        """Read on in every log."""
        news = {member: member.poll(now) for member in (*self.members, *self.apart)}
        if not self._looked:
            self._looked = True
            found = self._find(self.paths)
            self.apart = [member for member in found if not member.named]
            self._others += [member for member in found if member.named]
            news |= {member: member.poll(now) for member in self.apart}
        self.leader.plain = self.is_alone
        return news

    def close(self) -> News:
        """Take what the logs held back, and let go of them."""
        return {member: member.close() for member in (*self.members, *self.apart)}

    def settle(self, anyway: bool = False) -> bool:
        """Once everything has been read: who is of the run, who leads, and what is taken from whom."""
        mine = _real(self.paths)
        for member in [member for member in self.apart if mine & _real(member.latest)]:
            self.apart.remove(member)  # read already, with the first
            member.close()
        if self.is_alone:
            return True
        self.judge()
        if not anyway and any(member.more for member in (*self.members, *self.apart)):
            return False
        if not anyway and not any(member.parts for member in self.members):
            return False  # no step yet: whoever tells the first one leads
        first = self.members[0]
        self.members.sort(key=lambda member: member.count + LEAD * (member is first), reverse=True)
        self.settled = True
        self.choose()
        return True

    def judge(self) -> bool:
        """Compare the logs that are apart with those of the run; whether one has joined."""
        joined = False
        for member in list(self.apart):
            verdict = SAID if self._said else self._compared(member)
            member.verdict = verdict
            if verdict.same is None:
                continue
            self.apart.remove(member)
            if verdict.same:
                self.members.append(member)
                joined = True
            else:
                self._others.append(member)
                member.close()
        return joined

    def _compared(self, member: Member) -> Verdict:
        """The clearest verdict that a log of the run gives on another."""
        verdict = Verdict(None, "no step is in both")
        for one in self.members:
            common = sorted(one.steps() & member.steps())
            wanted = common[:: max(1, len(common) // MOST_STEPS)]
            found = compare(one.telling(wanted), member.telling(wanted))
            if found.same is not None:
                return found
            verdict = found
        return verdict

    def choose(self) -> None:
        """Say which log each quantity is from, as far as they have told by now."""
        leader = self.members[0]
        expected = max(leader.count - LEAD, 1)
        chosen = owners(
            [
                {group: count / max(member.count, expected) for group, count in member.told.items()}
                for member in self.members
            ]
        )
        self.owner = {group: self.members[index] for group, index in chosen.items()}
        for kind in ("eval", "totals", "progress"):
            counts = [member.kinds[kind] for member in self.members]
            self.owner[kind] = (
                leader if counts[0] or not any(counts) else self.members[counts.index(max(counts))]
            )
        notes = self._told_notes()
        if notes != self._notes:
            self._notes = notes
            leader.statuses += list(leader.latest.values())[:1]

    def _told_notes(self) -> tuple[str, ...]:
        leader, *others = self.members
        notes: list[str] = []
        if others:
            parts = [f"steps from {leader.called}"]
            for member in others:
                groups = [group for group in GROUPS if self.owner.get(group) is member]
                groups += ["evaluations"] if self.owner["eval"] is member else []
                groups += ["GPUs"] if member.kinds["gpu"] else []
                more = len(member.keys - leader.keys)
                if not groups and more:
                    groups = [f"{more} more metrics"]
                parts.append(
                    f"{spoken(groups)} from {member.name}" if groups else f"nothing new in {member.name}"
                )
            notes.append("; ".join(parts))
        for member in self._others[:MOST_NAMED]:
            why = member.verdict.why if member.verdict else f"a log of the same kind as {leader.called}"
            notes.append(f"{member.name} is of another run: {why}")
        if self._others:
            unsaid = len(self._others) - MOST_NAMED
            more = f" and {unsaid} more" if unsaid > 0 else ""
            named = "one of these" if len(self._others) > 1 else self._others[0].name
            notes.append(f"to see {named}{more}, name the file itself")
        for member in self.apart[:MOST_NAMED]:
            if member.parts:
                notes.append(f"{member.name} is left apart: {member.verdict.why if member.verdict else ''}")
        return tuple(notes)

    def adds(self, member: Member) -> bool:
        """Whether a log tells anything that the leader does not."""
        return (
            any(owner is member for owner in self.owner.values()) or not member.keys <= self.members[0].keys
        )

    def statuses(self) -> Iterator[SourceStatus]:
        """How reading goes, with the choice beside the first file of the leader."""
        leader = self.members[0]
        main = next(iter(leader.latest), None)
        for member in self.members:
            news, member.statuses = member.statuses, []
            for status in news:
                if member is leader and status.path == main and self._notes:
                    yield status.model_copy(update={"notes": (*status.notes, *self._notes)})
                else:
                    yield status


def _real(paths: Iterable[str]) -> set[str]:
    return {os.path.realpath(path) for path in paths}
