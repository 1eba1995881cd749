"""The text of the help window: the keys that work here, and what the signs mean."""

from collections.abc import Mapping, Sequence
from itertools import zip_longest

from textual.binding import Binding

from ...monitor.frame import Frame
from .. import bindings
from ..lines import Line, Span, cells, fit
from .panel import Panel

KEY, GAP = 9, 3
SIGNS = (
    ("⣀⠤⠒", "ours", "measured"),
    ("⢀⡠⠔", "projected", "most likely from here on"),
    ("░", "band", "80 % of the outcomes that the run so far makes likely"),
    ("✖", "bad", "critical: act now"),
    ("▲", "warn", "warning: have a look"),
    ("▿ ◇ ↺", "mark", "on an axis: evaluation, checkpoint, restart"),
    ("–", "dim", "not known: never 0, and never a guess"),
)


class HelpText(Panel):
    """Made of the bindings themselves, in two columns where there is room."""

    def __init__(self, here: Sequence[Binding], keys: Sequence[Binding], replay: Sequence[Binding]) -> None:
        super().__init__()
        self._here = here
        self._keys = keys
        self._replay = replay

    def idle(self, width: int, height: int) -> list[Line]:
        signs: list[Line] = [(Span("SIGNS", "title"),)]
        signs += [
            (Span(f"{sign}", ink), Span(" " * (KEY - len(sign)) + meaning)) for sign, ink, meaning in SIGNS
        ]
        left = _table("KEYS", self._keys, self.keymap)
        here, replay = _table("HERE", self._here, self.keymap), _table("REPLAY", self._replay, self.keymap)
        right = [*here, *([()] if here else []), *replay]
        left_width = max(cells(line) for line in left) + GAP
        if left_width + max((cells(line) for line in right), default=0) > width:
            return [*left, (), *right, (), *signs]
        both = [(*fit(one, left_width), *other) for one, other in zip_longest(left, right, fillvalue=())]
        return [*both, (), *signs]

    def lay_out(self, frame: Frame, width: int, height: int) -> list[Line]:
        return self.idle(width, height)


def _table(title: str, keys: Sequence[Binding], keymap: Mapping[str, str]) -> list[Line]:
    """Nothing where there are no keys of the kind."""
    if not keys:
        return []
    lines: list[Line] = [(Span(title, "title"),)]
    lines += [
        (Span(f"{bindings.shown(binding, keymap):<{KEY}}", "key"), Span(binding.description))
        for binding in keys
    ]
    return lines
