"""How fast a log is followed into lines: MB/s of LocalFile and Lines on a generated 100 MB file."""

import tempfile
from collections import deque
from pathlib import Path
from time import perf_counter

from rltop.monitor.lines import Lines
from rltop.monitor.transport.local import LocalFile

MEGABYTE = 1_000_000
FILE_BYTES = 100 * MEGABYTE
RUNS = 3
KINDS = {
    "console, 100 bytes a line": b"(WorkerDict pid=48211) INFO 2026-01-01 00:00:00 rollout finished, padding"
    b" 1024 responses of length 8\n",
    "JSONL, 1,100 bytes a line": b'{"step": 12, '
    + b", ".join(b'"train/metric_%02d": 0.123456789' % i for i in range(34))
    + b"}\n",
    "Chinese text, 120 bytes a line": "回答长度正在增长，截断比例上升，请检查最大生成长度的设置"
    "，以免浪费训练费用。步骤 12\n".encode(),
}


def megabytes_per_second(path: Path) -> float:
    """The best of a few runs: read everything, cut it into lines, drop them."""
    best = 0.0
    for _ in range(RUNS):
        transport, lines = LocalFile(path), Lines()
        started = perf_counter()
        for chunk in transport.read(0.0):
            deque(lines.feed(chunk), maxlen=0)
        seconds = perf_counter() - started
        transport.close()
        best = max(best, path.stat().st_size / MEGABYTE / seconds)
    return best


def main() -> None:
    """Print one line a kind of text."""
    with tempfile.TemporaryDirectory() as folder:
        for name, line in KINDS.items():
            path = Path(folder, "run.log")
            path.write_bytes(line * (FILE_BYTES // len(line)))
            print(f"{name:32} {megabytes_per_second(path):7.0f} MB/s")


if __name__ == "__main__":
    main()
