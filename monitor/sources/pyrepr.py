"""Reads Python dict reprs out of log lines. Its one rule: nothing is evaluated, and nothing raises.

`ast.literal_eval` is no use here: it fails on the `nan`, `inf` and `np.float64(0.5)` that trainers print.
"""

import re

Scalar = str | float | bool | None
"""A value inside a dict. Whole numbers come as floats; what is no scalar (a list, a tuple) comes as None."""

MAX_DEPTH = 16

_TOKEN = re.compile(
    r"""\s*(?:
    (?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
    |(?P<number>[-+]?(?:\d[\d_]*(?:\.\d*)?(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|inf\b|nan\b|Infinity\b|NaN\b))
    |(?P<word>[A-Za-z_][\w.]*)
    |(?P<sign>[][{}(),:=])
    )""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_WORDS: dict[str, Scalar] = {
    "None": None,
    "null": None,
    "True": True,
    "true": True,
    "False": False,
    "false": False,
}


class Unreadable(ValueError):
    """The text is no dict repr, or is cut off."""


def read_dict(text: str, start: int = 0) -> tuple[dict[str, Scalar], int] | None:
    """The dict whose brace is at `start`, and the position after it; None when it is no whole dict.

    Dicts within it are flattened with slashes, as trackers do.
    """
    try:
        return _Reader(text, start).outermost()
    except Unreadable:
        return None


def numbers(values: dict[str, Scalar]) -> dict[str, float]:
    """The numeric entries, with numbers that were printed as strings (`'0.1234'`) among them."""
    found: dict[str, float] = {}
    for key, value in values.items():
        if isinstance(value, (bool, float)):
            found[key] = float(value)
        elif isinstance(value, str) and (number := number_of(value)) is not None:
            found[key] = number
    return found


def number_of(text: str) -> float | None:
    """A number as printed, or None."""
    try:
        return float(text)
    except ValueError:
        return None


class _Reader:
    """A recursive descent over one line; linear in its length, bounded in depth."""

    def __init__(self, text: str, position: int) -> None:
        self._text = text
        self._position = position

    def outermost(self) -> tuple[dict[str, Scalar], int]:
        found: dict[str, Scalar] = {}
        self._expect("{")
        self._entries(found, "", 0)
        return found, self._position

    def _next(self) -> tuple[str, str]:
        match = _TOKEN.match(self._text, self._position)
        if match is None or match.lastgroup is None:
            raise Unreadable
        self._position = match.end()
        return match.lastgroup, match.group(match.lastgroup)

    def _peek(self) -> str:
        match = _TOKEN.match(self._text, self._position)
        return "" if match is None else match.group().strip()

    def _expect(self, sign: str) -> None:
        if self._next() != ("sign", sign):
            raise Unreadable

    def _entries(self, into: dict[str, Scalar], prefix: str, depth: int) -> None:
        """The entries of a dict whose opening brace has been read."""
        while self._peek() != "}":
            kind, token = self._next()
            if kind == "sign":
                raise Unreadable
            key = prefix + (_unquoted(token) if kind == "text" else token)
            self._expect(":")
            if self._peek() == "{":
                self._next()
                if depth >= MAX_DEPTH:
                    raise Unreadable
                self._entries(into, key + "/", depth + 1)
            else:
                into[key] = self._value(depth + 1)
            if self._peek() == ",":
                self._next()
            elif self._peek() != "}":
                raise Unreadable
        self._next()

    def _value(self, depth: int) -> Scalar:
        if depth > MAX_DEPTH:
            raise Unreadable
        kind, token = self._next()
        if kind == "text":
            return _unquoted(token)
        if kind == "number":
            return float(token.replace("_", ""))
        if kind == "word":
            if self._peek() != "(":
                return _WORDS.get(token, token)
            self._next()
            # A wrapper such as np.float64(0.5) or tensor(0.5, device='cuda:0'): its first argument counts.
            return self._sequence(")", depth)
        if token in "([":
            self._sequence(")" if token == "(" else "]", depth)
            return None
        if token == "{":
            self._entries({}, "", depth)
            return None
        raise Unreadable

    def _sequence(self, closing: str, depth: int) -> Scalar:
        """The first element of a sequence whose opening bracket has been read, up to its end."""
        first: Scalar = None
        count = 0
        while self._peek() != closing:
            value = self._value(depth + 1)
            if count == 0:
                first = value
            count += 1
            if self._peek() in {",", "="}:
                self._next()
            elif self._peek() != closing:
                raise Unreadable
        self._next()
        return first


def _unquoted(token: str) -> str:
    body = token[1:-1]
    return _ESCAPE.sub(r"\1", body) if "\\" in body else body
