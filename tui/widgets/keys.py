"""The bottom line: the keys that matter most here. `?` shows all of them."""

from collections.abc import Sequence

from rich.style import Style
from textual.strip import Strip

from .. import bindings
from ..lines import Line, Part, Span, part, row
from .panel import Panel

_SCREENS = tuple(
    (key.key, key.description.partition(":")[0].partition(",")[0], key.action) for key in bindings.SCREENS
)
_EVERYWHERE = (
    ("?", "help", "help"),
    ("q", "quit", "quit"),
    ("^p", "commands", "command_palette"),
)


class Keys(Panel):
    """Needs no frame; each key can be clicked."""

    def __init__(
        self,
        keys: Sequence[tuple[str, str, str]] = (),
        here: str = "",
        *,
        screens: bool = True,
        id: str | None = None,
    ) -> None:
        """`keys` are those of this screen alone: (key as shown, word, action). The one whose action is `here`
        is marked. Without `screens`, there are no others to go to."""
        super().__init__(id=id)
        self._own = frozenset(action for _, _, action in keys)
        self._keys = (*keys, *(_SCREENS if screens else ()), *_EVERYWHERE)
        self._here = here

    def on_mount(self) -> None:
        if not self.keymap:
            return
        every = (*bindings.SCREENS, *bindings.GENERAL, *getattr(self.screen, "KEYS", ()))
        moved = {one.action: bindings.shown(one, self.keymap) for one in every if one.id in self.keymap}
        self._keys = tuple((moved.get(action, key), word, action) for key, word, action in self._keys)

    def say(self, action: str, word: str) -> None:
        """Call the key of an action by another word."""
        self._keys = tuple((key, word if does == action else said, does) for key, said, does in self._keys)
        self._laid_out = None
        if self.is_attached:
            self.renew()

    def idle(self, width: int, height: int) -> list[Line]:
        # Where room is short, the last go first, but never the key that shows all of them.
        parts = [self._part(rank if key[0] != "?" else -1, *key) for rank, key in enumerate(self._keys)]
        return [row(parts, width, gap=2)]

    def lay_out(self, frame: object, width: int, height: int) -> list[Line]:
        return self.idle(width, height)

    def _part(self, rank: int, key: str, word: str, action: str) -> Part:
        here = action == self._here
        return part(rank, Span(key, "key"), Span(f" {word}", "strong" if here else "dim"))

    def _strip(self, line: Line, width: int) -> Strip:
        actions = {word: action for _, word, action in self._keys}
        segments = list(super()._strip(line, width))
        for index, segment in enumerate(segments):
            action = actions.get(segment.text.strip())
            if action is None or index == 0:
                continue
            click = Style.from_meta({"@click": f"{'screen' if action in self._own else 'app'}.{action}"})
            for at in (index - 1, index):  # the key and its word
                segments[at] = segments[at]._replace(style=(segments[at].style or Style()) + click)
        return Strip(segments, width)
