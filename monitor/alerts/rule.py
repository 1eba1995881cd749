"""What an alert rule is: a name, its limits, and a pure function from a moment to a reading.

A rule keeps what it must remember in a frozen value that it is handed and hands back. It raises and
clears nothing itself: `latch.py` does that, the same way for all.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Literal, NamedTuple, TypeVar

from ...models.alert import Severity
from ..moment import Moment

Level = Literal["ok", "info", "warning", "critical"]
RANK: dict[Level, int] = {"ok": 0, "info": 1, "warning": 2, "critical": 3}


class Reading(NamedTuple):
    """What a rule makes of one moment. `message` and `advice` are one line each."""

    level: Level = "ok"
    good: bool = False
    """Whether the quantity is back below the level at which an alert clears, not just below the limit."""
    value: float = 0.0
    threshold: float = 0.0
    message: str = ""
    advice: str = ""
    certain: bool = False
    """A fact rather than an estimate: raised at once, without waiting for a second reading."""
    since: int | None = None
    """The step at which it began, where that is not the present one."""
    note: str = ""
    """What the rule is waiting for, such as `learns what is normal: 3 of 10 steps`."""


class Unwatched(NamedTuple):
    """The rule lacks what it reads, and says what; what was raised stays as it is."""

    why: str


FINE = Reading(good=True)


def learning(steps: int, of: int) -> Reading:
    """Nothing can be told before the first `of` steps have shown what is normal."""
    return Reading(good=True, note=f"learns what is normal: {steps} of {of} steps")


@dataclass(frozen=True, slots=True)
class Debounce:
    """How many readings it takes to believe a rule, and to believe that it is over."""

    warning: tuple[int, int] = (1, 1)
    """(m, n): m of the last n readings at this level or above; it holds for `info` too."""
    critical: tuple[int, int] = (1, 1)
    clear: int = 5
    """Good readings in a row."""
    wary: bool = True
    """An alert that comes back needs twice as many of them each time, so that noise cannot make it flap."""


M = TypeVar("M")
L = TypeVar("L")


@dataclass(frozen=True, slots=True)
class Rule(Generic[M, L]):
    """One rule, registered by one line in `alerts/__init__.py`.

    `observe` is called once for each step that closes, `tick` whenever time has passed; either may be
    missing. They give the memory to keep and a Reading, Unwatched, or None where nothing is new.
    """

    name: str
    about: str
    """What it watches, for a list of rules."""
    limits: L
    """A frozen dataclass of defaults: each field is a setting of the same name."""
    memory: M
    """What is remembered before the first step."""
    severities: tuple[Severity, ...] = ("warning", "critical")
    """What its alerts can be, the mildest first."""
    debounce: Debounce = Debounce()
    lasting: bool = False
    """It reads what passes by (log lines, GPU readings, silence) and keeps what that told when all steps are
    gone through anew."""
    observe: "Callable[[M, Moment, L], tuple[M, Reading | Unwatched | None]] | None" = None
    tick: "Callable[[M, Moment, L], tuple[M, Reading | Unwatched | None]] | None" = None
