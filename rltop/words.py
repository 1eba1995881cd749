"""What a word of a flag means. A word that means nothing is told as argparse tells it: wrong usage."""

import math
import re
import shlex
import shutil
from argparse import ArgumentTypeError
from datetime import date, datetime

MOST = 10**9
"""No run has more steps, GPUs or tokens in a response."""


def number(word: str) -> float:
    """A finite number."""
    try:
        value = float(word)
    except ValueError:
        raise ArgumentTypeError(f"{word}: not a number") from None
    if not math.isfinite(value):
        raise ArgumentTypeError(f"{word}: not a number")
    return value


def dollars(word: str) -> float:
    """An amount, with or without its sign."""
    value = number(word.removeprefix("$"))
    if not 0 <= value < 1e12:
        raise ArgumentTypeError(f"{word}: not an amount of dollars")
    return value


def count(word: str) -> int:
    """A whole number of 1 or more."""
    value = number(word)
    if not (1 <= value <= MOST and value == int(value)):
        raise ArgumentTypeError(f"{word}: must be a whole number from 1 to {MOST:,}")
    return int(value)


def port(word: str) -> int:
    """The number of a port."""
    value = number(word)
    if not (1 <= value <= 65_535 and value == int(value)):
        raise ArgumentTypeError(f"{word}: a port is a whole number from 1 to 65535")
    return int(value)


def speed(word: str) -> float:
    """How many times as fast, such as `60` or `60x`."""
    value = number(word.rstrip("x×"))
    if not 0 < value <= 1e6:
        raise ArgumentTypeError(f"{word}: must be above 0 and at most 1,000,000")
    return value


def mfu(word: str) -> float:
    """A share of the peak, 0 to 1."""
    value = number(word)
    if not 0 < value <= 1:
        raise ArgumentTypeError(f"{word}: an MFU is above 0 and at most 1")
    return value


def step(word: str) -> int:
    """The number of a step."""
    value = number(word)
    if not (0 <= value <= MOST and value == int(value)):
        raise ArgumentTypeError(f"{word}: steps are whole numbers from 0 on")
    return int(value)


def day(word: str) -> str:
    """A day as YYYY-MM-DD."""
    try:
        if not re.fullmatch(r"\d{4}-\d{2}-\d{2}", word):
            raise ValueError
        date.fromisoformat(word)
    except ValueError:
        raise ArgumentTypeError(f"{word}: give a day as YYYY-MM-DD") from None
    return word


def moment(word: str) -> datetime:
    """A time with its zone, ISO 8601."""
    try:
        at = datetime.fromisoformat(word)
    except ValueError:
        raise ArgumentTypeError(f"{word}: give a time such as 2026-12-01T08:00Z") from None
    if at.tzinfo is None:
        raise ArgumentTypeError(f"{word}: needs a time zone, such as {word}Z or {word}+01:00")
    return at


def rates(word: str) -> tuple[float, ...]:
    """Prefill, sample, train, and perhaps cached prefill, with commas between them."""
    prices = tuple(dollars(part) for part in word.split(","))
    if len(prices) not in (3, 4):
        raise ArgumentTypeError(f"{word}: give prefill,sample,train or prefill,sample,train,cached")
    return prices


def command(word: str) -> tuple[str, ...]:
    """A command and its arguments, as a shell would split them; no shell runs it."""
    try:
        parts = tuple(shlex.split(word))
    except ValueError as error:
        raise ArgumentTypeError(f"{word}: {error}") from None
    if not parts or shutil.which(parts[0]) is None:
        raise ArgumentTypeError(f"{word}: no such command")
    return parts
