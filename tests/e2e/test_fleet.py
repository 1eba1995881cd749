"""Several logs and several runs, as a script meets them."""

import argparse
import json
import re
import sys
from itertools import product
from pathlib import Path

import pytest

from rltop.cli import COMMANDS
from rltop.commands.flags import settings_of
from rltop.commands.telling import Telling
from rltop.commands.watch import Opening, only_run_below
from rltop.tui.app import RltopApp

from ..monitor.fleet.conftest import tinker_run, verl_console
from ..monitor.stores import Trackio
from ..tui.runners import until
from .test_cli import run

GPUS = ("--gpus", "8", "--usd-per-gpu-hour", "3")


def test_logs_joined_by_hand_are_one_run_with_both_as_sources(tmp_path: Path) -> None:
    log = verl_console(tmp_path / "train.log")
    more = tmp_path / "more.jsonl"
    more.write_text("".join(json.dumps({"step": step, "kl": 0.01 * step}) + "\n" for step in range(1, 5)))
    told = json.loads(run("check", str(log), "--with", str(more), "--json", *GPUS).stdout)
    alone = json.loads(run("check", str(log), "--json", *GPUS).stdout)
    assert [Path(source["path"]).name for source in told["run"]["sources"]] == ["train.log", "more.jsonl"]
    assert told["health"]["kl"] == 0.04
    assert told["cost"]["spent_usd"] == alone["cost"]["spent_usd"]
    assert "steps from train.log; KL from more.jsonl" in told["input"]["notes"]


def test_a_log_joined_by_hand_that_is_not_there_is_one_clear_line(tmp_path: Path) -> None:
    log = verl_console(tmp_path / "train.log")
    done = run("check", str(log), "--with", str(tmp_path / "nowhere"))
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == f"rltop: {tmp_path / 'nowhere'}: no such file or folder\n"


def opened(*words: str) -> RltopApp:
    """The screen that these words of a command line open."""
    args: argparse.Namespace = COMMANDS["watch"]()[0].parse_args(list(words))
    return RltopApp(Opening(args.target, args, settings_of(args), also=args.also))


async def test_a_folder_with_several_runs_opens_the_fleet_and_enter_a_run(tmp_path: Path) -> None:
    tinker_run(tmp_path / "a")
    verl_console(tmp_path / "b.log", range(1, 30))
    app = opened(str(tmp_path), *GPUS, "--fleet-budget", "1")
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, app, "2 runs", "b.log", "over budget")
        await pilot.press("slash", *"framework:verl", "enter", "enter")
        await until(pilot, app, "COST", "step 29")
        await pilot.press("escape")
        await until(pilot, app, "1 of 2 shown")


async def test_the_command_runs_for_a_run_among_many_that_goes_wrong(tmp_path: Path) -> None:
    log = verl_console(tmp_path / "runs" / "bad.log", range(1, 8))
    log.write_text(re.sub(r"grad_norm:[\d.]+", "grad_norm:nan", log.read_text()))
    verl_console(tmp_path / "runs" / "well.log", range(1, 8), shift=0.3)
    keep = tmp_path / "keep.py"
    keep.write_text(f"import sys; open({str(tmp_path / 'told')!r}, 'a').write(sys.stdin.read())")
    words = (str(tmp_path / "runs"), *GPUS, "--on-critical", f"{sys.executable} {keep}")
    args: argparse.Namespace = COMMANDS["watch"]()[0].parse_args(list(words))
    settings = settings_of(args)
    telling = Telling(args, settings.notify)
    app = RltopApp(Opening(args.target, args, settings, telling=telling))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, app, "2 runs", "✖ nan")
        for _ in range(100):
            if (tmp_path / "told").is_file():
                break
            await pilot.pause(0.1)
    telling.close()
    told = [json.loads(line) for line in (tmp_path / "told").read_text().splitlines()]
    assert [one["alert"]["rule"] for one in told] == ["nan"]


async def test_several_targets_are_a_fleet_of_those(tmp_path: Path) -> None:
    logs = [str(verl_console(tmp_path / f"{name}.log", shift=len(name) / 9)) for name in ("one", "three")]
    verl_console(tmp_path / "another.log")
    app = opened(*logs, *GPUS)
    async with app.run_test(size=(120, 40)) as pilot:
        text = await until(pilot, app, "2 runs", "one.log", "three.log")
        assert "another" not in text


def store_of(path: Path, *runs: str) -> Trackio:
    """A trackio database of some runs, the last the newest."""
    store = Trackio(path)
    for name, step in product(runs, range(1, 12)):
        row = {"completions/mean_length": 100.0 + step, "completions/clipped_ratio": 0.0, "reward": 0.5}
        store.log(name, step, {**row, "num_tokens": 1000.0 * step + len(name)})
    return store


async def test_a_database_of_several_runs_opens_the_fleet_and_enter_one_of_them(tmp_path: Path) -> None:
    store = store_of(tmp_path / "grpo.db", "run-a", "run-bb")
    app = opened(str(store.path), *GPUS)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, app, "2 runs", "run-a", "run-bb")
        await pilot.press("slash", *"run-bb", "enter", "enter")
        await until(pilot, app, "COST", "run-bb", "step 11")


async def test_a_database_among_several_targets_is_all_of_its_runs(tmp_path: Path) -> None:
    store = store_of(tmp_path / "grpo.db", "run-a", "run-bb")
    log = verl_console(tmp_path / "one.log")
    verl_console(tmp_path / "another.log", shift=0.4)
    app = opened(str(store.path), str(log), *GPUS)
    async with app.run_test(size=(120, 40)) as pilot:
        text = await until(pilot, app, "3 runs", "run-a", "run-bb", "one.log")
        assert "another" not in text


async def test_a_database_of_one_run_opens_as_that(tmp_path: Path) -> None:
    app = opened(str(store_of(tmp_path / "grpo.db", "run-a").path))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, app, "HEALTH", "step 11")


def test_a_look_at_a_database_is_at_its_newest_run_and_names_the_others(tmp_path: Path) -> None:
    store = store_of(tmp_path / "grpo.db", "run-a", "run-bb", "run-ccc")
    told = json.loads(run("check", str(store.path), "--json", *GPUS).stdout)
    assert told["run"]["name"] == "run-ccc"
    assert told["input"]["notes"][0] == f"the newest of 3 runs; others: {store.path}#run-bb, #run-a"


async def test_a_folder_that_is_one_run_opens_as_that(tmp_path: Path) -> None:
    tinker_run(tmp_path / "run")
    app = opened(str(tmp_path / "run"))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, app, "HEALTH", "step 4")


async def test_the_only_run_below_a_folder_is_opened_though_it_is_told_in_two_logs(tmp_path: Path) -> None:
    verl_console(tmp_path / "out" / "train.log", range(1, 20))
    (tmp_path / "file").mkdir()
    told = [{"actor/grad_norm": 0.2 + n / 90, "critic/rewards/mean": 0.31 + n / 77} for n in range(1, 20)]
    lines = [json.dumps({"step": step, "data": data}) for step, data in enumerate(told, start=1)]
    (tmp_path / "file" / "exp.jsonl").write_text("\n".join(lines) + "\n")
    app = opened(str(tmp_path), *GPUS)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, app, "HEALTH", "step 19")


async def test_of_several_folders_named_each_run_is_shown(tmp_path: Path) -> None:
    tinker_run(tmp_path / "first" / "a")
    verl_console(tmp_path / "first" / "b.log", range(1, 30))
    verl_console(tmp_path / "second" / "c.log", range(1, 20), shift=0.5)
    app = opened(str(tmp_path / "first"), str(tmp_path / "second"))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, app, "3 runs", "b.log", "second")


async def test_an_empty_folder_waits_and_shows_what_begins(tmp_path: Path) -> None:
    app = opened(str(tmp_path))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, app, "no runs below", "0 files")


def test_which_run_is_the_only_one(tmp_path: Path) -> None:
    assert only_run_below(tmp_path) is None
    tinker_run(tmp_path / "runs" / "a")
    assert only_run_below(tmp_path) == tmp_path
    tinker_run(tmp_path / "runs" / "b")
    assert only_run_below(tmp_path) is None
    assert only_run_below(tmp_path / "runs" / "b") == tmp_path / "runs" / "b"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("a", "-"), "- is a run by itself"),
        (("a", "b", "--record", "x"), "--record needs one run"),
        (("a", "b", "--with", "x"), "--with needs one run"),
    ],
)
def test_what_cannot_be_shown_at_once_is_one_clear_line(words: tuple[str, ...], why: str) -> None:
    done = run(*words)
    assert done.returncode == 3
    assert done.stderr.startswith(f"rltop: {why}")


def test_a_look_at_several_runs_is_a_table_with_their_sums(tmp_path: Path) -> None:
    logs = [str(verl_console(tmp_path / f"{name}.log", shift=len(name) / 9)) for name in ("one", "three")]
    done = run("check", *logs, *GPUS, "--fleet-budget", "1")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["STATE", "RUN", "STEP", "SO", "FAR", "AT", "THE", "END", "LENGTH", "ALERTS"]
    assert lines[-1] == "budget $1.00: over it"
    assert "2 runs, " in done.stdout


def test_a_look_at_several_runs_in_json_is_a_line_each_in_the_order_named(tmp_path: Path) -> None:
    logs = [str(verl_console(tmp_path / f"{name}.log", shift=len(name) / 9)) for name in ("b", "aaa")]
    done = run("check", *logs, "--json")
    assert [json.loads(line)["run"]["sources"][0]["path"] for line in done.stdout.splitlines()] == logs


@pytest.mark.parametrize("how", [(), ("--json",)])
def test_one_of_several_that_cannot_be_used_is_named_and_the_others_are_shown(
    tmp_path: Path, how: tuple[str, ...]
) -> None:
    log = verl_console(tmp_path / "good.log")
    done = run("check", str(log), str(tmp_path / "nowhere"), *how)
    assert done.returncode == 3
    assert "good.log" in done.stdout
    assert done.stderr == f"rltop: {tmp_path / 'nowhere'}: no such file or folder\n"


def test_an_alert_of_any_of_several_runs_fails_when_it_is_asked_to(tmp_path: Path) -> None:
    good, bad = verl_console(tmp_path / "good.log"), verl_console(tmp_path / "bad.log", shift=0.2)
    with bad.open("a") as file:
        file.write("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB\n")
    for how in ((), ("--json",)):
        assert run("check", str(good), str(bad), *how, "--fail-on", "critical").returncode == 1
        assert run("check", str(good), str(bad), *how).returncode == 0


def test_a_run_among_several_stands_as_it_does_alone() -> None:
    alone = json.loads(run("check", "demo:math-verl", "--json").stdout)
    done = run("check", "demo:math-verl", "demo:gsm8k-tinker", "--fail-on", "critical")
    states = [line.split()[0] for line in done.stdout.splitlines()[1:3]]
    assert alone["run"]["state"] == "crashed"
    assert sorted(states) == ["crashed", "finished"]
    assert "critical:crash" in done.stdout
