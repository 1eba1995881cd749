"""A run as Tinker tells it, through its own SDK and a server on this machine."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote

import pytest

from rltop.models.event import Event, LogLine, SourceStatus
from rltop.models.run import RunInfo
from rltop.monitor.clock import FakeClock
from rltop.monitor.places import open_place, place_of
from rltop.monitor.places.tinker import run_of
from rltop.monitor.places.tinker_run import TinkerRest
from rltop.monitor.reader import Pause
from rltop.monitor.target import TargetError

pytest.importorskip("tinker", reason="Tinker's SDK is not installed: pip install 'rltop[tinker]'")

KEY = "tml-not-a-real-key"
RUN = "0a1b2c3d-1111-2222-3333-444455556666:train:0"
PATH = f"/api/v1/training_runs/{RUN}"
NOW = 1_700_000_000.0
"""2023-11-14 22:13:20 UTC"""


class Tinker:
    """What the server answers, and what it was asked."""

    def __init__(self) -> None:
        self.url = ""
        self.status = 200
        self.run: dict[str, Any] = {
            "training_run_id": RUN,
            "base_model": "Qwen/Qwen3-8B",
            "model_owner": "me",
            "is_lora": True,
            "lora_rank": 32,
            "last_request_time": "2023-11-14T22:10:00Z",
            "user_metadata": {"wandb_link": "https://wandb.ai/a/b/runs/c"},
        }
        self.checkpoints: list[dict[str, Any]] = []
        self.asked: list[str] = []

    def save(self, name: str, size: int | None, **more: object) -> None:
        """Another checkpoint."""
        self.checkpoints.append(
            {
                "checkpoint_id": name,
                "checkpoint_type": "training",
                "time": "2023-11-14T21:00:00Z",
                "tinker_path": f"tinker://{RUN}/{name}",
                "size_bytes": size,
                **more,
            }
        )


@pytest.fixture
def tinker(monkeypatch: pytest.MonkeyPatch) -> Iterator[Tinker]:
    """A server, and a key for it."""
    monkeypatch.setenv("TINKER_API_KEY", KEY)
    told = Tinker()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:  # the SDK asks for its configuration first; {} means the defaults
            told.asked.append(f"POST {self.path}")
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.answer(200, {})

        def do_GET(self) -> None:
            path = unquote(self.path).partition("?")[0]
            told.asked.append(f"GET {path}")
            if told.status != 200:
                self.answer(told.status, {"detail": f"no, {KEY}"})
            elif path == PATH:
                self.answer(200, told.run)
            elif path == f"{PATH}/checkpoints":
                self.answer(200, {"checkpoints": told.checkpoints})
            else:
                self.answer(404, {"detail": "no such thing"})

        def answer(self, status: int, body: dict[str, Any]) -> None:
            content = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    told.url = f"http://127.0.0.1:{server.server_port}"
    yield told
    server.shutdown()
    server.server_close()


class Impatient(Pause):
    """Waits for nothing, and remembers how long it should have."""

    def __init__(self) -> None:
        super().__init__()
        self.waits: list[float] = []

    def wait(self, timeout: float | None = None) -> bool:
        self.waits.append(timeout or 0.0)
        return self.is_set()


class Follower:
    """Drives what a thread would, a question at a time."""

    def __init__(self, url: str, run: str = RUN, timeout_s: float = 30.0) -> None:
        self.pause = Impatient()
        self._batches = TinkerRest(run, url, FakeClock(NOW), timeout_s).read(self.pause)

    def look(self) -> list[Event]:
        told: list[Event] = []
        for events in self._batches:
            if not events:
                break
            told += events
        return told


def status_of(events: list[Event]) -> SourceStatus:
    (status,) = [event for event in events if isinstance(event, SourceStatus)]
    return status


@pytest.mark.parametrize(
    "target", [f"tinker:{RUN}", f"tinker://{RUN}/weights/000020", f"tinker:{RUN}/sampler_weights/final"]
)
def test_a_run_is_named_by_its_id_or_by_a_checkpoint(target: str) -> None:
    assert run_of(target) == RUN


@pytest.mark.parametrize("target", ["tinker:", "tinker:///x", "tinker:../x", "tinker:a b", "tinker:a\x1b[2J"])
def test_what_names_no_run_is_one_line(target: str) -> None:
    place = place_of(target)
    assert place is not None
    with pytest.raises(TargetError, match="names no run") as error:
        open_place(place, target)
    assert str(error.value).isprintable()


def test_a_run_is_told_with_what_its_checkpoints_cost(tinker: Tinker) -> None:
    tinker.save("weights/000020", 3_000_000_000, expires_at="2023-12-01T00:00:00Z")
    tinker.save("sampler_weights/000020", 1_000_000_000)
    tinker.save("weights/000040", None)
    events = Follower(tinker.url).look()
    (info,) = [event for event in events if isinstance(event, RunInfo)]
    assert (info.model, info.lora_rank, info.platform) == ("Qwen/Qwen3-8B", 32, "tinker")
    assert info.session_id == RUN.partition(":")[0]
    assert info.config["tinker.user_metadata.wandb_link"] == "https://wandb.ai/a/b/runs/c"
    lines = [event.text for event in events if isinstance(event, LogLine)]
    assert lines == [
        "checkpoint weights/000020 (training, 3.00 GB, kept until 2023-12-01 00:00 UTC)",
        "checkpoint sampler_weights/000020 (training, 1.00 GB)",
        "checkpoint weights/000040 (training)",
    ]
    notes = status_of(events).notes
    assert (
        "2 checkpoints of 4.00 GB: $0.40 a month at the list price, as long as kept, 1 more of unknown size"
        in notes
    )
    assert any("tells no steps" in note for note in notes)


def test_looking_opens_no_session(tinker: Tinker) -> None:
    Follower(tinker.url).look()
    assert not [asked for asked in tinker.asked if "session" in asked]
    assert {asked for asked in tinker.asked if asked.startswith("GET")} == {
        f"GET {PATH}",
        f"GET {PATH}/checkpoints",
    }


def test_the_last_request_is_the_sign_of_life_as_long_as_it_is_one(tinker: Tinker) -> None:
    run = Follower(tinker.url)
    assert status_of(run.look()).modified_at == NOW - 200
    tinker.run["last_request_time"] = "2023-11-10T00:00:00Z"
    status = status_of(run.look())
    assert status.modified_at is None
    assert status.notes[0] == "no request since 2023-11-10 00:00 UTC: ended, or stalled"


def test_only_what_is_new_is_told_again(tinker: Tinker) -> None:
    run = Follower(tinker.url)
    run.look()
    assert run.look() == []
    tinker.save("weights/000020", 1)
    tinker.run["corrupted"] = True
    events = run.look()
    assert [event.text for event in events if isinstance(event, LogLine)] == [
        "checkpoint weights/000020 (training, 0.00 GB)",
        "Tinker says that the run's model is corrupted",
    ]


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (401, "Tinker does not accept this key"),
        (403, "this key may not see the run"),
        (404, f"Tinker knows no run {RUN}"),
    ],
)
def test_a_refusal_is_one_line_without_the_key(tinker: Tinker, code: int, said: str) -> None:
    tinker.status = code
    run = Follower(tinker.url)
    status = status_of(run.look())
    assert (status.state, status.reason.startswith(f"tinker:{RUN}: {said}")) == ("denied", True)
    assert KEY not in status.model_dump_json()
    run.look()
    assert run.pause.waits == [600.0]


def test_no_key_is_one_line(tinker: Tinker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TINKER_API_KEY")
    assert "set TINKER_API_KEY" in status_of(Follower(tinker.url).look()).reason


def test_an_outage_is_a_state_and_all_goes_on_after_it(tinker: Tinker) -> None:
    run = Follower(tinker.url, timeout_s=2.0)
    run.look()
    tinker.status = 503
    status = status_of(run.look())
    assert (status.state, status.reason) == (
        "lost",
        f"tinker:{RUN}: no answer from Tinker within 2 s: is the service up, and the account in order?",
    )
    tinker.status = 200
    assert status_of(run.look()).state == "reading"
    assert run.pause.waits == [30.0, 10.0]
