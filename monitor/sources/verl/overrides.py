"""Reads Hydra overrides: `key.path=value` as a shell echoes them, as Hydra repeats them after a crash.

Its one rule: what the shell had yet to fill in (`$MODEL`) is not known.
"""

import re
import shlex

from ....models.run import ConfigValue
from .scalar import scalar

OVERRIDE = re.compile(r"\+{0,2}([A-Za-z_][\w-]*(?:\.[\w-]+)+)=(.*)", re.DOTALL)
LISTED = re.compile(r"'((?:[^'\\]|\\.)*)'|\"((?:[^\"\\]|\\.)*)\"")
LONGEST = 64 * 1024


def from_command(text: str) -> dict[str, ConfigValue]:
    """The overrides in a command line."""
    text = text[:LONGEST]
    try:
        words = shlex.split(text)
    except ValueError:  # an open quote: the line was cut
        words = text.split()
    return _read(words)


def from_list(text: str) -> dict[str, ConfigValue]:
    """The overrides in a printed Python list, such as `['data.train_batch_size=256', …]`."""
    return _read([one or two for one, two in LISTED.findall(text[:LONGEST])])


def _read(words: list[str]) -> dict[str, ConfigValue]:
    found: dict[str, ConfigValue] = {}
    for word in words:
        match = OVERRIDE.fullmatch(word)
        if match and "$" not in match[2] and not match[2].startswith(("[", "{")):
            found[match[1]] = scalar(match[2])
    return found
