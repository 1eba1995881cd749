"""A real Ray head on the fake driver: what its pages, its file of addresses and its dashboard say."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from rltop.models.gpu import GpuSample
from rltop.monitor.telemetry.fetch import address_of, get
from rltop.monitor.telemetry.places import samplers_of

from .web import serving

NOW = 1_800_000_000.0
BESIDE = str(Path(sys.executable).parent)
PATIENCE_S = 60.0


class Head(NamedTuple):
    """Where it can be asked."""

    dashboard: str
    addresses: Path


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@pytest.fixture(scope="module")
def head(fake_driver: Path) -> Iterator[Head]:
    """Ray with its dashboard, on two GPUs of the fake driver."""
    program = shutil.which("ray", path=f"{BESIDE}:{os.environ['PATH']}")
    if program is None:
        pytest.skip("Ray is not installed")
    environment = {
        **os.environ,
        "LD_LIBRARY_PATH": str(fake_driver),
        "FAKE_NVML": "sys.count=2 1.util=97 1.power=650500",
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_DISABLE_DOCKER_CPU_WARNING": "1",
    }
    dashboard = free_port()
    # Ray's sockets lie in this folder, and the path of a socket must be short.
    with tempfile.TemporaryDirectory(prefix="ray") as folder:
        command = [
            program, "start", "--head", "--block", "--num-cpus=1", f"--port={free_port()}",
            f"--dashboard-port={dashboard}", "--include-dashboard=true", f"--temp-dir={folder}",
            "--disable-usage-stats", "--object-store-memory=80000000",
        ]  # fmt: skip
        with subprocess.Popen(
            command,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            text=True,
        ) as process:
            try:
                assert process.stdout is not None
                started = any("Ray runtime started" in line for line in iter(process.stdout.readline, ""))
                assert started, "Ray does not start"
                yield Head(f"127.0.0.1:{dashboard}", Path(folder) / "prom_metrics_service_discovery.json")
            finally:
                # Asked to end, it takes half a minute; all that it has started is in its group.
                os.killpg(process.pid, signal.SIGKILL)


def look(place: str) -> list[GpuSample]:
    """The GPUs, once Ray has looked at them itself, which it does every few seconds."""
    (sampler,) = samplers_of(place)
    again = threading.Event()
    try:
        for number in range(int(PATIENCE_S / 0.25)):
            sampler.order(NOW + number)
            assert sampler.wait(20)
            told = [each for each in sampler.latest(NOW + number) if isinstance(each, GpuSample)]
            if told and all(gpu.power_w is not None for gpu in told[0].gpus):
                return told
            again.wait(0.25)
        pytest.fail(sampler.reason(NOW))
    finally:
        sampler.close()


def expect_two_gpus(samples: list[GpuSample]) -> None:
    (sample,) = samples
    assert sample.backend == "ray"
    assert [gpu.uuid for gpu in sample.gpus] == ["GPU-fake-0", "GPU-fake-1"]
    told = sample.gpus[1].model_dump(exclude_defaults=True)
    assert told == {
        "index": 1, "uuid": "GPU-fake-1", "name": "NVIDIA Fake 80GB", "util": 97.0, "power_w": 650.5,
        "mem_used_gb": pytest.approx(61.0, abs=2e-3), "mem_total_gb": pytest.approx(80.0, abs=4e-3),
        "temp_c": 55.0,
    }  # fmt: skip


def test_the_head_is_read_by_its_file_of_addresses(head: Head) -> None:
    expect_two_gpus(look(f"ray:{head.addresses}"))


def test_the_head_is_read_by_its_dashboard(head: Head) -> None:
    expect_two_gpus(look(f"ray:http://{head.dashboard}"))


def test_the_dashboards_summary_says_the_same_for_nodes_that_cannot_be_reached(head: Head) -> None:
    look(f"ray:{head.addresses}")
    summary = get(address_of(f"http://{head.dashboard}/nodes?view=summary"))
    pages = {
        "/api/prometheus/sd": json.dumps([{"targets": ["127.0.0.1:1"]}]),
        "/nodes?view=summary": summary.decode(),
    }
    with serving(pages) as host:
        expect_two_gpus(look(f"ray:http://{host}"))
