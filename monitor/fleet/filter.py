"""What the user types to see some runs of a fleet: `gsm8k alert:critical cost>50 state:running -old`. Pure.

Its one rule: a run whose figure is not known is on neither side of a comparison. What means nothing is an
error that names the word and says what would mean something.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...models.fleet import FleetRow

Test = Callable[[FleetRow], bool]


class FilterError(ValueError):
    """A word of the filter means nothing; the message is one line."""


NUMBERS: dict[str, Callable[[FleetRow], float | None]] = {
    "cost": lambda row: row.spent_usd,
    "end": lambda row: None if row.final_usd is None else row.final_usd.p50,
    "length": lambda row: row.length,
    "growth": lambda row: row.length_growth,
    "clip": lambda row: row.clip,
    "mfu": lambda row: row.mfu,
    "step": lambda row: row.step,
    "total": lambda row: row.total_steps,
    "hours": lambda row: None if row.elapsed_s is None else row.elapsed_s / 3600,
    "alerts": lambda row: len(row.alerts),
}
"""Quantities that can be compared. Dollars, tokens, shares from 0 to 1, steps, hours."""
WORDS: dict[str, Callable[[FleetRow], Sequence[str]]] = {
    "state": lambda row: (row.state,),
    "framework": lambda row: (row.framework,),
    "model": lambda row: (row.model or "",),
    "name": lambda row: (row.name,),
    "project": lambda row: (row.project,),
    "path": lambda row: (row.id, *row.sources),
    "alert": lambda row: [word for one in row.alerts for word in (one.severity, one.rule.replace("_", "-"))],
}
"""Words that can be asked for by the name of their kind."""
WHOLE = frozenset(("state", "framework"))
"""Kinds of which a word is meant as a whole: `state:run` is a slip."""
STATES = ("reading", "unreadable", "running", "finished", "stalled", "crashed", "unknown")
COMPARED: dict[str, Callable[[float, float], bool]] = {
    ">=": lambda a, b: a >= b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    "<": lambda a, b: a < b,
    "=": lambda a, b: abs(a - b) <= 1e-9 * max(abs(a), abs(b), 1.0),
}
TOKEN = re.compile(r"-?/(?:[^/\\]|\\.)*/(?=\s|$)|(?:[^\s\"]|\"[^\"]*\"?)+")
COMPARISON = re.compile(r"([A-Za-z]+)(>=|<=|>|<|=)(.*)")
NUMBER = re.compile(r"\$?(-?\d+(?:\.\d+)?)([kM%]?)$")
FACTORS = {"": 1.0, "k": 1e3, "M": 1e6, "%": 0.01}


@dataclass(frozen=True, slots=True)
class Filter:
    """A test that a run passes when it passes every word of it."""

    text: str = ""
    tests: tuple[Test, ...] = ()

    def takes(self, row: FleetRow) -> bool:
        """Whether to show a run."""
        return all(test(row) for test in self.tests)


def parse(text: str) -> Filter:
    """The filter that a text means.

    Raises:
        FilterError: a word of it means nothing.
    """
    return Filter(text, tuple(_test(token) for token in TOKEN.findall(text)))


def read(text: str) -> tuple[Filter, str]:
    """The filter of those words that mean something, and what is wrong with the first that does not."""
    tests: list[Test] = []
    problem = ""
    for token in TOKEN.findall(text):
        try:
            tests.append(_test(token))
        except FilterError as error:
            problem = problem or str(error)
    return Filter(text, tuple(tests)), problem


def _test(token: str) -> Test:
    if len(token) > 1 and token[0] in "-!":
        inner = _test(token[1:])
        return lambda row: not inner(row)
    if token.startswith("/"):
        return _matching(token)
    bare = token.replace('"', "")
    if compared := COMPARISON.fullmatch(bare):
        return _comparing(*compared.groups())
    kind, colon, wanted = bare.partition(":")
    if colon and not token.startswith('"'):
        return _of_kind(kind, wanted)
    return lambda row: _says(row, bare.casefold())


def _says(row: FleetRow, word: str) -> bool:
    texts = (row.name, row.place or row.id, row.model or "", row.project, row.framework)
    return any(word in text.casefold() for text in texts)


def _matching(token: str) -> Test:
    if len(token) < 2 or not token.endswith("/"):
        raise FilterError(f"{token}: a regular expression ends in /")
    try:
        pattern = re.compile(token[1:-1], re.IGNORECASE)
    except re.error as error:
        raise FilterError(f"{token}: {error}") from None
    return lambda row: any(pattern.search(text) for text in (row.name, row.place or row.id, row.model or ""))


def _comparing(name: str, sign: str, given: str) -> Test:
    read = NUMBERS.get(name.lower())
    if read is None:
        raise FilterError(f"{name}{sign}…: no quantity {name}; there are {', '.join(NUMBERS)}")
    number = NUMBER.match(given)
    if number is None:
        raise FilterError(f"{name}{sign}{given}: not a number, such as 50, 1.2k or 10%")
    limit, holds = float(number[1]) * FACTORS[number[2]], COMPARED[sign]
    return lambda row: (value := read(row)) is not None and holds(value, limit)


def _of_kind(kind: str, wanted: str) -> Test:
    read = WORDS.get(kind.lower())
    if read is None:
        raise FilterError(f"{kind}:…: no kind {kind}; there are {', '.join(WORDS)}")
    words = [word.casefold() for word in wanted.split(",") if word]
    if kind == "alert" and words in (["none"], ["any"]):
        return lambda row: bool(row.alerts) == (words == ["any"])
    if kind == "state" and (odd := [word for word in words if word not in STATES]):
        raise FilterError(f"state:{odd[0]}: no such state; there are {', '.join(STATES)}")
    if not words:
        return lambda row: True  # still being typed
    if kind in WHOLE:
        return lambda row: any(text.casefold() in words for text in read(row))
    return lambda row: any(word in text.casefold() for text in read(row) for word in words)
