"""Lines of runs that are over, kept for the next start."""

import asyncio
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from bench.fuzz.samples import samples
from rltop.monitor.clock import FakeClock
from rltop.monitor.fleet import kept as kept_module
from rltop.monitor.fleet.discover import Discovery
from rltop.monitor.fleet.frame import FleetFrame
from rltop.monitor.fleet.kept import KeptRows, context_of, state_of_files
from rltop.monitor.fleet.run import OVER_S
from rltop.monitor.fleet.session import FleetSession
from rltop.monitor.fleet.stamp import MOST_BESIDE, MOST_FILES, Stamps
from rltop.monitor.session import Session

from ..stores import Trackio
from .conftest import tinker_run, verl_console
from .fleets import opener, row

NOW = 1_796_100_000.0
LONG_AGO = NOW - 2 * 86_400


def settle(folder: Path, at: float = LONG_AGO) -> None:
    """Let everything below a folder have been written two days ago."""
    for path in folder.rglob("*"):
        os.utime(path, (at, at))


class Start:
    """One start of rltop: what it shows, and what it has opened for that."""

    def __init__(self, root: Path, context: str = "as ever", runs: Path | None = None) -> None:
        self.opened: list[tuple[str, ...]] = []
        self.clock = FakeClock(NOW)
        self.kept = KeptRows(root / "cache" / "fleet", context)
        opens = opener(self.clock)

        def open_(targets: Sequence[str], said: bool) -> Session:
            self.opened.append(tuple(Path(target).name for target in targets))
            return opens(targets, said)

        self.fleet = FleetSession(open_, self.clock, roots=[runs or root / "runs"], kept=self.kept)
        self.frame: FleetFrame = self.fleet.read_all()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with two runs that are over, `a` and `b.log`, in `runs`."""
    tinker_run(tmp_path / "runs" / "math" / "a", steps=6)
    log = verl_console(tmp_path / "runs" / "coder" / "b.log", range(1, 6))
    log.write_text(log.read_text().replace("grad_norm:0.255556", "grad_norm:nan"))
    settle(tmp_path)
    return tmp_path


def files_of(root: Path) -> list[Path]:
    return sorted((root / "cache" / "fleet").iterdir())


def test_the_next_start_shows_the_same_lines_and_opens_nothing(root: Path) -> None:
    first, second = Start(root), Start(root)
    assert sorted(first.opened) == [("a",), ("b.log",)]
    assert second.opened == []
    assert second.frame.rows == first.frame.rows
    assert second.frame.totals == first.frame.totals
    assert "nan" in [alert.rule for alert in row(second.frame, "b.log").alerts]


def test_a_run_that_goes_on_is_never_kept(root: Path) -> None:
    os.utime(root / "runs" / "coder" / "b.log", (NOW - 5, NOW - 5))
    Start(root)
    assert len(files_of(root)) == 1
    assert Start(root).opened == [("b.log",)]


def append(path: Path) -> None:
    verl_console(path, range(1, 7))


def replace(path: Path) -> None:
    other = path.with_name("other")
    other.write_bytes(path.read_bytes().replace(b"500", b"501"))
    os.utime(other, (LONG_AGO, LONG_AGO))
    other.rename(path)


def touch(path: Path) -> None:
    os.utime(path, (LONG_AGO + 1, LONG_AGO + 1))


def configure(path: Path) -> None:
    (path.parent / ".hydra").mkdir()
    (path.parent / ".hydra" / "overrides.yaml").write_text("- trainer.total_training_steps=80\n")


@pytest.mark.parametrize("change", [append, replace, touch, configure])
def test_a_run_whose_files_have_changed_is_read(root: Path, change: Callable[[Path], None]) -> None:
    Start(root)
    change(root / "runs" / "coder" / "b.log")
    after = Start(root)
    assert after.opened == [("b.log",)]
    assert after.frame.rows == Start(root, context="nothing kept").frame.rows


@pytest.mark.parametrize("name", ["config.json", "checkpoints.jsonl", "metrics.jsonl.pre_resume_000001"])
def test_what_lies_in_a_runs_folder_counts(root: Path, name: str) -> None:
    Start(root)
    (root / "runs" / "math" / "a" / name).write_text("{}\n")
    assert Start(root).opened == [("a",)]


def test_other_settings_have_lines_of_their_own(root: Path) -> None:
    Start(root)
    assert len(Start(root, context="others").opened) == 2
    assert Start(root).opened == Start(root, context="others").opened == []


@pytest.mark.parametrize("damage", [b"", b"{", b"\xff\x00", b"[]", b'{"layout": 1, "known_by": "x"}'])
def test_a_damaged_file_only_means_that_the_run_is_read(root: Path, damage: bytes) -> None:
    first = Start(root)
    for path in files_of(root):
        path.write_bytes(damage)
    again = Start(root)
    assert len(again.opened) == 2
    assert again.frame.rows == first.frame.rows
    assert Start(root).opened == []


def test_a_line_under_another_runs_name_is_not_taken(root: Path) -> None:
    Start(root)
    one, other = files_of(root)
    one.write_bytes(other.read_bytes())
    assert len(Start(root).opened) == 1


def test_another_layout_is_not_taken(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Start(root)
    monkeypatch.setattr(kept_module, "LAYOUT", 2)
    assert len(Start(root).opened) == 2


def test_files_are_for_their_user_alone(root: Path) -> None:
    Start(root)
    assert [path.stat().st_mode & 0o777 for path in files_of(root)] == [0o600, 0o600]
    assert (root / "cache" / "fleet").stat().st_mode & 0o077 == 0


def test_where_nothing_can_be_written_everything_is_read(root: Path) -> None:
    (root / "cache").write_text("a file")
    assert len(Start(root).frame.rows) == len(Start(root).opened) == 2


def test_what_was_kept_longest_ago_goes_where_there_is_too_much(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_module, "MOST", 5)
    monkeypatch.setattr(kept_module, "FEWER", 3)
    (root / "cache" / "fleet").mkdir(parents=True)
    for number in range(8):
        path = root / "cache" / "fleet" / f"{number}.json"
        path.write_text("{}")
        os.utime(path, (number, number))
    Start(root)
    names = [path.name for path in files_of(root)]
    assert len(names) == 5
    assert {"5.json", "6.json", "7.json"} <= set(names)


def test_a_run_that_is_resumed_is_read_again(root: Path) -> None:
    Start(root)
    start = Start(root)
    verl_console(root / "runs" / "coder" / "b.log", range(1, 9))
    asyncio.run(start.clock.sleep(OVER_S + 1))
    assert row(start.fleet.read_all(), "b.log").step == 8
    assert start.opened == [("b.log",)]


def twice_told(folder: Path) -> None:
    """One run in a console and in a file of metrics."""
    verl_console(folder / "out" / "train.log", range(1, 20))
    told = [{"actor/grad_norm": 0.2 + n / 90, "critic/rewards/mean": 0.31 + n / 77} for n in range(1, 20)]
    lines = [json.dumps({"step": step, "data": data}) for step, data in enumerate(told, start=1)]
    (folder / "metrics").mkdir(parents=True)
    (folder / "metrics" / "exp.jsonl").write_text("\n".join(lines) + "\n")


def test_a_run_in_two_logs_stays_one_line(tmp_path: Path) -> None:
    twice_told(tmp_path / "runs")
    settle(tmp_path)
    first, second = Start(tmp_path), Start(tmp_path)
    assert len(first.frame.rows) == 1
    assert second.opened == []
    assert second.frame.rows == first.frame.rows
    touch(tmp_path / "runs" / "metrics" / "exp.jsonl")
    third = Start(tmp_path)
    assert third.frame.rows == Start(tmp_path, context="nothing kept").frame.rows
    assert ("train.log", "exp.jsonl") in third.opened


def test_another_log_of_a_kept_run_is_found_to_be_one(tmp_path: Path) -> None:
    twice_told(tmp_path)
    (tmp_path / "runs").mkdir()
    (tmp_path / "out" / "train.log").rename(tmp_path / "runs" / "train.log")
    settle(tmp_path)
    Start(tmp_path)
    (tmp_path / "metrics" / "exp.jsonl").rename(tmp_path / "runs" / "exp.jsonl")
    (only,) = Start(tmp_path).frame.rows
    assert {Path(path).name for path in only.sources} == {"train.log", "exp.jsonl"}


def test_runs_that_turned_out_to_be_two_are_not_tried_again(tmp_path: Path) -> None:
    verl_console(tmp_path / "runs" / "one.log", range(1, 30))
    text = (tmp_path / "runs" / "one.log").read_text()
    # Another run with the same rewards and gradients, but other lengths.
    verl_console(tmp_path / "runs" / "two.log", range(1, 30), shift=0.5)
    other = (tmp_path / "runs" / "two.log").read_text()
    pairs = zip(text.splitlines(), other.splitlines(), strict=True)
    mixed = [" - ".join([*one.split(" - ")[:4], *two.split(" - ")[4:]]) for one, two in pairs]
    (tmp_path / "runs" / "two.log").write_text("\n".join(mixed) + "\n")
    settle(tmp_path)
    first, second = Start(tmp_path), Start(tmp_path)
    assert len(first.frame.rows) == len(second.frame.rows) == 2
    assert any(len(targets) == 2 for targets in first.opened)
    assert second.opened == []


def test_the_runs_of_a_database_are_kept_until_it_changes(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    store = Trackio(tmp_path / "runs" / "grpo.db")
    for step in range(1, 9):
        for run in ("a", "b"):
            store.log(
                run, step, {"reward": step / 8, "completions/mean_length": 9.0 + step, "kl": 0.1 / step}
            )
    settle(tmp_path)
    first, second = Start(tmp_path), Start(tmp_path)
    assert len(first.opened) == 2
    assert second.opened == []
    assert second.frame.rows == first.frame.rows
    store.log("b", 9, {"reward": 0.5, "completions/mean_length": 30.0})
    settle(tmp_path, LONG_AGO + 1)
    assert len(Start(tmp_path).opened) == 2


def test_no_line_is_kept_of_what_has_just_changed(tmp_path: Path) -> None:
    log = verl_console(tmp_path / "train.log")
    os.utime(log, (NOW - 1, NOW - 1))
    assert Stamps().of([str(log)], [], NOW) is None
    assert Stamps().of([str(log)], [], NOW + 2) is not None


def test_logs_that_lie_beside_each_other_are_known_apart(tmp_path: Path) -> None:
    one, two = (str(verl_console(tmp_path / f"{name}.log")) for name in ("one", "two"))
    before = Stamps().of([one], [])
    verl_console(Path(two), range(1, 9))
    assert Stamps().of([one], []) == before
    (tmp_path / "args.json").write_text("{}")
    assert Stamps().of([one], []) != before


def test_there_is_no_stamp_of_what_is_not_there_or_too_much(tmp_path: Path) -> None:
    assert Stamps().of([str(tmp_path / "gone")], []) is None
    assert Stamps().of(["wandb:a/b/c"], []) is None
    (tmp_path / "many").mkdir()
    for number in range(MOST_FILES + 1):
        (tmp_path / "many" / f"{number}").touch()
    assert Stamps().of([str(tmp_path / "many")], []) is None
    assert MOST_BESIDE < MOST_FILES
    assert Stamps().of([str(tmp_path / "many" / "1")], []) is not None


def test_a_program_that_changes_is_another_context(tmp_path: Path) -> None:
    (tmp_path / "rltop").mkdir()
    (tmp_path / "rltop" / "a.py").write_text("x = 1\n")
    before = state_of_files(tmp_path)
    (tmp_path / "rltop" / "b.py").write_text("")
    assert state_of_files(tmp_path) != before
    assert context_of([before]) != context_of([state_of_files(tmp_path)])
    assert state_of_files(tmp_path / "gone") == ""


SAMPLES = [(entry, index) for entry, found in samples().items() for index in range(len(found))]


@pytest.mark.parametrize(("entry", "index"), SAMPLES)
def test_every_file_of_a_run_of_any_kind_counts(tmp_path: Path, entry: str, index: int) -> None:
    for name, data in samples()[entry][index].items():
        (tmp_path / "run" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "run" / name).write_bytes(data)
    search = Discovery([tmp_path], FakeClock(NOW))
    search.look(60.0)
    targets = [str(run.path) for run in search.found]
    for name in samples()[entry][index]:
        before = [Stamps().of([target], []) for target in targets]
        touch(tmp_path / "run" / name)
        after = [Stamps().of([target], []) for target in targets]
        assert None not in before
        assert not targets or before != after, name
