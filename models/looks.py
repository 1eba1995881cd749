"""How the screen looks and which keys it takes: the table [screen] of rltop.toml."""

from pydantic import Field

from .value import Value


class Looks(Value):
    """The user's taste. A flag beats it."""

    theme: str | None = None
    """One of the themes of the command palette."""
    ascii: bool = False
    """Draw without braille and blocks."""
    mouse: bool = True
    """False leaves the mouse to the terminal, so that text can be marked."""
    keys: dict[str, str] = Field(default={})
    """By the id of what a key does (`rltop config keys`): the keys that do it, such as `c` or `c,f2`."""
