"""From what the user typed to sources, or to one clear line."""

import gzip
import os
from pathlib import Path

import pytest

from rltop.monitor.pending import PendingSource
from rltop.monitor.target import TargetError, open_target, probe

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
    with pytest.raises(TargetError, match=r"holds 2 runs; name one of logs/a/metrics.jsonl, logs/b"):
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
