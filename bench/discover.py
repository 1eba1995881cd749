"""How long it takes to find the runs among many files: `python bench/discover.py [FOLDER]`.

Without a folder it makes one: 50,000 files, of which 200 are runs and 4,000 more have
names that logs have; every fourth of these has words that trainers print.
"""

import json
import sys
import tempfile
from pathlib import Path
from time import perf_counter, process_time

from rltop.monitor.clock import SystemClock
from rltop.monitor.fleet.discover import Discovery

RUNS, OTHER_LOGS, FILES = 200, 4_000, 50_000
SLICE_S = 0.1
KINDS = (
    (".txt", "words and more words\n"),
    (".jsonl", '{"prompt": "2+2", "answer": "4"}\n'),
    (".log", "the next step was late, and 3 more were lost\n"),
    (".jsonl", '{"text": "lorem ipsum", "id": 7}\n'),
)


def make(root: Path) -> None:
    """A home folder of someone who trains: runs, rollouts, text files, code, images."""
    row = {"step": 1, "env/all/reward/total": 0.5, "env/all/total_ac_tokens": 90_000, "time/total": 31.5}
    for number in range(RUNS):
        folder = root / f"project{number % 9}" / f"run-{number:03}"
        folder.mkdir(parents=True)
        (folder / "metrics.jsonl").write_text(
            "".join(json.dumps({**row, "step": at}) + "\n" for at in range(50))
        )
    for number in range(OTHER_LOGS):
        folder = root / "others" / f"{number // 100:02}"
        folder.mkdir(parents=True, exist_ok=True)
        kind, text = KINDS[number % len(KINDS)]
        (folder / f"{number}{kind}").write_text(text * 200)
    for number in range(FILES - RUNS - OTHER_LOGS):
        folder = root / f"code{number // 5000}" / f"part{number // 50}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{number}.py").write_text("pass\n")


def measure(root: Path) -> None:
    """Print when the first run was found, when all were walked, and when all were looked at."""
    discovery = Discovery([root], SystemClock())
    began, cpu = perf_counter(), process_time()
    first_s = None
    complete = False
    while not complete:
        complete = discovery.look(SLICE_S)
        if first_s is None and discovery.found:
            first_s = perf_counter() - began
    took, scan = perf_counter() - began, discovery.scan
    at_first = "none" if first_s is None else f"the first after {first_s:.2f} s"
    print(f"{scan.files} files in {scan.folders} folders: {len(discovery.found)} runs, {at_first}")
    print(f"all in {took:.2f} s, {process_time() - cpu:.2f} s CPU")
    discovery.again()
    began = perf_counter()
    while not discovery.look(SLICE_S):
        pass
    print(f"again, with nothing new: {perf_counter() - began:.2f} s")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        measure(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as place:
            make(Path(place))
            measure(Path(place))
