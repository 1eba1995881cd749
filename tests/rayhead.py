"""A real Ray head on this machine, of its own ports and folder, for as long as the tests that need it."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

START_S = 60.0


class RayHead(NamedTuple):
    """A head that runs."""

    dashboard: str
    """Such as `http://127.0.0.1:8265`."""
    metrics: str
    """The address of the node's Prometheus page."""
    folder: Path

    def submit(self, entrypoint: str) -> str:
        """Start a job as `ray job submit` does; its id."""
        request = urllib.request.Request(
            f"{self.dashboard}/api/jobs/",
            json.dumps({"entrypoint": entrypoint}).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=START_S) as answer:
            return json.loads(answer.read())["submission_id"]


@contextmanager
def ray_head() -> Generator[RayHead]:
    """Start a head, and end it with all its processes."""
    ray = Path(sys.executable).parent / "ray"
    with ExitStack() as stack:
        # Short: the paths of sockets below it may have 107 bytes at most.
        folder = Path(tempfile.mkdtemp(prefix="rt"))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        dashboard, metrics, agent, client = _free_ports(4)
        log = stack.enter_context((folder / "out").open("wb"))
        process = subprocess.Popen(
            [
                *(str(ray), "start", "--head", "--block", "--port=0", "--node-ip-address=127.0.0.1"),
                *("--dashboard-host=127.0.0.1", f"--dashboard-port={dashboard}"),
                *(f"--dashboard-agent-listen-port={agent}", f"--metrics-export-port={metrics}"),
                *(f"--ray-client-server-port={client}", "--min-worker-port=0", "--max-worker-port=0"),
                *("--num-cpus=1", "--num-gpus=0", "--object-store-memory=80000000"),
                *(f"--temp-dir={folder}", "--disable-usage-stats"),
            ],
            stdout=log,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            env={name: value for name, value in os.environ.items() if not name.startswith("RAY_")},
        )
        stack.callback(_end, process)
        head = RayHead(f"http://127.0.0.1:{dashboard}", f"http://127.0.0.1:{metrics}/metrics", folder)
        _wait_for(f"{head.dashboard}/api/version", process, folder / "out")
        yield head


def _wait_for(url: str, process: "subprocess.Popen[bytes]", log: Path) -> None:
    """Until the dashboard answers; the head's own words where it never will."""
    for _ in range(round(START_S / 0.1)):
        try:
            with urllib.request.urlopen(url, timeout=START_S):
                return
        except OSError:
            try:
                process.wait(0.1)
            except subprocess.TimeoutExpired:
                continue
            break
    raise RuntimeError(f"no Ray head: {log.read_text(errors='replace')[-2000:]}")


def _end(process: "subprocess.Popen[bytes]") -> None:
    """A head that blocks ends all that it has started, when it is asked to end."""
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _free_ports(count: int) -> list[int]:
    """Ports that nobody has now. Held together, so that they are different ones."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]
