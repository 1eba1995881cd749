"""What a projection has to beat: the simple rules that people use."""

from collections.abc import Callable, Sequence

Rule = Callable[[Sequence[float], int], float]
"""The total of a run, from its steps so far and its number of steps."""


def _held(past: Sequence[float], steps: int, window: int) -> float:
    """What is spent, and the mean of the last few steps for every step to come."""
    recent = past[-window:]
    return sum(past) + (steps - len(past)) * sum(recent) / len(recent)


def naive(past: Sequence[float], steps: int) -> float:
    """The mean so far, held."""
    return _held(past, steps, len(past))


def last10(past: Sequence[float], steps: int) -> float:
    """The mean of the last ten steps, held."""
    return _held(past, steps, 10)


def last25(past: Sequence[float], steps: int) -> float:
    """The mean of the last quarter of the steps so far, of at least five, held."""
    return _held(past, steps, max(5, len(past) // 4))


def seed(past: Sequence[float], steps: int) -> float:
    """The seed page's fixed growth: 1.2 times the start at the end, in a line; the start fitted so far."""
    shape = [1 + 0.2 * step / steps for step in range(1, steps + 1)]
    start = sum(past) / sum(shape[: len(past)])
    return sum(past) + start * sum(shape[len(past) :])


RIVALS: dict[str, Rule] = {"naive": naive, "last10": last10, "last25": last25, "seed": seed}
