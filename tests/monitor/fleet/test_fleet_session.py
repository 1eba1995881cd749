"""Many runs followed at once."""

import asyncio
import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from rltop.monitor.clock import FakeClock, SystemClock
from rltop.monitor.fleet.frame import FleetFrame
from rltop.monitor.fleet.run import OVER_S
from rltop.monitor.fleet.session import FleetSession
from rltop.monitor.session import Session

from ..stores import Trackio
from .conftest import tinker_run, verl_console
from .fleets import fleet_below, opener, row


def names(frame: FleetFrame) -> list[str]:
    return sorted(row.name for row in frame.rows)


def test_every_run_below_a_folder_is_a_row_with_its_figures(tmp_path: Path) -> None:
    tinker_run(tmp_path / "math" / "a")
    verl_console(tmp_path / "coder" / "b.log")
    frame = fleet_below(tmp_path, budget_usd=100.0).read_all()
    assert names(frame) == ["a", "b.log"]
    console = row(frame, "b.log")
    assert (console.framework, console.step, console.length, console.project) == ("verl", 4, 514.8, "coder")
    assert console.spent_usd == pytest.approx((61.333 + 0.5 + 60 * 3) / 3600 * 24, rel=0.02)
    assert console.lengths == (503.7, 507.4, 511.1, 514.8)
    assert frame.totals.runs == 2
    assert frame.scan is not None
    assert frame.scan.files == 2


def test_a_run_in_three_logs_is_one_row_and_counts_once(tmp_path: Path) -> None:
    verl_console(tmp_path / "out" / "train.log", range(1, 20))
    again = [
        {"step": step, "data": json_row}
        for step, json_row in (
            (
                step,
                {
                    "actor/grad_norm": 0.2 + step / 90,
                    "critic/rewards/mean": 0.31 + step / 77,
                    "extra": step * 0.7,
                },
            )
            for step in range(1, 20)
        )
    ]
    (tmp_path / "metrics" / "p").mkdir(parents=True)
    (tmp_path / "metrics" / "p" / "exp.jsonl").write_text("".join(json.dumps(line) + "\n" for line in again))
    frame = fleet_below(tmp_path).read_all()
    (only,) = frame.rows
    assert only.step == 19
    assert [Path(path).name for path in only.sources] == ["train.log", "exp.jsonl"]
    assert only.also == (str(tmp_path / "metrics" / "p" / "exp.jsonl"),)
    shutil.rmtree(tmp_path / "metrics")
    (alone,) = fleet_below(tmp_path).read_all().rows
    assert only.spent_usd == alone.spent_usd


def test_runs_that_look_alike_but_are_not_the_same_stay_apart(tmp_path: Path) -> None:
    for number in range(3):
        verl_console(tmp_path / f"seed{number}.log", range(1, 9), shift=number / 50)
    assert names(fleet_below(tmp_path).read_all()) == ["seed0.log", "seed1.log", "seed2.log"]


def test_a_run_that_begins_later_comes_in_and_one_that_grows_is_followed(tmp_path: Path) -> None:
    clock = FakeClock(SystemClock().now())
    log = verl_console(tmp_path / "first.log")
    fleet = fleet_below(tmp_path, clock=clock)
    assert names(fleet.read_all()) == ["first.log"]
    verl_console(tmp_path / "second.log", shift=0.3)
    verl_console(log, range(1, 8))
    asyncio.run(clock.sleep(60))
    frame = fleet.read_all()
    assert names(frame) == ["first.log", "second.log"]
    assert row(frame, "first.log").step == 7


def test_a_run_that_had_ended_and_is_resumed_is_read_again(tmp_path: Path) -> None:
    clock = FakeClock(SystemClock().now())
    log = verl_console(tmp_path / "train.log")
    with log.open("a") as file:
        file.write("Traceback (most recent call last):\n  File 'x.py', line 1\nRuntimeError: CUDA error\n")
    os.utime(log, (clock.now() - 9e5, clock.now() - 9e5))
    fleet = FleetSession(opener(clock), clock, named=[str(log)])
    assert fleet.read_all().rows[0].step == 4
    verl_console(log, range(1, 12))
    asyncio.run(clock.sleep(OVER_S + 1))
    assert fleet.read_all().rows[0].step == 11


def test_what_cannot_be_read_is_a_row_that_says_why_and_the_rest_goes_on(tmp_path: Path) -> None:
    verl_console(tmp_path / "good.log")
    clock = SystemClock()
    targets = [str(tmp_path / "good.log"), str(tmp_path / "nowhere")]
    frame = FleetSession(opener(clock), clock, named=targets).read_all()
    assert row(frame, "nowhere").problem == f"{tmp_path / 'nowhere'}: no such file or folder"
    assert row(frame, "good.log").step == 4


def test_a_run_whose_reader_breaks_is_a_row_that_says_so(tmp_path: Path) -> None:
    verl_console(tmp_path / "good.log")
    good = opener(SystemClock())

    def open_(targets: object, said: bool) -> object:
        if "bad" in str(targets):
            raise ZeroDivisionError("a bug\nwith more")
        return good(targets, said)  # pyright: ignore[reportArgumentType]

    fleet = FleetSession(open_, SystemClock(), named=["bad", str(tmp_path / "good.log")])  # pyright: ignore[reportArgumentType]
    frame = fleet.read_all()
    assert (row(frame, "bad").state, row(frame, "bad").problem) == ("unreadable", "bad: a bug")
    assert row(frame, "good.log").step == 4


def test_a_target_named_twice_is_one_row(tmp_path: Path) -> None:
    log = str(verl_console(tmp_path / "train.log"))
    clock = SystemClock()
    assert len(FleetSession(opener(clock), clock, named=[log, log]).read_all().rows) == 1


async def test_the_first_rows_are_there_before_everything_has_been_read(tmp_path: Path) -> None:
    for number in range(4):
        verl_console(tmp_path / f"{number}.log", range(1, 300), shift=number / 9)
    frames: list[FleetFrame] = []
    complete = asyncio.Event()

    def take(frame: FleetFrame) -> None:
        frames.append(frame)
        if frame.rows and not frame.totals.reading:
            complete.set()

    running = asyncio.ensure_future(fleet_below(tmp_path).run(take))
    await asyncio.wait_for(complete.wait(), 20)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert next(frame for frame in frames if frame.rows).totals.reading
    assert len(frames[-1].rows) == 4


def test_nothing_below_a_folder_is_an_empty_fleet(tmp_path: Path) -> None:
    frame = fleet_below(tmp_path).read_all()
    assert frame.rows == ()
    assert frame.totals.final_usd is None
    assert frame.roots == (str(tmp_path),)


def test_the_real_runs_are_read_and_those_in_several_logs_are_one_row(shared_data: Path) -> None:
    frame = fleet_below(shared_data / "verl" / "format-v0.9.1-ray", shared_data / "tinker").read_all()
    (run,) = [row for row in frame.rows if row.framework == "verl"]
    assert len(run.sources) == 3
    assert run.step == 8
    assert sum(row.framework == "tinker" for row in frame.rows) == 9


def trl_row(step: int) -> dict[str, float]:
    return {
        "reward": 0.5 + step / 77,
        "completions/mean_length": 100.0 + step / 3,
        "completions/clipped_ratio": 0.25,
        "num_tokens": 1000.0 * step,
        "kl": step / 991,
    }


def test_the_runs_of_a_database_are_rows_though_they_tell_the_same_numbers(tmp_path: Path) -> None:
    store = Trackio(tmp_path / "grpo.db")
    for step in range(1, 20):
        for run in ("a", "copy of a"):
            store.log(run, step, trl_row(step))
    frame = fleet_below(store.path).read_all()
    assert names(frame) == ["a", "copy of a"]
    assert [row.step for row in frame.rows] == [19, 19]
    assert row(frame, "a").place == "grpo.db#a"


def test_a_console_and_its_run_in_a_database_are_one_row(tmp_path: Path) -> None:
    verl_console(tmp_path / "train.log", range(1, 20))
    store = Trackio(tmp_path / "grpo.db")
    for step in range(1, 20):
        numbers = {"actor/grad_norm": 0.2 + step / 90, "critic/rewards/mean": 0.31 + step / 77}
        store.log("same", step, numbers)
        store.log("other", step, trl_row(step))
    frame = fleet_below(tmp_path).read_all()
    assert names(frame) == ["other", "same"]
    only = row(frame, "same")
    assert (only.id, only.also) == (str(tmp_path / "train.log"), (f"{store.path}#same",))


def test_a_run_that_is_over_is_left_alone_while_another_of_its_database_goes_on(tmp_path: Path) -> None:
    clock = FakeClock(1_796_100_000.0)  # more than a day after their rows
    store = Trackio(tmp_path / "grpo.db")
    store.log("over", 1, trl_row(1))
    store.log("on", 1, trl_row(2))
    opened: list[str] = []
    opens = opener(clock)

    def open_(targets: Sequence[str], said: bool) -> Session:
        opened.extend(targets)
        return opens(targets, said)

    fleet = FleetSession(open_, clock, roots=[tmp_path])
    assert names(fleet.read_all()) == ["on", "over"]
    opened.clear()
    for step in range(2, 6):
        store.log("on", step, trl_row(step))
        asyncio.run(clock.sleep(OVER_S + 1))
        fleet.read_all()
    assert set(opened) == {f"{store.path}#on"}
    assert row(fleet.read_all(), "on").step == 5
