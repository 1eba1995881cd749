"""Tinker's own SDK against a server on this machine that speaks the documented billing endpoint."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from rltop.monitor.money.reconcile import DAY_S, begin_of
from rltop.monitor.money.reconcile_usage import UsageError, fetch_usage, windows

pytest.importorskip("tinker", reason="Tinker's SDK is not installed: pip install 'rltop[tinker]'")

KEY = "tml-not-a-real-key"
SESSION = "0a1b2c3d"
JULY_13 = begin_of("2026-07-13")
Json = dict[str, object]


class Billing:
    """What the server answers, and what it was asked."""

    def __init__(self) -> None:
        self.status = 200
        self.events: list[Json] = []
        self.asked: list[dict[str, str]] = []
        self.keys: list[str | None] = []
        self.silent = threading.Event()
        self.silent.set()
        self.url = ""


@pytest.fixture
def billing() -> Iterator[Billing]:
    """A server with the endpoints that the SDK needs to see a bill."""
    answers = Billing()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:  # the SDK asks for its configuration first; {} means the defaults
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.answer(200, {})

        def do_GET(self) -> None:
            at = urlsplit(self.path)
            if at.path != "/api/v1/billing/usage/events":
                self.answer(404, {"detail": "no such thing"})
                return
            answers.asked.append({name: values[0] for name, values in parse_qs(at.query).items()})
            answers.keys.append(self.headers.get("X-API-Key"))
            answers.silent.wait()
            since, until = (answers.asked[-1][name] for name in ("starting_on", "ending_before"))
            inside = [event for event in answers.events if since <= str(event["bucket_start"]) < until]
            told: Json = {"data": inside, "sessions": {SESSION: {}}, "cost_data_through": None}
            self.answer(answers.status, told if answers.status == 200 else {"detail": "no"})

        def answer(self, status: int, body: Json) -> None:
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
    answers.url = f"http://127.0.0.1:{server.server_address[1]}"
    yield answers
    answers.silent.set()
    server.shutdown()
    server.server_close()


def event(at: float, usd: float | None, session: str | None = SESSION, **info: object) -> Json:
    start, end = (datetime.fromtimestamp(t, UTC).strftime("%Y-%m-%dT%H:%M:%SZ") for t in (at, at + 3600))
    return {
        "bucket_start": start,
        "bucket_end": end,
        "base_model": "Qwen/Qwen3-4B-Instruct-2507",
        "session_id": session,
        "estimated_cost_usd": usd,
        "event_info": info,
    }


ALL_KINDS = [
    event(JULY_13, 1.0, type="training", token_count=1000),
    event(JULY_13, 0.5, type="sampling_prefill", cached=False, token_count=700),
    event(JULY_13, 0.1, type="sampling_prefill", cached=True, token_count=300),
    event(JULY_13, 0.9, type="sampling_sample", token_count=400),
    event(JULY_13, None, type="checkpoint", count=2),
    event(JULY_13, 0.01, None, type="storage", free=False, gigabyte_hours=72.0),
    event(JULY_13, 0.0, None, type="storage", free=True, gigabyte_hours=5.0),
]


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TINKER_API_KEY", KEY)


@pytest.mark.usefixtures("key")
def test_every_kind_of_usage_comes_through_the_sdk(billing: Billing) -> None:
    billing.events = ALL_KINDS
    rows = fetch_usage(JULY_13, JULY_13 + DAY_S, 30, base_url=billing.url)
    assert [(row.meter, row.quantity, row.usd) for row in rows] == [
        ("train", 1000, 1.0),
        ("prefill", 700, 0.5),
        ("prefill_cached", 300, 0.1),
        ("sample", 400, 0.9),
        ("checkpoint", 2, None),
        ("storage", 72, 0.01),
    ]
    assert {row.session_id for row in rows} == {SESSION, None}
    assert (rows[0].start, rows[0].end) == (JULY_13, JULY_13 + 3600)
    assert billing.keys == [KEY]


@pytest.mark.usefixtures("key")
def test_a_long_span_is_asked_for_fourteen_days_at_a_time(billing: Billing) -> None:
    billing.events = ALL_KINDS
    assert len(fetch_usage(JULY_13 - 20 * DAY_S, JULY_13 + DAY_S, 30, base_url=billing.url)) == 6
    assert [asked["starting_on"][:10] for asked in billing.asked] == ["2026-06-23", "2026-07-07"]
    assert billing.asked[0]["ending_before"] == billing.asked[1]["starting_on"]


def test_pieces_of_a_span_meet_and_cover_it() -> None:
    pieces = list(windows(JULY_13, JULY_13 + 30 * DAY_S))
    assert [until - since for since, until in pieces] == [14 * DAY_S, 14 * DAY_S, 2 * DAY_S]


@pytest.mark.usefixtures("key")
@pytest.mark.parametrize(
    ("status", "why"),
    [(401, "does not accept this key"), (403, "role of admin or billing admin"), (422, "422")],
)
def test_a_refusal_is_one_line_that_says_what_to_do(billing: Billing, status: int, why: str) -> None:
    billing.status = status
    with pytest.raises(UsageError, match=why) as caught:
        fetch_usage(JULY_13, JULY_13 + DAY_S, 30, base_url=billing.url)
    assert "\n" not in str(caught.value)


@pytest.mark.usefixtures("key")
def test_an_answer_that_the_sdk_does_not_know_asks_for_a_newer_one(billing: Billing) -> None:
    billing.events = [event(JULY_13, 1.0, type="dreaming", token_count=5)]
    with pytest.raises(UsageError, match="upgrade"):
        fetch_usage(JULY_13, JULY_13 + DAY_S, 30, base_url=billing.url)


@pytest.mark.usefixtures("key")
def test_a_silent_server_is_not_waited_for_longer_than_asked(billing: Billing) -> None:
    billing.silent.clear()
    with pytest.raises(UsageError, match=r"no answer from Tinker within 0\.3 s"):
        fetch_usage(JULY_13, JULY_13 + DAY_S, 0.3, base_url=billing.url)


@pytest.mark.parametrize("key", [None, "sk-of-another-house"])
def test_no_key_and_a_key_of_another_kind_are_told(
    billing: Billing, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, key: str | None
) -> None:
    monkeypatch.delenv("TINKER_API_KEY", raising=False)
    monkeypatch.delenv("TINKER_CREDENTIAL_CMD", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    if key is not None:
        monkeypatch.setenv("TINKER_API_KEY", key)
    with pytest.raises(UsageError, match="set TINKER_API_KEY"):
        fetch_usage(JULY_13, JULY_13 + DAY_S, 30, base_url=billing.url)
    assert billing.asked == []


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A run of one step: 400 prompt and 160 sampled tokens, 556 trained on, on 2026-07-13."""
    config = {"model_name": "Qwen/Qwen3-4B-Instruct-2507", "max_tokens": 64, "learning_rate": 1e-4}
    row = {
        "step": 0,
        "progress/batch": 0,
        "progress/done_frac": 1.0,
        "env/all/ac_tokens_per_turn": 40.0,
        "env/all/ob_tokens_per_turn": 100.0,
        "env/all/turns_per_episode": 1.0,
        "env/all/total_episodes": 4,
        "env/all/total_turns": 4,
        "env/all/total_ac_tokens": 160,
        "env/all/total_ob_tokens": 400,
        "env/all/reward/total": 0.5,
        "time/total": 20.0,
    }
    run = tmp_path / "a-run"
    run.mkdir()
    (run / "config.json").write_text(json.dumps(config))
    (run / "metrics.jsonl").write_text(json.dumps(row) + "\n")
    (run / "logs.log").write_text(f"tinker.lib:1 [INFO] ServiceClient initialized for session {SESSION}\n")
    for file in run.iterdir():
        os.utime(file, (JULY_13 + 7200, JULY_13 + 7200))
    return run


Reconcile = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def reconcile(billing: Billing, folder: Path, tmp_path: Path) -> Reconcile:
    """The command on that run and server."""

    def run(*words: str, **more: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-W", "error", "-m", "rltop", "reconcile", str(folder), *words],
            env={
                **os.environ,
                "TINKER_BASE_URL": billing.url,
                "TINKER_API_KEY": KEY,
                "HOME": str(tmp_path),
                **more,
            },
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    return run


def test_the_command_prints_both_bills_with_the_reasons(reconcile: Reconcile, billing: Billing) -> None:
    billing.events = [
        event(JULY_13, 1e-6, type="training", token_count=556),
        event(JULY_13, 1e-6, type="sampling_prefill", cached=False, token_count=400),
        event(JULY_13, 1e-6, type="sampling_sample", token_count=160),
        event(JULY_13, 9.0, "of-another-run", type="sampling_sample", token_count=9_000_000),
    ]
    done = reconcile("--json")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["schema"], told["sessions"]) == (1, [SESSION])
    assert [(line["meter"], line["theirs"], line["ours"]) for line in told["lines"]] == [
        ("sample", 160, 160),
        ("prefill", 400, 400),
        ("train", 556, 556),
    ]
    assert told["theirs_usd"] == pytest.approx(3e-6)
    assert told["difference_usd"] == pytest.approx(told["theirs_usd"] - told["ours_usd"])
    assert [hour["start"] for hour in told["hours"]] == ["2026-07-13T00:00Z"]
    page = reconcile().stdout.splitlines()
    assert SESSION in page[0]
    assert any(line.startswith("train") and "agrees" in line for line in page)


def test_an_empty_window_and_wrong_days_are_told(reconcile: Reconcile, billing: Billing) -> None:
    empty = reconcile()
    assert (empty.returncode, empty.stdout) == (3, "")
    assert f"no usage of session {SESSION} from 2026-07-13 to 2026-07-13: give --start" in empty.stderr
    wrong = reconcile("--start", "2026-07-14", "--end", "2026-07-12")
    assert wrong.returncode == 2
    assert len(billing.asked) == 1


def test_usage_that_may_not_be_in_yet_is_told_as_lag(reconcile: Reconcile, folder: Path) -> None:
    for file in folder.iterdir():
        file.touch()
    late = reconcile()
    assert late.returncode == 3
    assert late.stderr.rstrip().endswith("it lags by some hours, so try again later")


def test_a_log_without_a_session_says_how_to_give_one(reconcile: Reconcile, folder: Path) -> None:
    (folder / "logs.log").unlink()
    nameless = reconcile()
    assert nameless.returncode == 3
    assert nameless.stderr == "rltop: the log names no Tinker session: give --session ID\n"
