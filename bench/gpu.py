"""What watching eight GPUs costs: rltop and nvitop on the same fake driver, side by side, in one run.

`python bench/gpu.py [SECONDS]`; nvitop is in the extra `bench`. The fake driver answers at once, so this is
the programs' own share; a real one adds its time for each call. Its figures change every second.
"""

import os
import pty
import random
import selectors
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
from fcntl import ioctl
from pathlib import Path
from time import monotonic
from typing import NamedTuple

TESTS = Path(__file__).resolve().parents[1] / "tests" / "monitor" / "telemetry"
GPUS = 8
WARM_UP_S, WATCH_S, CHANGE_S = 4.0, 30.0, 1.0
SIZES = ((120, 40), (80, 24))
SWEEPS = 1000
SWEEP = """
from time import perf_counter
from rltop.monitor.telemetry.binding import Nvml
from rltop.monitor.telemetry.devices import Devices
devices = Devices(Nvml)
for tensor in (False, True):
    devices.sweep(0.0, tensor)
    begun = perf_counter()
    for _ in range({sweeps}):
        sweep = devices.sweep(0.0, tensor)
    took_ms = (perf_counter() - begun) / {sweeps} * 1e3
    print(f"one sweep of {{len(sweep.gpus)}} GPUs, tensor activity {{tensor}}: {{took_ms:.2f}} ms")
"""


class Usage(NamedTuple):
    """Of one process, up to one moment."""

    cpu_s: float
    sent: int
    """Bytes to the terminal."""


class Watched:
    """A program on a terminal of its own."""

    def __init__(self, name: str, words: list[str], size: tuple[int, int], env: dict[str, str]) -> None:
        columns, lines = size
        self.name = f"{name}, {columns}×{lines}"
        self.terminal, theirs = pty.openpty()
        ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        self._process = subprocess.Popen(
            words, env=env, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
        )
        os.close(theirs)
        self._sent = 0

    def read(self) -> None:
        """Take what has been drawn."""
        self._sent += len(os.read(self.terminal, 1 << 16))

    def usage(self) -> Usage:
        """Processor time of all its threads; the kernel counts it in nanoseconds."""
        threads = Path(f"/proc/{self._process.pid}/task").glob("*/schedstat")
        return Usage(sum(int(thread.read_text().split()[0]) for thread in threads) / 1e9, self._sent)

    def rss_mb(self) -> float:
        """Resident memory."""
        pages = int(Path(f"/proc/{self._process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self.terminal)


def change(path: Path, dice: random.Random) -> None:
    """Other figures, as of GPUs at work."""
    words = [f"sys.count={GPUS}"]
    for gpu in range(GPUS):
        busy = dice.randint(85, 100)
        words += [f"{gpu}.util={busy}", f"{gpu}.power={busy * 6500 + dice.randint(0, 9999)}"]
        words += [f"{gpu}.temp={50 + busy // 8}", f"{gpu}.mem_used={dice.uniform(55e9, 65e9):.0f}"]
        words += [f"{gpu}.clock={dice.randint(1700, 1980)}"]
    new = path.with_suffix(".new")
    new.write_text(" ".join(words))
    new.replace(path)


def follow(programs: list[Watched], settings: Path, seconds: float, dice: random.Random) -> None:
    """Let them run for a while, and change the driver's figures every second."""
    waiting = selectors.DefaultSelector()
    for program in programs:
        waiting.register(program.terminal, selectors.EVENT_READ, program)
    ends_at = monotonic() + seconds
    changes_at = monotonic()
    while (now := monotonic()) < ends_at:
        if now >= changes_at:
            change(settings, dice)
            changes_at += CHANGE_S
        for key, _ in waiting.select(max(0.0, min(changes_at, ends_at) - monotonic())):
            key.data.read()


def compare(env: dict[str, str], settings: Path, watch_s: float) -> None:
    """All programs at once, so that whatever else the machine does meets all of them alike."""
    rival = shutil.which("nvitop", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    ours = [sys.executable, "-m", "rltop", "gpus", "--watch"]
    commands = {"rltop gpus --watch": ours, "rltop gpus --watch --plain": [*ours, "--plain"]}
    if rival is not None:
        commands["nvitop"] = [rival]
    else:
        print("nvitop is not installed: pip install -e '.[bench]'", file=sys.stderr)
    dice = random.Random(0)
    change(settings, dice)
    programs = [Watched(name, words, size, env) for size in SIZES for name, words in commands.items()]
    try:
        follow(programs, settings, WARM_UP_S, dice)
        before = [program.usage() for program in programs]
        follow(programs, settings, watch_s, dice)
        for program, then in zip(programs, before, strict=True):
            now = program.usage()
            print(
                f"{program.name}: {(now.cpu_s - then.cpu_s) / watch_s:.2%} of a core, "
                f"{(now.sent - then.sent) / watch_s / 1000:.2f} KB/s to the terminal, "
                f"{program.rss_mb():.0f} MB resident, {then.cpu_s:.2f} s of processor time to start"
            )
    finally:
        for program in programs:
            program.end()


def main() -> int:
    watch_s = float(sys.argv[1]) if len(sys.argv) > 1 else WATCH_S
    with tempfile.TemporaryDirectory() as folder:
        if subprocess.run([sys.executable, str(TESTS / "build_driver.py"), folder], check=False).returncode:
            print("no C compiler to build the fake NVIDIA driver with", file=sys.stderr)
            return 3
        settings = Path(folder) / "settings"
        env = {
            **os.environ,
            "LD_LIBRARY_PATH": folder,
            "FAKE_NVML": f"sys.count={GPUS}",
            "TERM": "xterm-256color",
        }
        subprocess.run([sys.executable, "-c", SWEEP.format(sweeps=SWEEPS)], env=env, check=True)
        compare({**env, "COLORTERM": "truecolor", "FAKE_NVML_FILE": str(settings)}, settings, watch_s)
    return 0


if __name__ == "__main__":
    sys.exit(main())
