"""A driver without a GPU: pynvml itself, on a library of our own that is compiled here."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve().parent
Play = Callable[..., list[Any]]


@pytest.fixture(scope="session")
def fake_driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with our libnvidia-ml.so.1."""
    folder = tmp_path_factory.mktemp("driver")
    built = subprocess.run([sys.executable, str(HERE / "build_driver.py"), str(folder)], check=False)
    if built.returncode == 3:
        pytest.skip("no C compiler to build the fake NVIDIA driver with")
    assert built.returncode == 0
    return folder


@pytest.fixture(scope="session")
def play(fake_driver: Path) -> Iterator[Play]:
    """Play a scenario, in words that player.py explains, in a process that has the fake driver loaded."""
    command = [sys.executable, str(HERE / "player.py"), str(fake_driver / "libnvidia-ml.so.1")]
    environment = {**os.environ, "PYTHONPATH": str(HERE.parents[2])}
    with ExitStack() as stack:
        processes: list[subprocess.Popen[str]] = []

        def run(*words: str) -> list[Any]:
            if not processes:
                process = subprocess.Popen(
                    command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
                )
                processes.append(stack.enter_context(process))
            process = processes[0]
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(json.dumps(words) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
            if not line:
                processes.clear()  # the next scenario shall have a player again
                pytest.fail("the player has fallen; its stderr says why")
            return json.loads(line)

        yield run
