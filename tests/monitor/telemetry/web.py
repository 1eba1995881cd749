"""A web server on this machine for as long as a test needs it."""

import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Answer = Callable[[str, str], bytes | int]
"""(path, body) -> what to send, or the number of an error."""


@contextmanager
def serving(answer: Answer | Mapping[str, str]) -> Generator[str]:
    """Yields host:port; a mapping is of pages by path."""

    def ask(path: str, body: str) -> bytes | int:
        if callable(answer):
            return answer(path, body)
        return answer[path].encode() if path in answer else 404

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            size = int(self.headers.get("Content-Length") or 0)
            found = ask(self.path, self.rfile.read(size).decode())
            if isinstance(found, int):
                self.send_error(found)
                return
            self.send_response(200)
            self.send_header("Content-Length", str(len(found)))
            self.end_headers()
            self.wfile.write(found)

        do_POST = do_GET

        def log_message(self, format: str, *args: object) -> None:
            """Tests read what they are told, not a log."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
