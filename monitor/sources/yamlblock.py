"""Block YAML as programs write it, down to the scalars: configurations of Hydra, EasyR1 and SwanLab.

Its one rule: mappings below mappings are read, as PyYAML writes them, and the rest is passed over: lists,
tags, anchors, keys of several lines. A package for the whole of YAML would serve a few files of settings.
"""

import re
import sys
from collections.abc import Iterator
from typing import NamedTuple

_KEY = re.compile(
    r"""(?:'((?:[^']|'')*)'|"((?:[^"\\]|\\.)*)"|((?!- |\? |\#)[^'"\s].*?)):(?:[ ]+(.*))?$""", re.DOTALL
)
_ANCHOR = re.compile(r"&\S+ *")
"""What PyYAML writes before something that comes again."""
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.DOTALL)
NO_SCALAR = frozenset("[{|>*!#")
"""What begins with one of these is a list, a block, a reference, a tag or a remark."""
_ESCAPED = dict(zip("0abtnvfreN_LP", "\0\a\b\t\n\v\f\r\x1b\x85\xa0\u2028\u2029", strict=True))


class Entry(NamedTuple):
    """A scalar: the keys above it, the outermost first, and its text as written, quotes and all."""

    path: tuple[str, ...]
    text: str


class _Open:
    """A scalar that may go on in the next lines."""

    def __init__(self, indent: int, path: tuple[str, ...], text: str) -> None:
        self.indent = indent
        self.quote_open = False
        self._path = path
        self._quote = text[0] if text[0] in "'\"" else ""
        self._parts = [text]
        self._look(text)

    def add(self, content: str) -> None:
        """The next line: an empty one stands for the end of one, others are one text."""
        last = self._parts[-1]
        if not content:
            self._parts.append("\n")
        elif last.endswith("\\") and self._quote == '"':
            self._parts[-1] = last[:-1]
            self._parts.append(content)
        else:
            self._parts += [content] if last == "\n" else [" ", content]
        self._look(content)

    def entry(self) -> Entry:
        """All of it."""
        return Entry(self._path, "".join(self._parts))

    def _look(self, content: str) -> None:
        """Whether the quote is open behind these words. A quote that is meant is escaped, or doubled."""
        if self._quote:
            plain = content if self._quote == "'" else _ESCAPE.sub("", content)
            self.quote_open ^= plain.count(self._quote) % 2 == 1


def entries(text: str) -> Iterator[Entry]:
    """The scalars of a text. What begins like one is among them: `[`, `{`, `|`, `>`, `*` and `!`."""
    open_: _Open | None = None
    places: list[tuple[int, str]] = []
    in_list: int | None = None
    for line in text.split("\n"):
        content = line.strip(" \r")
        indent = len(line) - len(line.lstrip(" "))
        if open_ is not None:
            if (content and indent > open_.indent) or (open_.quote_open and not content):
                open_.add(content)
                continue
            yield open_.entry()
            open_ = None
        if not content or content.startswith("#"):
            continue
        is_item = content == "-" or content.startswith("- ")
        if in_list is not None and (indent > in_list or (is_item and indent == in_list)):
            continue
        in_list = indent if is_item else None
        found = None if is_item else _KEY.match(content)
        if found is None:
            continue
        while places and places[-1][0] >= indent:
            places.pop()
        places.append((indent, _name(found)))
        told = _ANCHOR.sub("", found[4], count=1) if (found[4] or "")[:1] == "&" else found[4]
        if told:
            open_ = _Open(indent, tuple(name for _, name in places), told)
    if open_ is not None:
        yield open_.entry()


def _name(found: "re.Match[str]") -> str:
    single, double, plain, _ = found.groups()
    if single is not None:
        return single.replace("''", "'")
    return _unescaped(double) if double is not None else plain


def unquoted(text: str) -> str | None:
    """What a quoted text stands for; None of one that is not quoted."""
    if len(text) < 2 or text[0] != text[-1]:
        return None
    if text[0] == "'":
        return text[1:-1].replace("''", "'")
    return _unescaped(text[1:-1]) if text[0] == '"' else None


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(_meant, text)


def _meant(found: "re.Match[str]") -> str:
    code = found[1] or found[2] or found[3]
    if not code:
        return _ESCAPED.get(found[4], found[4])
    return chr(int(code, 16)) if int(code, 16) <= sys.maxunicode else found[0]
