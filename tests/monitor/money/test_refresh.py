"""Refreshing the prices, against a server on this machine that behaves well or badly."""

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from pydantic_core import to_json

from rltop.monitor.money.book import Book
from rltop.monitor.money.published import RefreshError, parse
from rltop.monitor.money.refresh import LARGEST, changes, kept, refresh

BOOK = Book.load()
QWEN = {
    "name": "Qwen3-8B",
    "tinker_id": "Qwen/Qwen3-8B",
    "prefill": "$0.39",
    "cached_prefill": "$0.039",
    "sample": "$0.60",
    "train": "$0.44",
}
Answer = Callable[[BaseHTTPRequestHandler], None]


@pytest.fixture
def release() -> Iterator[threading.Event]:
    """Lets a server that hangs go when the test is over."""
    event = threading.Event()
    yield event
    event.set()


@pytest.fixture
def serve() -> Iterator[Callable[[Answer], str]]:
    """Start a server that answers as told; its URL."""
    servers: list[ThreadingHTTPServer] = []

    def start(answer: Answer) -> str:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                if self.headers.get("User-Agent", "").startswith("Python-urllib"):
                    self.send_error(403)
                else:
                    answer(self)

            def log_message(self, format: str, *args: object) -> None:
                """Say nothing."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_address[1]}/models.json"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def body(content: bytes) -> Answer:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content)

    return answer


def test_a_new_list_is_kept_under_its_day_and_the_changes_are_told_in_percent(
    serve: Callable[[Answer], str], tmp_path: Path
) -> None:
    done = refresh(tmp_path / "cache", BOOK, "2026-12-01", "1.0", url=serve(body(to_json([QWEN]))))
    assert done.path.name == "tinker-2026-12-01.json"
    doubled = [change for change in done.changes if change.model == QWEN["tinker_id"]]
    assert [(change.meter, change.percent) for change in doubled] == [("prefill", pytest.approx(100))]
    snapshots, bad = kept(tmp_path / "cache")
    assert bad == ()
    price = BOOK.with_snapshots(snapshots).token_price("Qwen/Qwen3-8B", date="2026-12-02")
    assert price is not None
    assert (price.prefill, price.prefill_cached, price.train) == (0.39, 0.039, 0.44)
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["tinker-2026-12-01.json"]


def test_models_that_are_new_or_gone_are_changes_without_a_percentage() -> None:
    rows, _ = parse(to_json([{**QWEN, "tinker_id": "new/model"}]))
    found = changes(BOOK, BOOK.snapshots[-1].__class__("tinker", "2026-12-01", "test", rows))
    assert any(c.model == "new/model" and c.before is None and c.percent is None for c in found)
    assert any(c.model == "Qwen/Qwen3-8B" and c.after is None for c in found)


def test_an_entry_without_a_price_is_named_and_left_out(
    serve: Callable[[Answer], str], tmp_path: Path
) -> None:
    broken = {name: value for name, value in QWEN.items() if name != "sample"} | {"tinker_id": "half/priced"}
    content = to_json([QWEN, broken, "nonsense", {**QWEN, "tinker_id": None, "name": "nameless"}])
    done = refresh(tmp_path, BOOK, "2026-12-01", "1.0", url=serve(body(content)))
    assert done.skipped == ("half/priced", "entry 3", "nameless")
    assert len(done.snapshot.rows) == 1


def test_a_model_without_a_cached_or_a_training_price_is_kept() -> None:
    rows, skipped = parse(to_json([{"tinker_id": "a/b", "prefill": "$1", "sample": "$2"}]))
    assert skipped == ()
    assert rows[0]["prefill_cached"] is None
    assert rows[0]["train"] is None


@pytest.mark.parametrize("price", ["free", "$0", "-1", True, None, "NaN", "1e400", [1]])
def test_what_is_no_price_is_not_taken_for_one(price: object) -> None:
    _, skipped = parse(to_json([QWEN, {**QWEN, "tinker_id": "odd/price", "sample": price}]))
    assert skipped == ("odd/price",)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"<html>moved</html>", "not JSON"),
        (b'[{"tinker_id": "Qwen', "not JSON"),
        (b'{"models": []}', "not a list"),
        (b"[]", "no model with its prices"),
        (b" " * (LARGEST + 1), "longer than"),
    ],
)
def test_an_answer_that_is_no_list_changes_nothing(
    serve: Callable[[Answer], str], tmp_path: Path, content: bytes, said: str
) -> None:
    with pytest.raises(RefreshError, match=said):
        refresh(tmp_path, BOOK, "2026-12-01", "1.0", url=serve(body(content)))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("code", [403, 404, 500])
def test_an_error_of_the_server_is_told_by_its_code(
    serve: Callable[[Answer], str], tmp_path: Path, code: int
) -> None:
    with pytest.raises(RefreshError, match=f"answered {code}"):
        refresh(tmp_path, BOOK, "2026-12-01", "1.0", url=serve(lambda handler: handler.send_error(code)))


def test_a_server_that_never_answers_is_given_up(
    serve: Callable[[Answer], str], tmp_path: Path, release: threading.Event
) -> None:
    def hang(handler: BaseHTTPRequestHandler) -> None:
        release.wait(10)

    with pytest.raises(RefreshError, match=r"no answer within 0\.2 s"):
        refresh(tmp_path, BOOK, "2026-12-01", "1.0", url=serve(hang), timeout_s=0.2)


def test_a_server_that_drips_is_given_up_too(
    serve: Callable[[Answer], str], tmp_path: Path, release: threading.Event
) -> None:
    def drip(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        while not release.wait(0.05):
            handler.wfile.write(b" ")

    with pytest.raises(RefreshError, match=r"no answer within 0\.3 s"):
        refresh(tmp_path, BOOK, "2026-12-01", "1.0", url=serve(drip), timeout_s=0.3)


def test_an_answer_that_is_cut_off_is_none(serve: Callable[[Answer], str], tmp_path: Path) -> None:
    def cut(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "5000")
        handler.end_headers()
        handler.wfile.write(to_json([QWEN])[:50])

    with pytest.raises(RefreshError):
        refresh(tmp_path, BOOK, "2026-12-01", "1.0", url=serve(cut))
    assert list(tmp_path.iterdir()) == []


def test_no_server_at_all_is_told_in_one_line(tmp_path: Path) -> None:
    with pytest.raises(RefreshError) as raised:
        refresh(tmp_path, BOOK, "2026-12-01", "1.0", url="http://127.0.0.1:9/models.json")
    assert "\n" not in str(raised.value)


def test_a_folder_that_cannot_be_written_to_is_told(serve: Callable[[Answer], str], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(RefreshError, match="file"):
        refresh(tmp_path / "file" / "x", BOOK, "2026-12-01", "1.0", url=serve(body(to_json([QWEN]))))


def test_a_snapshot_that_was_damaged_is_left_out_and_named(tmp_path: Path) -> None:
    (tmp_path / "tinker-2026-12-01.json").write_text("{}")
    (tmp_path / "tinker-2026-12-02.json").write_text(
        '{"effective_from": "2026-12-02", "source": "", "rows": [{}]}'
    )
    snapshots, bad = kept(tmp_path)
    assert snapshots == ()
    assert len(bad) == 2
