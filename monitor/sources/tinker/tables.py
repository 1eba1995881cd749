"""The tables that the cookbook prints of each step, as rows of metrics.

Its one rule: a key that the table cut (`test/env/all/ac_tokens_per_tu…`) counts only where just one key of
the cookbook begins so, and a learning rate that was rounded to 0.000000 is not known.
"""

import re

from pydantic_core import to_json

from ..pyrepr import number_of

TITLE = re.compile(r"\s*Step (\d{1,15})\s*")
HEADER = re.compile(r"([┃│|])\s*Metric\s*\1\s*Value\s*\1")
BORDER = re.compile(r"[|\s┏┓┗┛┡┩┠┨└┘├┤┳┻╇┴┬┼━─+-]+")
TITLE_ABOVE = 2
"""The title stands at most so many lines above the header."""
MOST_ROWS = 5000
ALL = "env/all/"
KNOWN = tuple(
    ALL + name
    for name in (
        "ac_tokens_per_turn",
        "ob_tokens_per_turn",
        "turns_per_episode",
        "total_ac_tokens",
        "total_ob_tokens",
        "total_cached_ob_tokens",
        "total_episodes",
        "total_turns",
        "by_group/frac_all_bad",
        "by_group/frac_all_good",
        "by_group/frac_mixed",
        "reward/total",
    )
)
RATES = frozenset({"optim/lr", "learning_rate"})


class Tables:
    """Puts tables together, line by line."""

    def __init__(self) -> None:
        self.row = ""
        """The row of the table that the last line ended, as JSON; empty while there is none."""
        self._step: int | None = None
        self._age = 0
        """Lines since the title."""
        self._edge = ""
        """What stands between the cells of the open table."""
        self._cells: list[tuple[str, str]] = []

    def take(self, text: str) -> bool:
        """Read a line; False when it is no part of a table."""
        self.row = ""
        self._age += 1
        if (header := HEADER.search(text)) is not None:
            self._edge = "│" if header[1] == "┃" else header[1]
            self._cells = []
            if self._age > TITLE_ABOVE + 1:
                self._step = None
            return True
        if self._edge:
            return self._inside(text)
        if "Step" in text and (title := TITLE.fullmatch(text)) is not None:
            self._step, self._age = int(title[1]), 0
        return False

    def end(self) -> str:
        """The row of a table that broke off, as far as it was printed; empty where there is none."""
        row = self._row()
        self._edge = ""
        return row

    def _inside(self, text: str) -> bool:
        parts = text.split(self._edge)
        if len(parts) >= 4 and len(self._cells) < MOST_ROWS:
            key, value = parts[1].strip(), self._edge.join(parts[2:-1]).strip()
            if value or not self._cells:
                self._cells.append((key, value))
            else:  # the rest of a key that was folded
                before, known = self._cells[-1]
                self._cells[-1] = (before + key, known)
            return True
        if BORDER.fullmatch(text):
            if self._cells:
                self.row, self._edge = self._row(), ""
            return True
        self.row, self._edge = self._row(), ""
        return False

    def _row(self) -> str:
        values: dict[str, float] = {}
        for name, text in self._cells if self._edge else ():
            number = number_of(text)
            key = _whole(name)
            if key and number is not None and not (key in RATES and number == 0):
                values[key] = int(number) if text.isdecimal() and number < 2**53 else number
        self._cells = []
        if not values:
            return ""
        step = {} if self._step is None else {"step": self._step}
        return to_json({**step, **values}, inf_nan_mode="constants").decode()


def _whole(name: str) -> str:
    """The key that a cell names; empty where it was cut and what is left does not tell."""
    if not name.endswith("…"):
        return name
    stem = name[:-1]
    at = stem.find(ALL)
    if at < 0:
        return ""
    found = [key for key in KNOWN if key.startswith(stem[at:])]
    return stem[:at] + found[0] if len(found) == 1 else ""
