"""What following 200 runs costs: `python -m bench.fleet [RUNS]`.

It makes the runs, reads them all, then lets them live for a while: every tenth goes on with a step each five
seconds. The time until the first rows and until all are read, the CPU while live, and what a frame takes.
Then what the next starts cost once all runs have been over for a day: the first of them reads them all and
keeps their lines, the second finds those.
"""

import asyncio
import json
import os
import resource
import sys
import tempfile
from pathlib import Path
from random import Random
from time import perf_counter, process_time, time

from rltop.commands.fleet import session
from rltop.models.settings import Settings
from rltop.monitor.fleet.frame import FleetFrame
from rltop.monitor.fleet.kept import KeptRows, context_of
from rltop.monitor.fleet.session import FleetSession
from rltop.tui.widgets.fleetcells import layout, line_of

RUNS, STEPS = 200, 100
LIVE_S = 10.0


def row(run: int, step: int) -> str:
    """A row of a Tinker run, with numbers that no other run has."""
    random = Random(run * 1000 + step)
    told = {
        "step": step,
        "progress/done_frac": (step + 1) / 400,
        "env/all/reward/total": 0.4 + (step * 7919 + run * 31) % 100 / 400,
        "env/all/ac_tokens_per_turn": 400.0 + step * 1.7 + run,
        "env/all/total_ac_tokens": 90_000 + step * 131 + run * 17,
        "env/all/total_ob_tokens": 30_000 + run,
        "env/all/total_episodes": 256,
        "optim/kl_sample_train_v1": 0.001 + (step + run) / 1e5,
        "time/total": 31.5 + step / 97 + run / 1000,
        **{f"more/{n}": random.random() for n in range(30)},
    }
    return json.dumps(told) + "\n"


def make(root: Path, count: int) -> list[Path]:
    """Runs in nine projects."""
    files: list[Path] = []
    for run in range(count):
        folder = root / f"project{run % 9}" / f"run-{run:03}"
        folder.mkdir(parents=True)
        files.append(folder / "metrics.jsonl")
        files[-1].write_text("".join(row(run, step) for step in range(STEPS)))
        config = {"model_name": "Qwen/Qwen3-8B", "log_path": "x", "lora_rank": 32}
        (folder / "config.json").write_text(json.dumps(config))
    return files


async def live(fleet: FleetSession, files: list[Path]) -> None:
    """Print what it takes to read all runs, and to follow them."""
    frames: list[FleetFrame] = []
    began, cpu = perf_counter(), process_time()
    complete = asyncio.Event()
    first_s: list[float] = []

    def take(frame: FleetFrame) -> None:
        frames.append(frame)
        if not first_s and any(row.step for row in frame.rows):
            first_s.append(perf_counter() - began)
        if frame.rows and not frame.totals.reading and frame.scan is not None and frame.scan.complete:
            complete.set()

    running = asyncio.ensure_future(fleet.run(take))
    await complete.wait()
    print(
        f"{len(frames[-1].rows)} runs of {STEPS} steps: the first figures after {first_s[0]:.2f} s,", end=" "
    )
    print(f"all after {perf_counter() - began:.2f} s, {process_time() - cpu:.2f} s CPU")
    for seconds, moving in ((LIVE_S, 0), (LIVE_S, len(files) // 10)):
        cpu, before = process_time(), len(frames)
        for beat in range(int(seconds // 5)):
            for number in range(moving):
                with files[number].open("a") as file:
                    file.write(row(number, STEPS + beat))
            await asyncio.sleep(5)
        share = (process_time() - cpu) / seconds
        drawn = len(frames) - before
        print(f"live, {moving} of them growing: {share:.1%} of a core, {drawn} frames in {seconds:.0f} s")
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    drawing(frames[-1])
    print(f"memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB at most")


def drawing(frame: FleetFrame) -> None:
    """Print what laying out a screen of 48 lines takes."""
    shape = layout(200)
    began = perf_counter()
    for _ in range(50):
        for one in frame.rows[:48]:
            line_of(one, shape, here=False, ambiguous=False)
    print(f"48 lines of 200 cells: {(perf_counter() - began) / 50 * 1000:.1f} ms")


def starts(root: Path, files: list[Path], keep: Path) -> None:
    """Print what two starts cost when nothing goes on."""
    day_ago = time() - 2 * 86_400
    for path in (path for file in files for path in file.parent.iterdir()):
        os.utime(path, (day_ago, day_ago))
    for words in ("all over, none kept", "all over, all kept"):
        began, cpu = perf_counter(), process_time()
        kept = KeptRows(keep, context_of([]))
        frame = session(Settings(), roots=[root], kept=kept).read_all()
        told = sum(row.step is not None for row in frame.rows)
        print(f"{words}: {told} lines after {perf_counter() - began:.2f} s, {process_time() - cpu:.2f} s CPU")
    size = sum(file.stat().st_size for file in keep.iterdir())
    print(f"kept: {size / 1e6:.1f} MB")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place, tempfile.TemporaryDirectory() as keep:
        made = make(Path(place), int(sys.argv[1]) if len(sys.argv) > 1 else RUNS)
        asyncio.run(live(session(Settings(), roots=[Path(place)]), made))
        starts(Path(place), made, Path(keep))
