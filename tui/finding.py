"""Which keys a filter means: words, a regular expression, or letters in order. Pure."""

import re
from collections.abc import Iterable

_SIGNS = re.compile(r"[\^$|*+?\[\]\\]|\.\*")
"""A filter with any of these is tried as a regular expression."""


def found(wanted: str, names: Iterable[str]) -> list[str]:
    """The names that the filter leaves, in the order of the alphabet; those met by letters alone by nearness.

    Words must all be in a name, in any order and case. Where no name has them, a name will do that has their
    letters in order, as `rwmean` has a place in `critic/rewards/mean`.
    """
    ordered = sorted(names)
    wanted = wanted.strip()
    if not wanted:
        return ordered
    if _SIGNS.search(wanted):
        try:
            pattern = re.compile(wanted, re.IGNORECASE)
        except re.error:
            return ordered if not wanted.strip("^$|*+?[]\\.") else []
        return [name for name in ordered if pattern.search(name)]
    words = wanted.casefold().split()
    plain = [name for name in ordered if all(word in name.casefold() for word in words)]
    if plain:
        return plain
    letters = "".join(words)
    near = [(reach, name) for name in ordered if (reach := _reach(letters, name.casefold())) is not None]
    return [name for _, name in sorted(near)]


def _reach(letters: str, name: str) -> int | None:
    """Over how many letters of the name the wanted ones are spread, at the least; None where they are not."""
    best: int | None = None
    for start in (at for at, sign in enumerate(name) if sign == letters[0]):
        at = start
        for sign in letters[1:]:
            at = name.find(sign, at + 1)
            if at < 0:
                return best
        reach = at - start + 1
        best = reach if best is None else min(best, reach)
    return best
