"""From what the user typed to sources, or to one clear line."""

import gzip
import json
import os
from pathlib import Path

import pytest

from rltop.models.event import SourceStatus
from rltop.monitor.pending import PendingSource
from rltop.monitor.target import TargetError, open_target, probe

from .fleet.conftest import verl_console

ROW = (
    '{"step": 0, "progress/batch": 0, "progress/done_frac": 0.5, "env/all/total_ac_tokens": 10, '
    '"time/total": 3.0}\n'
)


def test_a_target_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(TargetError, match=r"gone\.log: no such file"):
        open_target(tmp_path / "gone.log")


def test_a_text_that_is_no_log_is_told_what_was_tried(tmp_path: Path) -> None:
    letter = tmp_path / "letter.txt"
    letter.write_text("Dear all,\nnothing happened.\n")
    with pytest.raises(TargetError, match=r"not a log that rltop knows \(tried: .*Tinker.*veRL"):
        open_target(letter)


def test_a_neighbour_of_the_log_points_to_the_run(tmp_path: Path) -> None:
    (tmp_path / "metrics.jsonl").write_text(ROW)
    (tmp_path / "notes.md").write_text("my favourite run\n")
    with pytest.raises(TargetError, match="its folder is a run"):
        open_target(tmp_path / "notes.md")


def test_a_folder_of_several_runs_is_not_named_as_one(tmp_path: Path) -> None:
    for name in ("a.log", "b.log"):
        (tmp_path / name).write_text("(TaskRunner pid=7) step:1 - actor/pg_loss:0.1 - timing_s/step:2.0\n")
    (tmp_path / "notes.txt").write_text("nothing of a log\n")
    with pytest.raises(TargetError, match="not a log that rltop knows"):
        open_target(tmp_path / "notes.txt")


def test_an_empty_file_is_said_to_be_empty(tmp_path: Path) -> None:
    (tmp_path / "metrics.jsonl").touch()
    with pytest.raises(TargetError, match="empty so far"):
        open_target(tmp_path / "metrics.jsonl")


def test_a_named_pipe_is_refused_instead_of_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(TargetError, match="not a regular file"):
        open_target(tmp_path / "fifo")


def test_a_compressed_log_is_looked_into(tmp_path: Path) -> None:
    packed = tmp_path / "metrics.jsonl.gz"
    packed.write_bytes(gzip.compress((ROW * 2000).encode()))
    assert probe(packed).head.startswith('{"step": 0')
    assert open_target(packed)


def test_a_run_deeper_in_a_folder_is_found(tmp_path: Path) -> None:
    place = tmp_path / "logs" / "today"
    place.mkdir(parents=True)
    (place / "metrics.jsonl").write_text(ROW)
    (tmp_path / "notes.txt").write_text("nothing")
    assert open_target(tmp_path)


def test_a_folder_of_several_runs_asks_which(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / "logs" / name).mkdir(parents=True)
        (tmp_path / "logs" / name / "metrics.jsonl").write_text(ROW)
    with pytest.raises(TargetError, match=r"holds 2 runs; name one of logs/a, logs/b"):
        open_target(tmp_path)


def test_an_empty_folder_says_so(tmp_path: Path) -> None:
    with pytest.raises(TargetError, match="no run among"):
        open_target(tmp_path)


def test_links_in_a_circle_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path, target_is_directory=True)
    with pytest.raises(TargetError, match="no run among"):
        open_target(tmp_path)


def test_a_run_that_is_yet_to_come_is_waited_for_and_then_read(tmp_path: Path) -> None:
    source = PendingSource(tmp_path / "run" / "metrics.jsonl")
    waiting = source.poll(0.0)
    assert [event.kind for event in waiting] == ["source"]
    assert source.poll(1.0) == []
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "metrics.jsonl").write_text(ROW)
    assert "step" in [event.kind for event in source.poll(2.0)]


OTHER = '{"step": %d, "reward": 0.3, "loss": 0.1}\n'


def notes_of(folder: Path) -> list[str]:
    """What is noted of the logs of a run that have been read."""
    sources = open_target(folder)
    events = [event for _ in range(3) for source in sources for event in source.poll(0.0)]
    events += [event for source in sources for event in source.close()]
    return [note for event in events if isinstance(event, SourceStatus) for note in event.notes]


def test_a_folder_of_several_kinds_of_logs_names_those_that_are_not_shown(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    (tmp_path / "a" / "rewards.jsonl").write_text("".join(OTHER % step for step in range(1, 5)))
    verl_console(tmp_path / "b" / "train.log")
    notes = notes_of(tmp_path)
    assert "a/rewards.jsonl is of another run: other numbers for the same steps, such as step 1" in notes
    assert "to see a/rewards.jsonl, name the file itself" in notes


def test_a_folder_of_several_logs_of_one_kind_names_those_that_are_not_shown(tmp_path: Path) -> None:
    (tmp_path / "metrics.jsonl").write_text(ROW)
    (tmp_path / "older.jsonl").write_text(ROW)
    notes = notes_of(tmp_path)
    assert "older.jsonl is of another run: a log of the same kind as metrics.jsonl" in notes
    assert "to see older.jsonl, name the file itself" in notes


def test_what_tells_of_the_same_run_in_another_folder_is_joined(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    console = verl_console(tmp_path / "b" / "train.log", range(1, 9))
    rows: list[dict[str, float]] = []
    for line in console.read_text().splitlines()[1:]:
        told = (pair.split(":") for pair in line.split(" - "))
        rows.append(
            {key.rpartition("/")[2]: float(value) for key, value in told if "/" not in key or "actor" in key}
        )
    (tmp_path / "a" / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    notes = notes_of(tmp_path)
    assert not [note for note in notes if "another run" in note]
    assert [note for note in notes if note.startswith("steps from train.log; ")]


def test_the_files_of_one_run_deeper_in_a_folder_are_one_run(tmp_path: Path) -> None:
    place = tmp_path / "output" / "logs"
    place.mkdir(parents=True)
    record = b"\x18" + bytes(7) + b"\x00" * 4 + b"\x09" + bytes(8) + b"\x1a\x0dbrain.Event:2"
    for name in ("events.out.tfevents.1.host.1.0", "events.out.tfevents.2.host.2.0"):
        (place / name).write_bytes(record)
    assert len(open_target(tmp_path)) == 1


def test_a_console_that_failed_before_its_first_step_is_told_why(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    log.write_text(
        'loading the model\nTraceback (most recent call last):\n  File "x.py", line 1, in f\n'
        "hub.errors.NotFoundError: no such model\n\nwaiting for other processes\n"
    )
    with pytest.raises(TargetError, match=r"it failed before its first step: hub\.errors\.NotFoundError"):
        open_target(log)
