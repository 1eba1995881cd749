"""`rltop serve`: the same screen in a browser, by textual-serve.

Its one rule: whoever reaches the port sees the run and may press its keys. So it listens to this machine
alone, unless the user says otherwise, and then a warning is printed.
"""

import argparse
import errno
import shlex
import socket
import sys
from collections.abc import Callable, Sequence

from .. import words
from .flags import complain

LOOPBACK = {"localhost", "127.0.0.1", "::1"}
PORT = 8421
NOT_INSTALLED = "textual-serve is not installed: pip install 'rltop[serve]'"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Where to listen, and what to show."""
    _add_place(parser)
    parser.add_argument("words", nargs=argparse.REMAINDER, metavar="…", help="what rltop would be given")


def _add_place(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--host", type=str.lower, default="localhost", metavar="NAME", help="address to listen on (localhost)"
    )
    parser.add_argument(
        "--port", type=words.port, default=PORT, metavar="N", help=f"port to listen on ({PORT})"
    )


def run(args: argparse.Namespace, understood: Callable[[Sequence[str]], object]) -> int:
    """Serve until interrupted; every page that is opened is a screen of its own.

    `understood` ends the program with a word of why where rltop would not take what it is to be given.
    """
    # Behind the first of rltop's words argparse leaves all to them, our own among them.
    ours = argparse.ArgumentParser(prog="rltop serve", add_help=False, allow_abbrev=False)
    _add_place(ours)
    args, given = ours.parse_known_args(args.words, args)
    understood(given)
    try:
        from .browser import Page  # aiohttp: 0.3 s, and not installed everywhere
    except ModuleNotFoundError:
        return complain(NOT_INSTALLED)
    if why := _taken(args.host, args.port):
        return complain(f"{args.host}:{args.port}: {why}; choose another with --port")
    if args.host not in LOOPBACK:
        print(
            f"rltop: warning: whoever reaches {args.host}:{args.port} sees this run and can press its keys;"
            " there is no password",
            file=sys.stderr,
        )
    command = shlex.join([sys.executable, "-m", "rltop", *given])
    name = f"[{args.host}]" if ":" in args.host else args.host
    url = f"http://{name}:{args.port}"
    Page(command, host=args.host, port=args.port, title="rltop", public_url=url).serve()
    return 0


def _taken(host: str, port: int) -> str:
    """Why nobody can listen there; empty when one can."""
    try:
        place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(place[0], socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(place[4])
    except OSError as error:
        return (
            "in use by another program" if error.errno == errno.EADDRINUSE else error.strerror or str(error)
        )
    return ""
