"""Writes the table of keys in docs/guide.md from the bindings. Usage: `python -m bench.keytable`."""

import re
from pathlib import Path

from rltop.tui.bindings import shown
from rltop.tui.keymap import EVERYWHERE, REPLAY, known

PAGE = Path(__file__).parents[1] / "docs" / "guide.md"
PLACE = re.compile(r"(<!-- keys: .*? -->\n).*?(<!-- end -->)", re.DOTALL)


def table() -> str:
    """A row for each thing that a key does."""
    rows = ["| key | does | where | id |", "| --- | --- | --- | --- |"]
    for id, what in known().items():
        place = "" if EVERYWHERE in what.places else ", ".join(sorted(what.places))
        place = place if place != REPLAY else "replay"
        rows.append(f"| `{shown(what.binding, {})}` | {what.binding.description} | {place} | `{id}` |")
    return "\n".join(rows)


def renewed(page: str) -> str:
    """The page with the table as it should be now."""
    return PLACE.sub(lambda found: f"{found[1]}\n{table()}\n\n{found[2]}", page)


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
