"""The web server behind `rltop serve`: textual-serve, kept to the pages that it served itself.

A browser lets any site open a socket to this machine. What the site cannot do is hide where it comes from: a
socket whose Origin is not our own page is refused, and so is a name for this machine that is not ours.
"""

import logging
import sys
from urllib.parse import urlsplit

from aiohttp import web
from textual_serve.server import Server

LOCAL = ("localhost", "127.0.0.1", "::1")


class Page(Server):
    """Serves one command, a process a page."""

    def initialize_logging(self) -> None:
        logging.basicConfig(level="WARNING", format="rltop: %(message)s")

    async def on_startup(self, app: web.Application) -> None:
        print(f"rltop: open {self.public_url} (Ctrl-C ends it)", file=sys.stderr, flush=True)

    async def handle_index(self, request: web.Request) -> web.Response:
        """The page, which calls back by the name that it was asked by, such as that of a tunnel's end."""
        self.public_url = f"http://{request.host}"  # nothing waits between here and its use
        return await super().handle_index(request)  # pyright: ignore[reportReturnType] - its decorator answers

    async def handle_websocket(self, request: web.Request) -> web.WebSocketResponse:
        if not self._ours(request):
            raise web.HTTPForbidden(text="rltop: opened from another page")
        return await super().handle_websocket(request)

    def _ours(self, request: web.Request) -> bool:
        names = {self.host, *(LOCAL if self.host in LOCAL else ())}
        asked, origin = urlsplit(f"//{request.host}"), urlsplit(request.headers.get("Origin", ""))
        if self.host in ("0.0.0.0", "::"):
            return origin.netloc == request.host  # every name of this machine was asked for
        return asked.hostname in names and origin.netloc == request.host
