"""A real writer appends at random byte boundaries while the screen and `check` follow."""

import json
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from rltop.models.report import CheckReport
from rltop.models.settings import Settings
from rltop.monitor.check import report
from rltop.monitor.clock import SystemClock
from rltop.monitor.frame import Frame
from rltop.monitor.money.book import Book
from rltop.monitor.pending import PendingSource
from rltop.monitor.pipeline import Pipeline
from rltop.monitor.session import Session
from rltop.tui.app import RltopApp

Look = Callable[..., CheckReport]

WRITER = """
import os, random, sys, time
source, target, seed = sys.argv[1:]
data, rng = open(source, "rb").read(), random.Random(int(seed))
os.makedirs(os.path.dirname(target), exist_ok=True)
with open(target, "ab", buffering=0) as file:
    while data:
        size = rng.choice((1, 7, 100, 3000, 9000))
        file.write(data[:size])
        data = data[size:]
        time.sleep(0.0005)
"""
SETTINGS = Settings(prices_date="2026-01-05", gpu_type="B200")


def writer(source: Path, target: Path) -> "subprocess.Popen[bytes]":
    seed = str(random.Random(str(target)).randrange(1000))
    return subprocess.Popen([sys.executable, "-c", WRITER, str(source), str(target), seed])


@pytest.mark.parametrize(("run", "file"), [("gsm8k-tinker", "metrics.jsonl"), ("math-verl", "console.log")])
async def test_the_screen_ends_up_where_one_look_at_the_whole_file_does(
    demo: Path, look: Look, tmp_path: Path, run: str, file: str
) -> None:
    target = tmp_path / "run" / file
    if (demo / run / "config.json").exists():
        target.parent.mkdir()
        shutil.copy(demo / run / "config.json", target.parent)
    session = Session((PendingSource(target),), Pipeline(SETTINGS, Book.load()), SystemClock())
    app = RltopApp(session)
    with writer(demo / run / file, target) as process:
        async with app.run_test(size=(120, 40)) as pilot:
            while process.poll() is None:
                await pilot.pause(0.05)
            done = target.stat().st_size
            assert done == (demo / run / file).stat().st_size
            whole = look(target, prices_date="2026-01-05", gpu_type="B200")
            for _ in range(100):
                await pilot.pause(0.1)
                if app.frame is not None and app.frame.state.steps_done == whole.run.steps_done:
                    break
            assert app.frame is not None
            live = report(app.frame)
    assert live.run.steps_done == whole.run.steps_done > 30
    assert live.run.total_steps == whole.run.total_steps
    if whole.cost.basis == "metered":  # the wall clock of a file played in a second is another matter
        assert live.cost.spent_usd == pytest.approx(whole.cost.spent_usd, abs=1e-9)
    assert live.health == whole.health
    assert live.input.bad_lines == 0


def test_check_never_stumbles_over_a_file_that_is_being_written(
    demo: Path, look: Look, tmp_path: Path
) -> None:
    target = tmp_path / "run" / "metrics.jsonl"
    seen: list[int] = []
    with writer(demo / "gsm8k-tinker" / "metrics.jsonl", target) as process:
        while process.poll() is None:
            if target.exists() and target.stat().st_size > 2000:
                seen.append(look(target).run.steps_done)
    assert seen == sorted(seen)
    assert look(target).run.steps_done == 59


def test_what_is_seen_live_is_what_is_read_afterwards(demo: Path, tmp_path: Path, look: Look) -> None:
    """The same events, one by one and at once, give the same bill: nothing depends on how they came."""
    target = tmp_path / "metrics.jsonl"
    shutil.copy(demo / "gsm8k-tinker" / "config.json", tmp_path)
    lines = (demo / "gsm8k-tinker" / "metrics.jsonl").read_bytes().splitlines(keepends=True)
    target.write_bytes(lines[0])
    session = Session((PendingSource(target),), Pipeline(SETTINGS, Book.load()), SystemClock())
    frames: list[Frame] = []
    for line in lines[1:]:
        with target.open("ab") as file:
            file.write(line)
        events, _ = session.poll()
        for event in events:
            session.pipeline.feed(event, 0.0)
        frames.append(session.pipeline.frame(0.0))
    spent = [frame.bill.spent_usd or 0.0 for frame in frames]
    assert spent == sorted(spent)
    assert spent[-1] == pytest.approx(look(target, prices_date="2026-01-05").cost.spent_usd, abs=1e-9)
    assert json.loads(lines[-1])["step"] == 58
