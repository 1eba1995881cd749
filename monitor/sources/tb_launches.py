"""Which event files of a folder are of one training. Scripts that write into the same folder each time they
are started leave a file for each start; a training that was resumed leaves several files too.

Its one rule: a file that begins again at the first step is a training of its own, and the newest is meant.
"""

from collections.abc import Sequence, Set
from typing import NamedTuple


class First(NamedTuple):
    """The first step in an event file."""

    name: str
    step: int
    tags: Set[str]

    @property
    def began_at(self) -> int:
        """Unix seconds in the file's name, `events.out.tfevents.SECONDS.host…`; 0 where there are none."""
        parts = self.name.partition("tfevents.")[2].split(".")
        return int(parts[0]) if parts[0].isdecimal() and len(parts[0]) < 16 else 0


def of_earlier_trainings(files: Sequence[First]) -> list[str]:
    """Names of the files, given in the order of their beginning, that the newest training did not write."""
    begun: list[First] = []
    beside: list[First] = []
    left_out: list[str] = []
    tags: set[str] = set()
    going_on: list[First] = []
    for file in files:
        if tags and tags.isdisjoint(file.tags):
            beside.append(file)  # another process of the same training: which one, its time says
            continue
        tags |= file.tags
        if not begun or file.step <= begun[-1].step:
            left_out += [earlier.name for earlier in going_on]
            going_on = []
            begun.append(file)
        going_on.append(file)
    if len(begun) > 1:
        newest = begun[-1]
        for file in beside:
            nearest = min(begun, key=lambda main: abs(main.began_at - file.began_at))
            if nearest is not newest:
                left_out.append(file.name)
    return left_out
