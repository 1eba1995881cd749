"""A real Prometheus, where one is installed, that scrapes pages of exporters which do not exist."""

import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from time import time

import pytest

from rltop.models.gpu import GpuSample
from rltop.monitor.telemetry.fetch import FetchError, address_of, get
from rltop.monitor.telemetry.places import samplers_of

from .fleet import dcgm_page
from .web import serving

PATIENCE_S = 30.0
CONFIG = """\
scrape_configs:
  - job_name: gpus
    scrape_interval: 1s
    static_configs:
      - targets: [{targets}]
"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    """host:port of one that has scraped two nodes of four GPUs."""
    program = shutil.which("prometheus")
    if program is None:
        pytest.skip("Prometheus is not installed")
    with ExitStack() as stack:
        pages = [{"/metrics": dcgm_page(f"node{number}", 4, lambda gpu: 90.0 + gpu)} for number in (1, 2)]
        targets = [stack.enter_context(serving(page)) for page in pages]
        (tmp_path / "config.yml").write_text(CONFIG.format(targets=", ".join(targets)))
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            host = f"127.0.0.1:{free.getsockname()[1]}"
        process = stack.enter_context(
            subprocess.Popen(
                [
                    program,
                    f"--config.file={tmp_path}/config.yml",
                    f"--storage.tsdb.path={tmp_path}/data",
                    f"--web.listen-address={host}",
                ],
                stderr=subprocess.DEVNULL,
            )
        )
        stack.callback(process.kill)
        until_scraped(host)
        yield host


def until_scraped(host: str) -> None:
    again = threading.Event()
    for _ in range(int(PATIENCE_S / 0.2)):
        again.wait(0.2)
        try:
            query = "query=count(DCGM_FI_DEV_GPU_UTIL)==8"
            if b'"value"' in get(address_of(f"http://{host}/api/v1/query"), query.encode()):
                return
        except FetchError:
            continue
    pytest.fail("Prometheus does not scrape")


@pytest.mark.parametrize(("matchers", "hosts"), [("", ["node1", "node2"]), ('{hostname=~".*2"}', ["node2"])])
def test_a_real_prometheus_is_read(server: str, matchers: str, hosts: list[str]) -> None:
    (sampler,) = samplers_of(f"prom:http://{server}{matchers}", want_tensor=True)
    now = time()
    for _ in range(2):
        sampler.order(now)
        assert sampler.wait(20)
    samples = [told for told in sampler.latest(now) if isinstance(told, GpuSample)]
    reason = sampler.reason(now)
    sampler.close()
    assert [sample.host for sample in samples] == hosts, reason
    sample = samples[0]
    assert (sample.backend, sample.stale_s, sample.note) == ("prometheus/dcgm", None, "")
    assert 0 <= now - sample.at < PATIENCE_S
    gpu = sample.gpus[3]
    assert (gpu.uuid, gpu.name) == (f"GPU-{hosts[0]}-3", "NVIDIA H100 80GB HBM3")
    assert (gpu.util, gpu.tensor_active, gpu.power_w, gpu.energy_j) == (93.0, 38.0, 655.25, 48112390.112)
    assert gpu.mem_total_gb == pytest.approx(84.472, abs=1e-3)
