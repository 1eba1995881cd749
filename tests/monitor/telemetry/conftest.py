"""A driver without a GPU: pynvml itself, on a library of our own that is compiled here."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve().parent
Play = Callable[..., list[dict[str, Any]]]


@pytest.fixture(scope="session")
def fake_driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with our libnvidia-ml.so.1."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("no C compiler to build the fake NVIDIA driver with")
    folder = tmp_path_factory.mktemp("driver")
    ours = (HERE / "fake_nvml.c").read_text()
    theirs = Path(str(distribution("nvidia-ml-py").locate_file("pynvml.py"))).read_text()
    wanted = set(re.findall(r'_nvmlGetFunctionPointer\("(nvml\w+)"\)', theirs))
    missing = sorted(wanted - set(re.findall(r"^EXPORT .*?(nvml\w+)\(", ours, re.MULTILINE)))
    assert len(missing) > 100, "pynvml no longer names its functions as it did"
    (folder / "stubs.inc").write_text("".join(f"STUB({name})\n" for name in missing))
    library = folder / "libnvidia-ml.so.1"
    flags = ("-O1", "-Wall", "-fPIC", "-shared", f"-Wl,-soname,{library.name}", f"-I{folder}")
    subprocess.run([compiler, *flags, "-o", library, HERE / "fake_nvml.c", "-lpthread"], check=True)
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
