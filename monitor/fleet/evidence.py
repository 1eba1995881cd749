"""Whether two logs are of one run. Pure.

Its one rule: numbers decide, and names never do. Two logs are of one run when they tell the same numbers of
the same steps; of two runs when they do not; and where too little overlaps, nobody knows, which is no yes.
"""

import math
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ...models.step import Step

CANONICAL = (
    "reward_mean",
    "response_length_mean",
    "response_length_max",
    "prompt_length_mean",
    "sampled_tokens",
    "total_tokens",
    "entropy",
    "kl",
    "grad_norm",
    "loss",
    "pg_clip_fraction",
)
"""Quantities that logs of one run have in common under different keys. Not times: each log adds its own."""
SAME = 2e-3
"""Relative difference up to which two numbers are the same: one log prints fewer digits than the other."""
ROUNDED = 6e-4
"""Numbers printed with three decimals may differ by this; that they agree then says nothing either."""
AS_PERCENT = 5e-3
"""Relative difference of a percentage and a share of two decimals."""
MOST_STEPS = 64
"""Common steps looked at."""
FEW_STEPS, FEW_KEYS, FEW_PAIRS = 3, 2, 6
ENOUGH_PAIRS = 12
"""So many different numbers that agree without exception are proof even within one step."""
STRAY = 0.1
"""Share of keys that may differ in two logs of one run: averaged in one, the last value in another."""

CLOCKS_S = 180.0
"""How far two logs may be apart on when a step ended: one writes at once, the other when it is flushed."""
ZONE_S = 900.0
"""Time zones are whole multiples of this apart."""

Values = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What two logs side by side show."""

    same: bool | None
    """None where too little overlaps to tell."""
    why: str
    """A few words, to stand behind the names of the logs."""


class Telling:
    """The numbers that a log tells, by step. A step that ran again is told several times."""

    def __init__(self) -> None:
        self.steps: dict[int, list[dict[str, float]]] = {}
        self.ended_at: dict[int, float] = {}
        """Unix seconds, by step."""
        self._attempts: dict[int, int] = {}

    def add(self, step: Step) -> None:
        """Take in a step or a part of one."""
        if step.ended_at is not None:
            self.ended_at[step.step] = step.ended_at
        told = self.steps.setdefault(step.step, [])
        if not told or self._attempts.get(step.step) != step.attempt:
            told.append({})
            self._attempts[step.step] = step.attempt
        told[-1].update(_numbers(step.raw))
        told[-1].update(
            (f"={name}", value)
            for name in CANONICAL
            if (value := getattr(step, name)) is not None and math.isfinite(value)
        )


def compare(one: Telling, other: Telling) -> Verdict:
    """Whether two logs are of one run."""
    common = _spread(sorted(one.steps.keys() & other.steps.keys()))
    if not common:
        return Verdict(None, "no step is in both")
    if (apart_s := _apart_s(one, other)) is not None and apart_s > CLOCKS_S:
        return Verdict(False, "the same steps at other times")
    agree: Counter[str] = Counter()
    differ: Counter[str] = Counter()
    agreeing_steps = 0
    for step in common:
        right, wrong = _held_together(one.steps[step], other.steps[step])
        agree.update(right)
        differ.update(wrong)
        agreeing_steps += len(right) > len(wrong)
    steady = {key for key in agree if len(common) > 1 and _is_steady(key, common, one)}
    same_keys = {key for key, count in agree.items() if count >= 9 * differ[key] and key not in steady}
    wrong_keys = differ.keys() - same_keys - steady
    pairs = sum(agree[key] for key in same_keys)
    own_same = sum(not key.startswith("=") for key in same_keys)
    own_wrong = sum(not key.startswith("=") for key in wrong_keys)
    if own_wrong > STRAY * (own_same + own_wrong) or len(wrong_keys) > len(same_keys):
        return Verdict(False, f"other numbers for the same steps, such as step {common[0]}")
    enough = pairs >= FEW_PAIRS and len(same_keys) >= FEW_KEYS and agreeing_steps >= FEW_STEPS
    if enough or (pairs >= ENOUGH_PAIRS and not wrong_keys):
        return Verdict(True, f"{pairs} equal numbers in {agreeing_steps} common steps")
    return Verdict(None, "too few numbers are in both")


def _is_steady(key: str, steps: Iterable[int], telling: Telling) -> bool:
    """Whether a number never changes: a setting, which two runs may well have in common."""
    return len({values[key] for step in steps for values in telling.steps[step] if key in values}) < 2


def _apart_s(one: Telling, other: Telling) -> float | None:
    """How far apart two logs say that the same steps ended, but for what time zones explain."""
    common = one.ended_at.keys() & other.ended_at.keys()
    if not common:
        return None
    apart_s = statistics.median(one.ended_at[step] - other.ended_at[step] for step in common)
    return abs(apart_s - ZONE_S * round(apart_s / ZONE_S))


def _spread(steps: list[int]) -> list[int]:
    """Up to MOST_STEPS of them, from all over the run."""
    if len(steps) <= MOST_STEPS:
        return steps
    return [steps[index * len(steps) // MOST_STEPS] for index in range(MOST_STEPS)]


def _held_together(one: Iterable[Values], other: Iterable[Values]) -> tuple[set[str], set[str]]:
    """Of one step, the keys whose numbers agree and those that differ, in the attempts that fit best."""
    best: tuple[set[str], set[str]] = (set(), set())
    fits = -math.inf
    for left in one:
        for right in other:
            agree, differ = _of_attempt(left, right)
            if len(agree) - len(differ) > fits:
                fits, best = len(agree) - len(differ), (agree, differ)
    return best


def _of_attempt(left: Values, right: Values) -> tuple[set[str], set[str]]:
    agree: set[str] = set()
    differ: set[str] = set()
    for key in left.keys() & right.keys():
        a, b = left[key], right[key]
        off = abs(a - b)
        if off > SAME * max(abs(a), abs(b)) and off > ROUNDED:
            if not (_is_percent(a, of=b) or _is_percent(b, of=a)):
                differ.add(key)
        elif off <= SAME * max(abs(a), abs(b)) and is_telling(a):
            agree.add(key)
    return agree, differ


def _is_percent(percent: float, of: float) -> bool:
    """Whether one log may have in percent what the other has as a share: no evidence either way."""
    return abs(percent - 100 * of) <= AS_PERCENT * abs(percent)


def is_telling(value: float) -> bool:
    """Whether two runs would hardly have this number in common: it is not 0, small and whole, or round."""
    size = abs(value)
    if size < ROUNDED:
        return False
    digits = f"{size:.3e}".partition("e")[0].replace(".", "").rstrip("0")
    return len(digits) >= 3


def _numbers(raw: Values) -> dict[str, float]:
    return {key: value for key, value in raw.items() if math.isfinite(value)}
