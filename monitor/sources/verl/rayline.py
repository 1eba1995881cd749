"""Takes a terminal line apart: colours off, Ray's prefixes off, lines that ran into each other cut.

Its one rule: who said something is told apart from what was said, and the words are left as they are.
"""

import re
from typing import NamedTuple

ESCAPE = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\[\d{1,2}(?:;\d{1,2})*m")
"""Colour codes, and what is left of them where a paste lost the escape character."""
PREFIX = re.compile(r"\((?:(?P<name>[\w.:+-]+(?: [\w.:+-]+)?) )?pid=(?P<pid>\d+)(?:, ip=[^)\s]+)?\) ?")
"""Such as `(TaskRunner pid=12, ip=10.0.0.2) `, `(abcWorkerDict_0:1 WorkerDict pid=7) ` or `(pid=7) `."""
RAYLET = re.compile(r"\((?:raylet|autoscaler)[^)]*\) ?")
REPEATED = re.compile(r" ?\[repeated \d+x across cluster\].*$")


class Said(NamedTuple):
    """What one process said in one line."""

    by: str
    """Name and process id, such as `TaskRunner 12`; empty for the process whose output this is."""
    words: str
    """Without prefix and colours; a lone carriage return stays in."""


def without_colour(text: str) -> str:
    """The text without terminal escapes."""
    return ESCAPE.sub("", text) if "\x1b" in text or "[3" in text or "[0m" in text else text


def said(text: str) -> list[Said]:
    """The statements of one line, in order. Mostly one; more where lines ran into each other."""
    text = without_colour(text)
    if "pid=" not in text:
        return [_unprefixed(text)]
    parts: list[Said] = []
    by, start = "", 0
    for match in PREFIX.finditer(text):
        if match.start() > start or by:
            parts.append(Said(by, text[start : match.start()]))
        by, start = f"{match['name'] or ''} {match['pid']}".strip(), match.end()
    rest = text[start:]
    parts.append(Said(by, rest) if by else _unprefixed(rest))
    return parts


def _unprefixed(text: str) -> Said:
    match = RAYLET.match(text)
    return Said("raylet", text[match.end() :]) if match else Said("", text)


def without_count(words: str) -> str:
    """The words without Ray's remark that others said the same."""
    return REPEATED.sub("", words) if "[repeated " in words else words
