"""Which runs of a fleet may be one run told twice: those with many numbers in common. Pure.

Its one rule: it only suspects. Whoever asks reads both logs together, and lets their numbers decide.
"""

import math
from collections import Counter, defaultdict

from ..history import History
from .evidence import CANONICAL, is_telling

STEPS = 8
"""Steps looked at, at the start of a run and at its end."""
ENOUGH, SHARE = 6, 0.3
"""Numbers in common that raise a suspicion, and what share they must be of those of the log with fewer."""
MOST = 3
"""Runs suspected of being one with another: each costs a second reading of both."""
Print = frozenset[tuple[int, str]]
"""(step, number to three digits): what two logs of one run have in common, whatever they call it."""


def print_of(history: History) -> Print:
    """The fingerprint of a run."""
    count = len(history)
    rows = range(count) if count <= 2 * STEPS else (*range(STEPS), *range(count - STEPS, count))
    found: set[tuple[int, str]] = set()
    for index in rows:
        row = history.row(index)
        values = [*(row.get(name) for name in CANONICAL), *(row.raw(key) for key in list(history.raw))]
        found.update(
            (row.step, f"{value:.2e}")
            for value in values
            if value is not None and math.isfinite(value) and is_telling(value)
        )
    return frozenset(found)


class Twins:
    """The fingerprints of all runs read so far."""

    def __init__(self) -> None:
        self._prints: dict[str, Print] = {}
        self._holders: defaultdict[tuple[int, str], set[str]] = defaultdict(set)

    def add(self, id: str, found: Print) -> list[str]:
        """Remember a run's fingerprint; the runs that may be the same, the likeliest first."""
        self.remove(id)
        self._prints[id] = found
        common: Counter[str] = Counter()
        steps: defaultdict[str, set[int]] = defaultdict(set)
        for number in found:
            for other in self._holders[number]:
                common[other] += 1
                steps[other].add(number[0])
            self._holders[number].add(id)
        likely = [
            other
            for other, count in common.most_common()
            if count >= max(ENOUGH, SHARE * min(len(found), len(self._prints[other])))
            and len(steps[other]) > 1
        ]
        return likely[:MOST]

    def remove(self, id: str) -> None:
        """Forget a run."""
        for number in self._prints.pop(id, ()):
            self._holders[number].discard(id)
