"""Whom the fleet tells of: runs that go on, each alert once."""

import asyncio
import os
from pathlib import Path

import pytest

from rltop.monitor.clock import FakeClock
from rltop.monitor.fleet.session import FleetSession
from rltop.monitor.frame import Frame
from rltop.monitor.notify.news import News

from ..stores import Trackio
from .conftest import verl_console
from .fleets import opener

NOW = 1_796_100_000.0
CRASH = """\
Traceback (most recent call last):
  File "/x/verl/trainer/main_ppo.py", line 1, in <module>
    main()
RuntimeError: CUDA error
"""


class Watched:
    """A fleet, and the critical alerts that it tells of: (name of the log, rule)."""

    def __init__(self, root: Path) -> None:
        self.told: list[tuple[str, str]] = []
        self.clock = FakeClock(NOW)
        self._news: dict[str, News] = {}
        self._fleet = FleetSession(opener(self.clock), self.clock, roots=[root], tell=self._take)
        self.look()

    def _take(self, id: str, frame: Frame) -> None:
        news = self._news.setdefault(id, News("critical"))
        self.told += [(Path(id).name, notice.alert.rule) for notice in news.look(frame)]

    def look(self, seconds: float = 15.0) -> None:
        """Look twice, and let so much time pass."""
        for _ in range(2):
            self._fleet.read_all()
            asyncio.run(self.clock.sleep(seconds))


def log_of(path: Path, steps: int, age_s: float, bad: bool = True) -> Path:
    """A console whose last step has no number for its gradient, where `bad`; last written so long ago."""
    log = verl_console(path, range(1, steps + 1), shift=len(path.name) / 9)
    if bad:
        head, mark, tail = log.read_text().rpartition("actor/grad_norm:")
        log.write_text(f"{head}{mark}nan - {tail.partition(' - ')[2]}")
    os.utime(log, (NOW - age_s, NOW - age_s))
    return log


def test_of_runs_that_go_on_each_critical_alert_is_told_once(tmp_path: Path) -> None:
    log_of(tmp_path / "bad.log", 6, age_s=5)
    log_of(tmp_path / "well.log", 6, age_s=5, bad=False)
    fleet = Watched(tmp_path)
    fleet.look()
    assert fleet.told == [("bad.log", "nan")]


@pytest.mark.parametrize("age_s", [4 * 3600.0, 3 * 86_400.0])
def test_of_a_run_that_had_fallen_silent_nothing_is_told(tmp_path: Path, age_s: float) -> None:
    log_of(tmp_path / "silent.log", 6, age_s)
    assert Watched(tmp_path).told == []


def test_of_a_run_that_had_ended_nothing_is_told(tmp_path: Path) -> None:
    log = log_of(tmp_path / "over.log", 6, age_s=5)
    with log.open("a") as file:
        file.write(f"{CRASH}srun: error: task 0: Exited with exit code 1\n")
    os.utime(log, (NOW - 5, NOW - 5))
    assert Watched(tmp_path).told == []


def test_a_run_that_goes_wrong_and_ends_while_it_is_watched_is_told_of(tmp_path: Path) -> None:
    log = log_of(tmp_path / "train-7.log", 6, age_s=5, bad=False)
    fleet = Watched(tmp_path)
    assert fleet.told == []
    with log.open("a") as file:
        file.write(CRASH)
    os.utime(log, (fleet.clock.now(), fleet.clock.now()))
    fleet.look()
    assert ("train-7.log", "crash") in fleet.told
    told = list(fleet.told)
    fleet.look(100.0)
    assert fleet.told == told


def test_a_run_in_two_logs_is_told_of_once(tmp_path: Path) -> None:
    log = log_of(tmp_path / "train-7.log", 19, age_s=5)
    store = Trackio(tmp_path / "grpo.db")
    for step in range(1, 20):
        numbers = {
            "actor/entropy": 0.4 - step / 300 + 11 / 9,
            "critic/rewards/mean": 0.31 + step / 77 + 11 / 9,
        }
        store.log("same", step, {**numbers, "actor/grad_norm": float("nan") if step == 19 else 0.5 * step})
    os.utime(log, (NOW - 5, NOW - 5))
    fleet = Watched(tmp_path)
    fleet.look()
    assert fleet.told == [("train-7.log", "nan")]
