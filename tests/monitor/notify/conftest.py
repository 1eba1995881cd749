"""Frames with the alerts that a test gives them, and a receiver on the loopback."""

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Queue

import pytest

from rltop.models.alert import Alert, Severity
from rltop.models.run import RunStatus
from rltop.models.settings import Settings
from rltop.models.step import Step
from rltop.monitor.frame import Frame
from rltop.monitor.money.book import Book
from rltop.monitor.notify.news import Change, Notice
from rltop.monitor.pipeline import Pipeline

UNREAD = Pipeline(Settings(), Book.load()).frame(0.0)


def read() -> Frame:
    pipeline = Pipeline(Settings(), Book.load())
    pipeline.feed(Step(step=1, duration_s=1.0), 0.0)
    return pipeline.frame(0.0)


EMPTY = read()


def alert(rule: str, step: int, severity: Severity = "warning", cleared: int | None = None) -> Alert:
    return Alert(
        rule=rule,
        severity=severity,
        step=step,
        cleared_step=cleared,
        value=1.0,
        threshold=0.5,
        message=f"{rule} is bad",
        advice="do something",
    )


@pytest.fixture(scope="session")
def alerted() -> Callable[..., Alert]:
    return alert


@pytest.fixture(scope="session")
def frame_of() -> Callable[..., Frame]:
    """A frame of a run with these alerts."""

    def make(*alerts: Alert, now: float = 0.0, status: RunStatus = "running", behind: bool = False) -> Frame:
        return replace(EMPTY, alerts=alerts, now=now, status=status, behind=behind)

    return make


@pytest.fixture(scope="session")
def unread() -> Frame:
    """The frame before anything has been read."""
    return UNREAD


@pytest.fixture(scope="session")
def notice() -> Callable[..., Notice]:
    def make(
        rule: str, severity: Severity = "warning", change: Change = "raised", step: int = 1, run: str = "run"
    ) -> Notice:
        cleared = step + 1 if change == "resolved" else None
        return Notice(change=change, alert=alert(rule, step, severity, cleared), run=run, stand="step 1")

    return make


class Server:
    """Takes what is posted and answers as told: 200 once there are no answers left."""

    def __init__(self) -> None:
        self.answers: list[int] = []
        self.posted: Queue[dict[str, str]] = Queue()
        self.held = threading.Event()
        """Answers wait for it."""
        self.held.set()
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                server.held.wait(20)
                code = server.answers.pop(0) if server.answers else 200
                self.send_response(code)
                self.end_headers()
                if code == 200:
                    server.posted.put(json.loads(body))

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,))
        self._thread.start()

    @property
    def url(self) -> str:
        return f"json://127.0.0.1:{self._http.server_address[1]}/Sesame-Token?rto=0.4&cto=2"

    def close(self) -> None:
        self.held.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    yield server
    server.close()
