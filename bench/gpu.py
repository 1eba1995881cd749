"""What watching GPUs costs: `rltop gpus --watch` on eight GPUs of the fake driver, and one sweep of them.

The fake driver answers at once, so this is our share alone; a real one adds its own time for each call.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import sleep

TESTS = Path(__file__).resolve().parents[1] / "tests" / "monitor" / "telemetry"
WARM_UP_S, WATCH_S = 3.0, 20.0
SWEEPS = 2000
SWEEP = """
from time import perf_counter
from rltop.monitor.telemetry.devices import Devices
devices = Devices()
for tensor in (False, True):
    devices.sweep(0.0, tensor)
    begun = perf_counter()
    for _ in range({sweeps}):
        sweep = devices.sweep(0.0, tensor)
    took_ms = (perf_counter() - begun) / {sweeps} * 1e3
    print(f"one sweep of {{len(sweep.gpus)}} GPUs, tensor activity {{tensor}}: {{took_ms:.2f}} ms")
"""


def cpu_s(pid: int) -> float:
    """Processor time of a process so far, all its threads together; the kernel counts it in nanoseconds."""
    threads = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(thread.read_text().split()[0]) for thread in threads) / 1e9


def rss_mb(pid: int) -> float:
    """Resident memory of a process."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def watch(environment: dict[str, str]) -> None:
    """Let `rltop gpus --watch` run for a while."""
    command = [sys.executable, "-m", "rltop", "gpus", "--watch"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as process:
        sleep(WARM_UP_S)
        before_s = cpu_s(process.pid)
        sleep(WATCH_S)
        share = (cpu_s(process.pid) - before_s) / WATCH_S
        print(f"rltop gpus --watch, 8 GPUs, {WATCH_S:.0f} s: {share:.3%} of a core", end=", ")
        print(f"{rss_mb(process.pid):.1f} MB resident, {before_s:.2f} s of processor time to start")
        process.terminate()


def main() -> int:
    with tempfile.TemporaryDirectory() as folder:
        if subprocess.run([sys.executable, str(TESTS / "build_driver.py"), folder], check=False).returncode:
            print("no C compiler to build the fake NVIDIA driver with", file=sys.stderr)
            return 3
        environment = {**os.environ, "LD_LIBRARY_PATH": folder, "FAKE_NVML": "sys.count=8"}
        subprocess.run([sys.executable, "-c", SWEEP.format(sweeps=SWEEPS)], env=environment, check=True)
        watch(environment)
    return 0


if __name__ == "__main__":
    sys.exit(main())
