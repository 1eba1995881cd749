"""Addresses of receivers without their secrets. Pure.

Its one rule: of an address only its scheme may be shown, since services put tokens in the user, the host,
the path and the query alike.
"""

import re
from collections.abc import Iterable
from urllib.parse import quote, quote_plus, unquote, unquote_plus

HIDDEN = "…"
SHORTEST = 4
"""Characters: a shorter piece of an address is no secret, and is in half of all words."""
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]{0,20})://")
_BETWEEN = re.compile(r"[/:@?&=#,;\s]+")


def scheme_of(url: str) -> str:
    """`slack://…`, and `…` of what has no scheme."""
    found = _SCHEME.match(url.strip())
    return f"{found[1].lower()}://{HIDDEN}" if found else HIDDEN


class Redactor:
    """Takes every piece of these addresses out of a text, as written and as encoded for the web."""

    def __init__(self, urls: Iterable[str]) -> None:
        pieces: set[str] = set()
        for url in urls:
            url = url.strip()
            found = _SCHEME.match(url)
            rest = url[found.end() :] if found else url
            for form in (rest, unquote(rest), unquote_plus(rest)):
                for piece in (form, *_BETWEEN.split(form)):
                    pieces |= {piece, quote(piece), quote(piece, safe=""), quote_plus(piece), unquote(piece)}
        told = sorted((p for p in pieces if len(p) >= SHORTEST), key=lambda piece: (-len(piece), piece))
        self._pieces = re.compile("|".join(map(re.escape, told)), re.IGNORECASE) if told else None

    def clean(self, text: str) -> str:
        """The text with each piece as an ellipsis."""
        if self._pieces is None:
            return text
        # Taking one piece out can bring the halves of another together, in theory.
        while (cleaned := self._pieces.sub(HIDDEN, text)) != text:
            text = cleaned
        return text
