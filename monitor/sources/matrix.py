"""The table of docs/sources.md: which source tells which quantity, and how, in the formats' own words."""

from ..places import told_by_places
from ..tells import QUANTITIES, Tells
from . import formats

TITLES = {"length": "response length", "clip": "clip ratio", "time": "step time", "gpus": "GPUs"}
UNKNOWN = "–"


def matrix() -> str:
    """A Markdown table with a row a format, and one for what is read at a place in a way of its own."""
    titles = ["source", *(TITLES.get(name, name) for name in QUANTITIES)]
    rows = [(form.name, form.tells) for form in formats()] + told_by_places()
    return "\n".join(
        (
            _row(titles),
            _row(["---"] * len(titles)),
            *(_row([name, *_words(tells)]) for name, tells in rows),
        )
    )


def _words(tells: Tells) -> list[str]:
    return [getattr(tells, name) or UNKNOWN for name in QUANTITIES]


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"
