"""Reads `step:N - key:value - …`, wherever it stands and however a terminal or another worker cut it.

Its one rule: a value that is not whole is left out, and never mistaken for a number that was logged.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from pydantic_core import from_json

from ..plainrow import floats_of

START = re.compile(r"(?<![\w/.])step:(\d{1,15}) - ")
"""Not `training/global_step:1 - `, which every line of later versions holds."""
WORD = "step:"
NEIGHBOUR = re.compile(r"\r|\([\w.:+ -]*pid=\d+")
"""What another writer may have put behind the line without a line end."""
_NUMBER = r"(?:np\.\w+\()?([-+]?(?:\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|\.\d+|nan|inf)|True|False)(?![\d.])\)?"
NUMBER = re.compile(_NUMBER)
LAST = re.compile(rf"(.+?):{_NUMBER}")
NUMPY = re.compile(r"(?<=:)np\.\w+\(([^()]*)\)")
FRAGMENT = re.compile(r"[\w./@()+:-]*")
ENOUGH = 8
"""Pieces that tell how numbers are written."""
ROUNDED = re.compile(r"-?\d+\.\d{3}")
DIGITS = re.compile(r"[\d.eE+-]+\)?")
SEPARATOR = " - "
LONGEST = 512 * 1024
LONGEST_KEY = 1024
"""No key has so many signs; what seems to is another writer's line, through which looking would take long."""


class Metrics(NamedTuple):
    """The numbers of one step line."""

    step: int
    values: dict[str, float]
    rounded: bool
    """Values have three decimals, as up to 0.4.1: a small learning rate is lost, not zero."""
    numpy: bool
    """Values are written as `np.float64(…)`."""
    bad: int
    """Pieces that are not `key:number`."""


def bodies(words: str) -> list[tuple[int, str]]:
    """The step lines in a statement: (step, text of the metrics)."""
    starts: list[re.Match[str]] = []
    at = words.find(WORD)
    while at >= 0:
        if match := START.match(words, at):
            starts.append(match)
        at = words.find(WORD, at + len(WORD))
    if not starts:
        return []
    ends = [match.start() for match in starts[1:]] + [len(words)]
    return [
        (int(match[1]), _alone(words[match.end() : end])) for match, end in zip(starts, ends, strict=True)
    ]


def metrics(step: int, body: str) -> Metrics:
    """The numbers in the text of a step line."""
    body = body.removesuffix("-").rstrip()
    values, bad = _usual(body), 0
    if values is None:
        values, bad = _piecemeal(body.split(SEPARATOR))
    values.pop("", None)
    first = body.split(SEPARATOR, ENOUGH)[:ENOUGH]
    rounded = bool(values) and all(ROUNDED.fullmatch(piece.rpartition(":")[2]) for piece in first)
    return Metrics(step, values, rounded, "np." in body, bad)


def _usual(body: str) -> dict[str, float] | None:
    """The metrics, where all pieces are `key:number`. Made one JSON object, since its parser reads numbers
    several times faster than float(); None where that fails.
    """
    if '"' in body or "\\" in body or body.count(":") != body.count(SEPARATOR) + 1:
        return None
    if "np." in body:
        body = NUMPY.sub(r"\1", body)
    try:
        row: dict[str, object] = from_json('{"' + body.replace(SEPARATOR, ',"').replace(":", '":') + "}")
    except ValueError:
        return None
    return floats_of(row)


def _piecemeal(pieces: Sequence[str]) -> tuple[dict[str, float], int]:
    """The metrics, and how many pieces are none."""
    values: dict[str, float] = {}
    bad = 0
    pending = ""
    *pieces, last = pieces
    for piece in pieces:
        key, _, text = (pending + piece).rpartition(":") if pending else piece.rpartition(":")
        try:
            values[key] = float(text)
        except ValueError:
            if (match := NUMBER.fullmatch(text.strip())) is None:
                # A data source may be called `a - b`: the rest of the key is the next piece.
                goes_on = ":" not in piece and len(pending) < LONGEST_KEY
                pending = f"{pending}{piece}{SEPARATOR}" if goes_on else ""
                bad += not goes_on
                continue
            values[key] = _value(match[1])
        pending = ""
    # Only behind the last value may another writer's words follow without a line end.
    match = LAST.match(pending + last)
    if match is None:
        bad += bool(last)
    else:
        values[match[1]] = _value(match[2])
    return values, bad


def is_whole(body: str) -> bool:
    """Whether the text ends in a whole `key:number`."""
    return _whole(body.rpartition(SEPARATOR)[2] if SEPARATOR in body else body)


def joined(body: str, words: str, wrapped: bool) -> str | None:
    """The text with the next line joined on, where that line is its continuation in a hard-wrapped paste.

    `wrapped`: this log has been seen to be wrapped, so that bare digits are taken for the rest of a number.
    """
    if not words or len(body) + len(words) > LONGEST or START.search(words):
        return None
    if body.endswith(" -") and not words.startswith(" "):
        body += " "
    at = body.rfind(SEPARATOR)
    tail = body[at + len(SEPARATOR) :] if at >= 0 else body
    pieces = (tail + words).split(SEPARATOR)
    if len(pieces) == 1 and _whole(tail) and not (wrapped and DIGITS.fullmatch(words)):
        return None
    *whole, rest = pieces
    if not all(map(_whole, whole)):
        return None
    rest = rest.rstrip().removesuffix(" -")
    return body + words if _whole(rest) or FRAGMENT.fullmatch(rest) else None


def _whole(piece: str) -> bool:
    key, _, text = piece.rpartition(":")
    return bool(key) and NUMBER.fullmatch(text.strip()) is not None


def _alone(body: str) -> str:
    """The text up to what another writer put behind it."""
    if "\r" in body or "pid=" in body:
        return NEIGHBOUR.split(body, maxsplit=1)[0]
    return body


def _value(word: str) -> float:
    return float(word == "True") if word[0] in "TF" else float(word)
