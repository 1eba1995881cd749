"""A driver without a GPU: pynvml itself, on a library of our own that is compiled here."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve().parent
Play = Callable[..., list[dict[str, Any]]]


@pytest.fixture(scope="session")
def fake_driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with our libnvidia-ml.so.1."""
    folder = tmp_path_factory.mktemp("driver")
    built = subprocess.run([sys.executable, str(HERE / "build_driver.py"), str(folder)], check=False)
    if built.returncode == 3:
        pytest.skip("no C compiler to build the fake NVIDIA driver with")
    assert built.returncode == 0
    return folder


@pytest.fixture
def play(fake_driver: Path) -> Play:
    """Play a scenario in a process of its own, as player.py tells; what was told after each look."""

    def run(*words: str) -> list[dict[str, Any]]:
        done = subprocess.run(
            [sys.executable, str(HERE / "player.py"), str(fake_driver / "libnvidia-ml.so.1"), *words],
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
            env={**os.environ, "PYTHONPATH": str(HERE.parents[2])},
        )
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        return [json.loads(line) for line in done.stdout.splitlines()]

    return run
