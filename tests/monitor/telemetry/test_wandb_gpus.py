"""GPUs as a real W&B notes them in its log, on the fake driver."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rltop.models.gpu import GpuSample
from rltop.monitor.target import open_target

pytest.importorskip("wandb", reason="wandb is not installed")
RUN = """
import time, wandb
settings = wandb.Settings(x_stats_sampling_interval=0.2, console="off", silent=True)
run = wandb.init(mode="offline", settings=settings)
run.log({"loss": 1.0})
time.sleep(1.5)
run.finish()
"""


def test_what_wandb_notes_of_the_gpus_is_read(fake_driver: Path, tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "LD_LIBRARY_PATH": str(fake_driver),
        "FAKE_NVML": "sys.count=2 1.util=97 1.power=650500",
        "HOME": str(tmp_path),
    }
    subprocess.run([sys.executable, "-c", RUN], env=environment, cwd=tmp_path, check=True, timeout=60)
    (run,) = (tmp_path / "wandb").glob("offline-run-*")
    samples = [
        event for source in open_target(run) for event in source.poll(1e9) if isinstance(event, GpuSample)
    ]
    assert samples
    told = samples[-1].gpus[1].model_dump(exclude_defaults=True, exclude={"tensor_active"})
    assert (samples[-1].backend, samples[-1].host) == ("wandb", os.uname().nodename)
    assert told == {
        "index": 1, "name": "NVIDIA Fake 80GB", "util": 97.0, "mem_used_gb": pytest.approx(60.0),
        "mem_total_gb": 80.0, "power_w": 650.5, "temp_c": 55.0, "energy_j": 7000.0, "power_limit_w": 700.0,
        "clock_mhz": 1755.0, "mem_clock_mhz": 2619.0,
    }  # fmt: skip
