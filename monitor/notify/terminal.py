"""What makes a terminal call: the bell, and the notifications that some terminals show. Pure.

OSC 9 is that of iTerm2, WezTerm, Windows Terminal and kitty, OSC 777 that of urxvt, Ghostty and foot; a
terminal that knows neither passes over both. Inside tmux they are wrapped so that it hands them on (it
must have `set -g allow-passthrough on`); the bell it passes on by itself.
"""

from collections.abc import Iterable

from ...models.notifying import TerminalCall
from ...models.text import printable

ESC, BEL, ST = "\x1b", "\x07", "\x1b\\"
_LONGEST = 200


def sequences(calls: Iterable[TerminalCall], title: str, body: str, tmux: bool) -> str:
    """The bytes to write, nothing else on the screen changes."""
    title, body = _word(title), _word(body)
    out = ""
    for call in calls:
        if call == "bell":
            out += BEL
        elif call == "osc9":
            out += _passed(f"{ESC}]9;{title}: {body}{BEL}", tmux)
        else:
            out += _passed(f"{ESC}]777;notify;{title};{body}{BEL}", tmux)
    return out


def _word(text: str) -> str:
    """Text that cannot end the sequence, nor be taken for its next field. A progress report of OSC 9 starts
    with `4;`, so a semicolon is a comma."""
    return printable(text).replace(";", ",")[:_LONGEST]


def _passed(sequence: str, tmux: bool) -> str:
    return f"{ESC}Ptmux;{sequence.replace(ESC, ESC * 2)}{ST}" if tmux else sequence
