"""Collects the configuration that the veRL trainer prints: a pprint'ed dict over hundreds of lines.

Its one rule: the depth of a key is told by the column that it stands in, not by counting brackets, so
that foreign lines inside the dump, or a dump that breaks off, spoil nothing but themselves.

pprint writes piece by piece, and Ray ends a line wherever a piece was flushed: `'port': ` may stand in one
line and `8000,` in the next, with other lines between them. Such a line waits for its rest.
"""

import re

from ....models.run import ConfigValue
from .scalar import scalar

FIRST = re.compile(r"\{'[a-z_]+': ?\{")
LINE = re.compile(r"\s+(?:['\"\[{(\-\d]|None|True|False|inf\b|nan\b)")
TOKEN = re.compile(
    r"(?P<text>'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")(?P<colon>\s*:)?|(?P<sign>[\[\](){},])|(?P<word>[^\s'\"\[\](){},:]+)"
)
MOST_KEYS = 5000
LONGEST = 10_000
BEGUN = re.compile(r"\s*$|\s+['\"\[{(]")
"""How a line begins that may wait for its rest: an indent alone, or a key, text or bracket behind it."""
REST = re.compile(r"[:,{\[(}\])'\"]|(?:None|True|False|inf|nan|-?\d[\w.+-]*)\s*(?:[,}\])]|$)")
"""How the rest of such a line begins: at the first column."""
PATIENCE = 400
"""Foreign lines of the same process after which the dump counts as broken off."""


def starts(words: str) -> bool:
    """Whether a statement is the first line of a printed configuration."""
    return words.startswith("{'") and FIRST.match(words) is not None


class Dump:
    """One printed configuration, fed line by line with what its process said."""

    def __init__(self, by: str) -> None:
        self.by = by
        self.flat: dict[str, ConfigValue] = {}
        self.done = False
        self._open = 0
        """Braces still open: tells the last line, and nothing else."""
        self._path: list[tuple[int, str]] = []
        """(column, key) from the outermost key to the one read last."""
        self._begun = False
        self._foreign = 0
        self._held: str = ""
        """A line whose rest has not come."""

    def take(self, words: str) -> bool:
        """Read a line; False when it is not part of the dump."""
        held, self._held = self._held, ""
        if held and REST.match(words):
            words = held + words
        elif self._begun and BEGUN.match(words) is None and LINE.match(words) is None:
            self._held = held  # another's line: the rest may still come
        elif held.strip():
            self._read(held)
        if self._begun and self._waits(words):
            self._held = words
            return bool(words.strip())
        words = words.rstrip()
        if self._begun and not (LINE.match(words) and words[-1] in ",[{(}])'\""):
            self._foreign += 1
            self.done = self.done or self._foreign > PATIENCE
            return False
        self._begun = True
        self._read(words)
        self.done = self.done or self._open <= 0 or len(self.flat) > MOST_KEYS
        return True

    def _waits(self, words: str) -> bool:
        """Whether the rest of a line may still come: it is neither closed by a comma nor the last."""
        if BEGUN.match(words) is None or len(words) > LONGEST or words.rstrip().endswith(","):
            return False
        return self._open + words.count("{") - words.count("}") > 0

    def _read(self, words: str) -> None:
        fresh = True  # no key seen in this line yet: the column tells its parent
        child = False  # a brace was opened: the next key is a child of the last one
        listed = 0
        key_before = False
        for token in TOKEN.finditer(words):
            sign = token["sign"]
            key_now = bool(token["colon"]) and not listed
            if key_now:
                self._go_to(token.start(), token["text"][1:-1], fresh, child)
                fresh = child = False
            elif sign is None:
                if key_before and not listed:
                    self._keep(token["text"] or token["word"])
            elif sign in "[(":
                listed += 1
            elif sign in "])":
                listed = max(0, listed - 1)
            elif sign in "{}":
                child = self._brace(sign, child, bool(listed))
            key_before = key_now

    def _go_to(self, column: int, key: str, fresh: bool, child: bool) -> None:
        if fresh:
            while self._path and self._path[-1][0] >= column:
                self._path.pop()
        elif not child and self._path:
            self._path.pop()
        self._path.append((column, key))

    def _brace(self, sign: str, child: bool, listed: bool) -> bool:
        """Follow a brace; whether the next key is a child of the last one."""
        self._open += 1 if sign == "{" else -1
        if listed:
            return child
        if sign == "}" and not child and self._path:
            self._path.pop()
        return sign == "{"

    def _keep(self, text: str) -> None:
        if not text.startswith("np."):
            self.flat[".".join(key for _, key in self._path)] = scalar(text)
