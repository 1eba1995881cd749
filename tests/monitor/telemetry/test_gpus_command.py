"""`rltop gpus` as a script and as a person meets it."""

import json
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
from contextlib import suppress
from fcntl import ioctl
from pathlib import Path
from typing import Any

FIELDS = (
    "index", "uuid", "name", "util", "mem_used_gb", "mem_total_gb", "power_w", "temp_c", "tensor_active",
    "energy_j", "state",
)  # fmt: skip
RLTOP = [sys.executable, "-m", "rltop", "gpus"]
ROOT = Path(__file__).resolve().parents[3]


def environment(driver: Path, settings: str) -> dict[str, str]:
    return {**os.environ, "LD_LIBRARY_PATH": str(driver), "FAKE_NVML": settings, "PYTHONPATH": str(ROOT)}


def run(driver: Path, settings: str = "", *words: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [*RLTOP, *words],
        env=environment(driver, settings),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def on_a_terminal(driver: Path, settings: str) -> str:
    """What a person reads, without the line ends of a terminal."""
    ours, theirs = pty.openpty()
    subprocess.run(RLTOP, env=environment(driver, settings), stdout=theirs, timeout=60, check=True)
    told = os.read(ours, 65536).decode()
    os.close(ours)
    os.close(theirs)
    return told.replace("\r\n", "\n")


def test_a_script_gets_one_sample_as_json(fake_driver: Path) -> None:
    done = run(fake_driver, "sys.count=2 0.util=57 1.error=15")
    assert (done.returncode, done.stderr) == (0, "")
    told: dict[str, Any] = json.loads(done.stdout)
    assert (told["backend"], bool(told["host"])) == ("nvml", True)
    assert told["note"] == "GPU 1 of 2 lost; looked for every 60 s"
    told_of = [{name: gpu[name] for name in FIELDS} for gpu in told["gpus"]]
    assert told_of == [
        {"index": 0, "uuid": "GPU-fake-0", "name": "NVIDIA Fake 80GB", "util": 57.0, "mem_used_gb": 60.0,
         "mem_total_gb": 80.0, "power_w": 400.0, "temp_c": 55.0, "tensor_active": None, "energy_j": 7000.0,
         "state": "ok"},
        {"index": 1, "uuid": None, "name": None, "util": None, "mem_used_gb": None, "mem_total_gb": None,
         "power_w": None, "temp_c": None, "tensor_active": None, "energy_j": None, "state": "lost"},
    ]  # fmt: skip


def test_no_driver_is_three_and_one_line_that_says_why(tmp_path: Path) -> None:
    # Not a library: whatever driver this machine has, this one is found first, and cannot be loaded.
    (tmp_path / "libnvidia-ml.so.1").write_text("not a library")
    done = run(tmp_path)
    told = json.loads(done.stdout)
    assert done.returncode == 3
    assert told["gpus"] == []
    assert done.stderr == f"rltop: {told['note']}\n"
    assert "libnvidia-ml.so.1 not found" in told["note"]


def test_a_person_gets_a_table_with_a_dash_for_what_is_unknown(fake_driver: Path) -> None:
    told = on_a_terminal(fake_driver, "sys.count=2 0.util=57 0.reasons=64 1.error.nvmlDeviceGetPowerUsage=3")
    first, second = told.splitlines()[2:4]
    assert " ".join(first.split()) == "0 Fake 80GB 57 % – 60/80 GB 400 W 55 °C ▲ throttled"
    assert " ".join(second.split()) == "1 Fake 80GB 50 % – 60/80 GB – 55 °C"
    assert max(len(line) for line in told.splitlines()) <= 80


def test_watching_on_a_terminal_is_a_screen_that_q_leaves(fake_driver: Path) -> None:
    ours, theirs = pty.openpty()
    ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    env = {**environment(fake_driver, "sys.count=2 1.xid=31"), "TERM": "xterm-256color"}
    with subprocess.Popen(
        [*RLTOP, "--watch"], env=env, stdin=theirs, stdout=theirs, stderr=theirs
    ) as process:
        os.close(theirs)
        drawn = ""
        while "Fake 80GB" not in drawn:
            drawn += os.read(ours, 65536).decode(errors="replace")
        os.write(ours, b"q")
        with suppress(OSError):  # the terminal goes with the last program on it
            while os.read(ours, 65536):
                pass
        assert process.wait(20) == 0
    os.close(ours)


def test_watching_a_table_clears_the_terminal_before_each(fake_driver: Path) -> None:
    ours, theirs = pty.openpty()
    command = [*RLTOP, "--watch", "--plain"]
    with subprocess.Popen(command, env=environment(fake_driver, "sys.count=1"), stdout=theirs) as process:
        os.close(theirs)
        drawn = ""
        while "Fake 80GB" not in drawn:
            drawn += os.read(ours, 65536).decode()
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 130
    os.close(ours)
    assert drawn.startswith("\x1b[H\x1b[J")


def test_watching_prints_a_line_of_json_for_each_sample_until_it_is_stopped(fake_driver: Path) -> None:
    with subprocess.Popen(
        [*RLTOP, "--watch"], env=environment(fake_driver, "sys.count=1"), stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        told = json.loads(process.stdout.readline())
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 130
    assert len(told["gpus"]) == 1


def test_a_hanging_driver_does_not_keep_the_command_from_ending(fake_driver: Path) -> None:
    with subprocess.Popen(
        RLTOP,
        env=environment(fake_driver, "sys.hang.nvmlInitWithFlags=1 sys.loud=1"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == "nvmlInitWithFlags hangs\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 130
