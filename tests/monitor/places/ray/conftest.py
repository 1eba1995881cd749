"""A dashboard on this machine that answers like a Ray head, as a real one (2.60) was seen to."""

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from rltop.models.event import Event, SourceStatus
from rltop.monitor.places.ray_api import Head
from rltop.monitor.places.ray_follow import RayFilling
from rltop.monitor.reader import Pause

STEP = (
    "(TaskRunner pid=7) step:%d - critic/rewards/mean:0.5 - response_length/mean:%d.0 - timing_s/step:1.0\n"
)


class Dashboard:
    """What the head answers, and what it was asked."""

    def __init__(self) -> None:
        self.url = ""
        self.jobs: dict[str, dict[str, Any]] = {}
        self.logs: dict[str, bytes] = {}
        """What the state API gives, by the file's name, or by the actor's."""
        self.actors: list[dict[str, Any]] = []
        self.status = 200
        self.old = False
        """No state API."""
        self.asked: list[str] = []
        self.headers: list[dict[str, str]] = []

    def add(self, name: str, status: str = "RUNNING", **more: object) -> None:
        """A submitted job."""
        facts = {"submission_id": name, "job_id": None, "status": status, "entrypoint": "python3 train.py"}
        times = {"start_time": 1_700_000_000_000 + len(self.jobs), "end_time": None}
        self.jobs[name] = {**facts, "message": "", **times, "driver_node_id": "abc", **more}

    def answer(self, path: str, query: dict[str, str]) -> tuple[int, bytes]:
        """The status and the body."""
        if self.status != 200:
            return self.status, b"Unauthorized: Missing authentication token"
        if path == "/api/jobs/":
            return 200, json.dumps(list(self.jobs.values())).encode()
        if path.startswith("/api/jobs/"):
            name, _, rest = path.removeprefix("/api/jobs/").partition("/")
            if name not in self.jobs:
                return 404, f"Job {name} does not exist".encode()
            log = self.logs.get(f"job-driver-{name}.log", b"").decode("utf-8", "replace")
            return 200, json.dumps({"logs": log} if rest else self.jobs[name]).encode()
        if path == "/api/v0/actors":
            mine = [actor for actor in self.actors if actor["job_id"] == query["filter_values"]]
            return 200, json.dumps({"data": {"result": {"result": mine}}}).encode()
        log = self.logs.get(query.get("filename") or query.get("actor_id") or "")
        if log is None or self.old:
            return 500, b"A file is not found at: /tmp/ray/session/logs"
        lines, kept = int(query["lines"]), log.splitlines(keepends=True)
        return 200, log if lines < 1 else b"".join(kept[-lines:])


@pytest.fixture
def dashboard() -> Iterator[Dashboard]:
    """A head to be asked."""
    board = Dashboard()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            at = urlsplit(self.path)
            board.asked.append(self.path)
            board.headers.append(dict(self.headers))
            query = {name: values[0] for name, values in parse_qs(at.query).items()}
            status, body = board.answer(unquote(at.path), query)
            self.send_response(status)
            if 300 <= status < 400:
                self.send_header("Location", "http://127.0.0.1:1/login")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    board.url = f"http://127.0.0.1:{server.server_port}"
    yield board
    server.shutdown()
    server.server_close()
    thread.join()


class Impatient(Pause):
    """Waits for nothing, and remembers how long it should have."""

    def __init__(self) -> None:
        super().__init__()
        self.waits: list[float] = []

    def wait(self, timeout: float | None = None) -> bool:
        self.waits.append(timeout or 0.0)
        return self.is_set()


class Follower:
    """Drives what a thread would, a look at a time."""

    def __init__(self, url: str, job: str | None, folder: Path, headers: dict[str, str]) -> None:
        folder.mkdir()
        self.pause = Impatient()
        self.filling = RayFilling(Head(url, headers), f"ray:{url}", job)
        self._looks = self.filling.fill(folder, self.pause)

    def look(self) -> list[Event]:
        """The events of one look; of the last one there is no end but the job's."""
        told: list[Event] = []
        for events in self._looks:
            if not events:
                break
            told += events
        return told

    def log(self) -> bytes:
        """The copy."""
        assert self.filling.target is not None
        return self.filling.target.read_bytes()


Follow = Callable[..., Follower]


@pytest.fixture
def follow(dashboard: Dashboard, tmp_path: Path) -> Follow:
    """Follow a job of the dashboard."""

    def start(job: str | None = None, headers: dict[str, str] | None = None) -> Follower:
        return Follower(dashboard.url, job, tmp_path / "copy", headers or {})

    return start


def statuses(events: list[Event]) -> list[SourceStatus]:
    """How reading went, but for the words about the way there while nothing is amiss."""
    told = [event for event in events if isinstance(event, SourceStatus)]
    return [
        status for status in told if ": connecting" not in status.reason and ": fetched" not in status.reason
    ]
