"""`ssh://[user@]host[:port]/path`: a run on another machine, through the user's own ssh.

Its one rule: the words of a target reach ssh and the far shell as words, whatever they are. Nothing is
decided for the user: keys, agents, jump hosts, shared connections and host-key checks are as ssh has them.
"""

import re
import shlex
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import unquote

from ...models.text import printable
from ..source import Source
from ..target import TargetError
from .mirror import MirrorSource
from .ssh_follow import SshFilling

PREFIX = "ssh://"
USAGE = "give ssh://[user@]host[:port]/path, or ssh://host/~/path below the home folder"
_AUTHORITY = re.compile(
    r"(?:(?P<user>[^@:\[\]\s]+)@)?(?:\[(?P<ip>[0-9a-fA-F:.%\w]+)\]|(?P<host>[^@:\[\]\s]+))(?::(?P<port>\d{1,5}))?"
)
_HOME = re.compile(r"/~(?P<user>[A-Za-z0-9_][A-Za-z0-9_.-]*)?(?:/(?P<rest>.*))?", re.DOTALL)

OPTIONS = (
    "-T",  # no terminal
    "-a",  # the far side gets no agent of ours,
    "-x",  # nor a screen,
    *("-o", "ClearAllForwardings=yes"),  # nor forwarded ports, which another session may hold already
    *("-o", "BatchMode=yes"),  # never a question in the middle of the screen
    *("-o", "RemoteCommand=none"),  # a configured one cannot stand beside ours
)


class Address(NamedTuple):
    """Where a run is."""

    argv: tuple[str, ...]
    """How ssh is started; the far side's shell comes on its standard input."""
    path: str
    """The path, as a word for the far side's shell."""
    shown: str
    """The whole target, fit for a screen."""
    parts: tuple[str, str]
    """The path's last two names, for the mirror's folders: of the parent, and of the target itself."""


def open(target: str) -> Sequence[Source]:
    """The source of an ssh target.

    Raises:
        TargetError: it is not of the form above.
    """
    return (MirrorSource("ssh", SshFilling(address_of(target))),)


def address_of(target: str) -> Address:
    """What a target means. Its path is percent-decoded, as in every URL that ssh takes.

    Raises:
        TargetError: no host, no path, or words that ssh would take for options.
    """
    shown = printable(target).rstrip("/")
    authority, slash, rest = target.removeprefix(PREFIX).partition("/")
    match = _AUTHORITY.fullmatch(authority)
    if match is None or not authority.isprintable():
        raise TargetError(f"{shown}: names no host: {USAGE}")
    user, host, port = match["user"], match["ip"] or match["host"], match["port"]
    if any(word is not None and word.startswith("-") for word in (user, host)):
        raise TargetError(f"{shown}: ssh would take that for an option: {USAGE}")
    if port is not None and not 0 < int(port) < 65536:
        raise TargetError(f"{shown}: no such port: {USAGE}")
    path = "/" + unquote(rest).strip("/")
    if not slash or path == "/":
        raise TargetError(f"{shown}: names no file or folder: {USAGE}")
    if "\0" in path:
        raise TargetError(f"{shown}: no path has NUL in it")
    argv = ["ssh", *OPTIONS]
    argv += [] if user is None else ["-l", user]
    argv += [] if port is None else ["-p", port]
    return Address((*argv, "--", host, "exec sh"), _word(path), shown, _parts(path))


def _word(path: str) -> str:
    """The path for a shell. A home folder is the one thing that the shell has to look up."""
    home = _HOME.fullmatch(path)
    if home is None:
        return shlex.quote(path)
    base = '"$HOME"' if home["user"] is None else f"~{home['user']}"
    return base if not home["rest"] else f"{base}/{shlex.quote(home['rest'])}"


def _parts(path: str) -> tuple[str, str]:
    names = [name for name in path.split("/") if name not in ("", ".")][-2:]
    safe = ["run", "run", *(name if name != ".." else "run" for name in names)]
    return safe[-2], safe[-1]
