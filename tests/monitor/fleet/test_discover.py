"""What is found below a folder, and what is left alone."""

import os
from pathlib import Path

import pytest

from rltop.monitor.clock import SystemClock
from rltop.monitor.fleet.discover import MOST_HELD, Discovery, Found, Scan
from rltop.monitor.fleet.walk import Walk

from ..stores import Trackio
from .conftest import tinker_run, verl_console

ENOUGH_S = 30.0


def found_below(*roots: Path) -> tuple[list[Found], Scan]:
    discovery = Discovery(roots, SystemClock())
    assert discovery.look(ENOUGH_S)
    return discovery.found, discovery.scan


def paths(root: Path) -> list[str]:
    return sorted(str(run.path.relative_to(root)) for run in found_below(root)[0])


def test_runs_of_several_kinds_are_found_and_the_newest_comes_first(tmp_path: Path) -> None:
    tinker_run(tmp_path / "a" / "old")
    verl_console(tmp_path / "logs" / "new.log")
    os.utime(tmp_path / "a" / "old" / "metrics.jsonl", (1e9, 1e9))
    assert [run.path for run in found_below(tmp_path)[0]] == [
        tmp_path / "logs" / "new.log",
        tmp_path / "a" / "old",
    ]


def test_logs_in_one_folder_are_a_run_each(tmp_path: Path) -> None:
    verl_console(tmp_path / "slurm-1.out")
    verl_console(tmp_path / "slurm-2.out")
    assert paths(tmp_path) == ["slurm-1.out", "slurm-2.out"]


def test_what_is_no_log_is_not_found(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("torch\n")
    (tmp_path / "notes.txt").write_text("step 1: think\n")
    (tmp_path / "data.jsonl").write_text('{"prompt": "2+2", "answer": "4"}\n' * 5)
    assert paths(tmp_path) == []


@pytest.mark.parametrize(
    "folder", [".git", ".venv", "venv", "node_modules", "checkpoint-100", "global_step_20"]
)
def test_some_folders_are_not_gone_into(tmp_path: Path, folder: str) -> None:
    tinker_run(tmp_path / folder / "run")
    assert paths(tmp_path) == []


def test_an_environment_by_any_name_is_not_gone_into(tmp_path: Path) -> None:
    tinker_run(tmp_path / "py311" / "run")
    (tmp_path / "py311" / "pyvenv.cfg").write_text("home = /usr\n")
    assert paths(tmp_path) == []


def test_links_that_go_round_end_and_a_linked_folder_is_found_once(tmp_path: Path) -> None:
    tinker_run(tmp_path / "scratch" / "run")
    here = tmp_path / "here"
    here.mkdir()
    (here / "runs").symlink_to(tmp_path / "scratch")
    (here / "again").symlink_to(tmp_path / "scratch")
    (here / "round").symlink_to(here)
    (here / "up").symlink_to(tmp_path)
    assert len(paths(here)) == 1


def test_a_link_to_a_log_is_no_second_run(tmp_path: Path) -> None:
    verl_console(tmp_path / "run-7.log")
    (tmp_path / "latest.log").symlink_to(tmp_path / "run-7.log")
    assert len(paths(tmp_path)) == 1


def test_folders_that_may_not_be_read_are_counted(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may read everything")
    tinker_run(tmp_path / "mine")
    (tmp_path / "theirs").mkdir(mode=0)
    runs, scan = found_below(tmp_path)
    assert (len(runs), scan.unreadable) == (1, 1)


def test_a_root_that_is_not_there_is_counted_and_nothing_is_found(tmp_path: Path) -> None:
    runs, scan = found_below(tmp_path / "nowhere")
    assert (runs, scan.unreadable, scan.complete) == ([], 1, True)


def test_a_folder_with_ten_thousand_files_is_cut_and_says_so(tmp_path: Path) -> None:
    for number in range(30):
        (tmp_path / f"{number:02}").mkdir()
    walk = Walk(tmp_path, max_entries=10)
    assert len(list(walk)) == 10
    assert walk.cut


def test_a_run_that_begins_later_is_found_by_the_next_walk(tmp_path: Path) -> None:
    discovery = Discovery([tmp_path], SystemClock())
    assert discovery.look(ENOUGH_S)
    tinker_run(tmp_path / "late")
    discovery.again()
    assert discovery.look(ENOUGH_S)
    assert [run.path for run in discovery.found] == [tmp_path / "late"]


def test_a_log_that_says_nothing_yet_is_looked_at_again_once_it_has_grown(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text("starting …\n")
    discovery = Discovery([tmp_path], SystemClock())
    assert discovery.look(ENOUGH_S)
    assert discovery.found == []
    verl_console(log)
    discovery.again()
    assert discovery.look(ENOUGH_S)
    assert [run.path for run in discovery.found] == [log]


def test_a_run_that_is_deleted_is_forgotten(tmp_path: Path) -> None:
    log = verl_console(tmp_path / "train.log")
    discovery = Discovery([tmp_path], SystemClock())
    assert discovery.look(ENOUGH_S)
    log.unlink()
    discovery.again()
    assert discovery.look(ENOUGH_S)
    assert discovery.found == []


def test_a_search_with_no_time_goes_on_where_it_stopped(tmp_path: Path) -> None:
    for number in range(5):
        verl_console(tmp_path / f"{number}.log")
    discovery = Discovery([tmp_path], SystemClock())
    slices = 1
    while not discovery.look(1e-6):
        slices += 1
    assert slices > 1
    assert len(discovery.found) == 5


def test_a_run_whose_steps_are_only_in_its_checkpoints_is_found(tmp_path: Path) -> None:
    saved = tmp_path / "out" / "checkpoint-20"
    saved.mkdir(parents=True)
    (saved / "trainer_state.json").write_text(
        '{"global_step": 20, "max_steps": 40, "log_history": [{"loss": 1.0, "step": 10}]}'
    )
    assert paths(tmp_path) == ["out"]


def test_the_real_runs_are_all_found(shared_data: Path) -> None:
    found = paths(shared_data)
    for one in (
        "tinker/sft-2244",
        "verl/ppo-gsm8k-435/console.log",
        "trl/wordle-400",
        "slime/midrun-oom/train.log",
        "tensorboard/wordle-trl",
    ):
        assert one in found
    assert not any("iteration_" in path for path in found)


def test_the_runs_of_an_MLflow_store_are_found_one_by_one(tmp_path: Path) -> None:
    for name in ("aaa", "bbb"):
        run = tmp_path / "mlruns" / "1" / name
        (run / "params").mkdir(parents=True)
        (run / "metrics").mkdir()
        (run / "meta.yaml").write_text(
            f"run_id: {name}\nrun_name: {name}\nstatus: 1\nstart_time: 1767000000000\n"
        )
        (run / "metrics" / "loss").write_text("1767000001000 0.5 1\n1767000002000 0.4 2\n")
    assert paths(tmp_path) == ["mlruns/1/aaa", "mlruns/1/bbb"]


ROW = {"reward": 0.5, "completions/mean_length": 100.0}


def test_each_run_of_a_database_is_a_run(tmp_path: Path) -> None:
    store = Trackio(tmp_path / "grpo.db")
    store.log("old", 1, ROW)
    store.log("new", 2, ROW)
    assert paths(tmp_path) == ["grpo.db#new", "grpo.db#old"]
    found, scan = found_below(store.path)
    assert [str(run.path) for run in found] == [f"{store.path}#new", f"{store.path}#old"]
    assert scan.files == 1


def test_of_many_runs_of_a_database_the_newest_are_shown_and_the_rest_are_counted(tmp_path: Path) -> None:
    store = Trackio(tmp_path / "grpo.db")
    store.log_many(MOST_HELD + 7, ROW)
    found, scan = found_below(tmp_path)
    assert len(found) == MOST_HELD
    assert scan.held_back == 7
    names = {run.path.name for run in found}
    assert f"grpo.db#r{MOST_HELD + 6}" in names
    assert "grpo.db#r6" not in names


def test_a_run_that_begins_in_a_database_is_found(tmp_path: Path) -> None:
    store = Trackio(tmp_path / "grpo.db")
    store.database.execute("PRAGMA journal_mode = WAL")  # the file itself does not change
    store.log("old", 1, ROW)
    discovery = Discovery([tmp_path], SystemClock())
    assert discovery.look(ENOUGH_S)
    store.log("new", 2, ROW)
    discovery.again()
    assert discovery.look(ENOUGH_S)
    assert [run.path.name for run in discovery.found] == ["grpo.db#new", "grpo.db#old"]


def test_a_database_without_a_run_is_no_run_yet(tmp_path: Path) -> None:
    Trackio(tmp_path / "grpo.db")
    assert paths(tmp_path) == []


def test_of_many_runs_of_a_file_store_the_newest_are_shown_and_the_rest_are_counted(tmp_path: Path) -> None:
    for number in range(MOST_HELD + 3):
        run = tmp_path / "mlruns" / "1" / f"run{number:03}"
        (run / "metrics").mkdir(parents=True)
        (run / "params").mkdir()
        (run / "meta.yaml").write_text(f"run_id: {run.name}\n")
        os.utime(run, (1e9 + number, 1e9 + number))
    found, scan = found_below(tmp_path)
    assert len(found) == MOST_HELD
    assert scan.held_back == 3
    assert found[0].path.name == f"run{MOST_HELD + 2:03}"
