"""`rltop serve` in a real browser: the page shows the run and answers a key, and no other page may."""

import shutil
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rltop.cli import main

if TYPE_CHECKING:
    from selenium.webdriver.chrome.webdriver import WebDriver

DEMO = Path(__file__).parents[2] / "monitor" / "demo" / "data"
CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
RECORD = """
const Real = window.WebSocket;
window.seen = '';
window.WebSocket = class extends Real {
  constructor(...args) {
    super(...args);
    this.binaryType = 'arraybuffer';
    this.addEventListener('message', (event) => {
      if (event.data instanceof ArrayBuffer) window.seen += new TextDecoder().decode(event.data);
    });
  }
};
"""
"""The page draws on a canvas: what it is told to draw is what it shows."""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server of its own, on a port that is free."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    run = [
        "replay",
        str(DEMO / "math-verl"),
        "--from-step",
        "35",
        "--usd-per-gpu-hour",
        "4.98",
        "--budget",
        "150",
    ]
    server = subprocess.Popen(
        [sys.executable, "-m", "rltop", "serve", *run, "--port", port],
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path_factory.mktemp("served"),
    )
    try:
        assert server.stderr is not None
        told = server.stderr.readline()
        assert f"open http://localhost:{port}" in told
        yield f"http://localhost:{port}"
    finally:
        server.terminate()
        server.communicate(timeout=10)


@pytest.fixture
def browser(tmp_path: Path) -> "Iterator[WebDriver]":
    if CHROMIUM is None or DRIVER is None:
        pytest.skip("Chromium and its driver are not installed: apt install chromium chromium-driver")
    from selenium.webdriver import Chrome, ChromeOptions
    from selenium.webdriver.chrome.service import Service

    options = ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (
        "headless",
        "no-sandbox",
        "disable-gpu",
        "no-first-run",
        "disable-background-networking",
        "disable-component-update",
        "disable-sync",
        "window-size=1400,900",
        f"user-data-dir={tmp_path / 'profile'}",
    ):
        options.add_argument(f"--{flag}")
    driver = Chrome(options=options, service=Service(executable_path=DRIVER))
    try:
        yield driver
    finally:
        driver.quit()


def test_the_page_shows_the_run_and_answers_a_key(address: str, browser: "WebDriver") -> None:
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.support.ui import WebDriverWait

    def shows(words: str) -> None:
        WebDriverWait(browser, 30, poll_frequency=0.1).until(
            lambda page: words in str(page.execute_script("return window.seen")), f"{words!r} was never drawn"
        )

    browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": RECORD})
    browser.get(address)
    shows("rltop-demo/math-verl")
    shows("$46.5")
    browser.execute_script("window.seen = ''")
    page = browser.find_element("tag name", "body")
    ActionChains(browser).click(page).send_keys("5").perform()
    shows("METRICS")


def test_a_socket_that_another_site_opens_is_refused(address: str) -> None:
    request = urllib.request.Request(
        f"{address}/ws",
        headers={
            "Origin": "http://elsewhere.example",
            "Connection": "Upgrade",
            "Upgrade": "websocket",
            "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
        },
    )
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(request, timeout=10)


def test_a_port_in_use_is_said_to_be(address: str) -> None:
    port = address.rpartition(":")[2]
    done = subprocess.run(
        [sys.executable, "-m", "rltop", "serve", "--port", port, "demo"],
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert done.returncode == 3
    assert done.stderr == f"rltop: localhost:{port}: in use by another program; choose another with --port\n"


def test_a_page_calls_back_by_the_name_that_it_was_asked_by(address: str) -> None:
    request = urllib.request.Request(address, headers={"Host": "localhost:9000"})
    with urllib.request.urlopen(request, timeout=10) as answer:
        assert "ws://localhost:9000/ws" in answer.read().decode()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("demo", "--port", "99999"), "99999: a port is a whole number from 1 to 65535"),
        (("--port", "0", "demo"), "0: a port is a whole number from 1 to 65535"),
        (("replay", "x", "--bogus"), "rltop replay: error: unrecognized arguments: --bogus"),
        (("x", "--speed", "3"), "unrecognized arguments: --speed"),
    ],
)
def test_wrong_words_are_told_before_anything_is_served(
    words: tuple[str, ...], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["serve", *words])
    assert told in capsys.readouterr().err
