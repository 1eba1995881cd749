"""Targets on another machine, and their files brought here."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from rltop.models.event import SourceStatus
from rltop.models.run import RunInfo
from rltop.models.step import Step
from rltop.monitor.pending import PendingSource
from rltop.monitor.places import open_place, place_of
from rltop.monitor.places.mirror import MirrorSource
from rltop.monitor.places.ssh import address_of
from rltop.monitor.target import TargetError

from .conftest import ROW, FarSide, Follower, read_all, statuses

Follow = Callable[..., Follower]


def source_of(target: str) -> MirrorSource:
    place = place_of(target)
    assert place is not None
    (source,) = open_place(place, target)
    assert isinstance(source, MirrorSource)
    return source


@pytest.mark.parametrize(
    ("target", "words", "path"),
    [
        ("ssh://gpu1/runs/a b", ["--", "gpu1"], "'/runs/a b'"),
        ("ssh://me@gpu1:2222/r", ["-l", "me", "-p", "2222", "--", "gpu1"], "/r"),
        ("ssh://[::1]:22/r/", ["-p", "22", "--", "::1"], "/r"),
        ("ssh://gpu1/~", ["--", "gpu1"], '"$HOME"'),
        ("ssh://gpu1/~/r/$(x)", ["--", "gpu1"], "\"$HOME\"/'r/$(x)'"),
        ("ssh://gpu1/~bob/r", ["--", "gpu1"], "~bob/r"),
        ("ssh://gpu1/~$(x)/r", ["--", "gpu1"], "'/~$(x)/r'"),
        ("ssh://gpu1/50%25/a%20b?c#d", ["--", "gpu1"], "'/50%/a b?c#d'"),
    ],
)
def test_a_target_becomes_words_for_ssh_and_one_word_for_the_shell(
    target: str, words: list[str], path: str
) -> None:
    address = address_of(target)
    assert list(address.argv[-len(words) - 1 : -1]) == words
    assert "BatchMode=yes" in address.argv
    assert not any("HostKey" in word for word in address.argv)
    assert address.path == path


@pytest.mark.parametrize(
    "target",
    [
        "ssh://",
        "ssh:///runs",
        "ssh://gpu1",
        "ssh://gpu1/",
        "ssh://-oProxyCommand=x/r",
        "ssh://-x@gpu1/r",
        "ssh://a b/r",
        "ssh://gpu1:99999/r",
        "ssh://me@you@gpu1/r",
        "ssh://gpu1/r%00",
        "ssh://gp\x1b[2Ju1/r",
    ],
)
def test_words_that_mean_nothing_are_refused_in_one_line(target: str) -> None:
    with pytest.raises(TargetError) as error:
        address_of(target)
    assert str(error.value).isprintable()


def test_a_remote_run_reads_like_a_local_one_and_is_called_by_its_place(far: FarSide) -> None:
    run = far.path / "my-run"
    run.mkdir()
    (run / "metrics.jsonl").write_bytes(b"".join(ROW % (n, n) for n in range(3)))
    (run / "config.json").write_text('{"model_name": "Qwen/Qwen3-8B", "log_path": "x"}')
    (run / "weights.safetensors").write_bytes(b"x" * 1000)
    events = read_all(source_of(f"ssh://host{run}"))
    assert [event.step for event in events if isinstance(event, Step)] == [0, 1, 2]
    assert "Qwen/Qwen3-8B" in {event.model for event in events if isinstance(event, RunInfo)}
    assert "my-run" in {event.name for event in events if isinstance(event, RunInfo)}
    assert {status.path for status in statuses(events)} >= {f"ssh://host{run}/metrics.jsonl"}
    assert "rltop-" not in "".join(event.model_dump_json() for event in events)


def test_a_file_is_read_with_what_belongs_to_it_and_nothing_else(far: FarSide, follow: Follow) -> None:
    (far.path / "metrics.jsonl").write_bytes(ROW % (0, 0))
    (far.path / "config.json").write_text("{}")
    (far.path / "other.jsonl").write_bytes(ROW % (1, 1))
    run = follow(f"ssh://host{far.path}/metrics.jsonl")
    run.look()
    assert run.here() == ROW % (0, 0)
    assert run.filling.target is not None
    assert sorted(os.listdir(run.filling.target.parent)) == ["config.json", "metrics.jsonl"]


def test_growth_is_fetched_and_nothing_else_is(far: FarSide, follow: Follow) -> None:
    log = far.path / "train.log"
    log.write_bytes(b"one\n")
    run = follow(f"ssh://host{far.path}")
    run.look()
    kept = os.stat(run.filling.shown[0] / "train.log").st_ino
    with log.open("ab") as file:
        file.write(b"two")
    run.look()
    assert run.here("train.log") == b"one\ntwo"
    assert os.stat(run.filling.shown[0] / "train.log").st_ino == kept
    assert len(far.asked) == 1


@pytest.mark.parametrize("anew", [b"", b"new", b"a wholly different and longer log\n" * 9])
def test_a_file_written_anew_becomes_a_new_file(far: FarSide, follow: Follow, anew: bytes) -> None:
    log = far.path / "train.log"
    log.write_bytes(b"one\n" * 30)
    run = follow(f"ssh://host{far.path}")
    run.look()
    kept = os.stat(run.filling.shown[0] / "train.log").st_ino
    log.write_bytes(anew)
    run.look()
    run.look()
    assert run.here("train.log") == anew
    assert os.stat(run.filling.shown[0] / "train.log").st_ino != kept


def test_the_last_lines_of_a_rotated_log_are_not_lost(far: FarSide, follow: Follow) -> None:
    log = far.path / "train.log"
    log.write_bytes(b"one\n")
    run = follow(f"ssh://host{log}")
    run.look()
    reader = run.filling.shown[0].joinpath("train.log").open("rb")
    with log.open("ab") as file:
        file.write(b"two\n")
    log.rename(far.path / "train.log.1")
    log.write_bytes(b"three\n")
    run.look()
    run.look()
    with reader:
        assert reader.read() == b"one\ntwo\n"
    assert run.here() == b"three\n"


def test_a_file_that_is_deleted_is_gone_here_too(far: FarSide, follow: Follow) -> None:
    (far.path / "train.log").write_bytes(b"one\n")
    (far.path / "other.log").write_bytes(b"two\n")
    run = follow(f"ssh://host{far.path}")
    run.look()
    (far.path / "train.log").unlink()
    run.look()
    assert run.filling.target is not None
    assert os.listdir(run.filling.target) == ["other.log"]


def test_hostile_names_are_names(far: FarSide, follow: Follow) -> None:
    names = ["$(touch pwned).log", "`x`'\".log", "-rf.log", "a  b.log", "*.log", "ü\x1b[2J.log", "\udcff.log"]
    folder = far.path / "run; touch pwned #'"
    folder.mkdir()
    for number, name in enumerate(names):
        (folder / name).write_bytes(b"%d" % number)
    (folder / "broken\nname.log").write_bytes(b"never seen")
    run = follow(f"ssh://host{folder}")
    run.look()
    assert [run.here(name) for name in names] == [b"%d" % number for number in range(len(names))]
    assert "broken\nname.log" not in os.listdir(run.filling.shown[0])
    assert not [found for found in far.path.rglob("pwned")]


def test_any_bytes_come_through(far: FarSide, follow: Follow) -> None:
    data = bytes(range(256)) * 3000
    (far.path / "run-x.wandb").write_bytes(data)
    run = follow(f"ssh://host{far.path}")
    run.look()
    assert run.here("run-x.wandb") == data


def test_weights_and_samples_stay_where_they_are(far: FarSide, follow: Follow) -> None:
    for name in ("model.bin", "tokenizer.json", "17.jsonl", "eval_test_rollout_summaries.jsonl"):
        (far.path / name).write_bytes(b"x")
    (far.path / "global_step_10").mkdir()
    (far.path / "global_step_10" / "data.json").write_bytes(b"{}")
    (far.path / "train.log").write_bytes(b"step:1\n")
    run = follow(f"ssh://host{far.path}")
    run.look()
    assert os.listdir(run.filling.shown[0]) == ["train.log"]


def test_the_latest_run_of_a_wandb_folder_is_found(far: FarSide, follow: Follow) -> None:
    (far.path / "run-1").mkdir()
    (far.path / "run-1" / "run-1.wandb").write_bytes(b":W&B")
    (far.path / "latest-run").symlink_to("run-1")
    run = follow(f"ssh://host{far.path}")
    run.look()
    assert run.here("latest-run/run-1.wandb") == b":W&B"


def test_dates_of_files_are_those_of_the_far_side(far: FarSide, follow: Follow) -> None:
    log = far.path / "train.log"
    log.write_bytes(b"one\n")
    os.utime(log, (1_700_000_000, 1_700_000_000))
    run = follow(f"ssh://host{log}")
    run.look()
    assert run.filling.target is not None
    assert run.filling.target.stat().st_mtime == pytest.approx(1_700_000_000, abs=1)


def test_a_path_that_is_not_there_is_waited_for(far: FarSide, follow: Follow) -> None:
    log = far.path / "late.log"
    run = follow(f"ssh://host{log}")
    (status,) = statuses(run.look())
    assert (status.source, status.state) == ("pending", "waiting")
    assert status.reason == f"ssh://host{log}: no such file or folder"
    assert run.look() == []
    log.write_bytes(b"here")
    run.look()
    assert run.here() == b"here"


def test_a_file_that_may_not_be_read_is_named(far: FarSide, follow: Follow) -> None:
    log = far.path / "secret.log"
    log.write_bytes(b"x")
    log.chmod(0)
    if os.access(log, os.R_OK):
        pytest.skip("whoever runs this may read everything")
    run = follow(f"ssh://host{log}")
    (status,) = statuses(run.look())
    assert (status.state, status.reason) == ("denied", f"ssh://host{log}: no permission to read it")


def test_what_is_no_file_is_named(far: FarSide, follow: Follow) -> None:
    os.mkfifo(far.path / "pipe")
    (status,) = statuses(follow(f"ssh://host{far.path}/pipe").look())
    assert status.reason == f"ssh://host{far.path}/pipe: not a regular file"


@pytest.mark.skipif(shutil.which("busybox") is None, reason="no busybox here")
def test_a_machine_with_nothing_but_busybox_will_do(
    far: FarSide, follow: Follow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    applets = tmp_path / "applets"
    applets.mkdir()
    for name in ("sh", "find", "stat", "sort", "head", "tail", "date", "ls", "dirname", "readlink"):
        (applets / name).symlink_to(shutil.which("busybox") or "")
    monkeypatch.setenv("PATH", f"{far.here}{os.pathsep}{applets}")
    log = far.path / "train.log"
    log.write_bytes(b"one\n")
    run = follow(f"ssh://host{far.path}")
    run.look()
    with log.open("ab") as file:
        file.write(b"two")
    run.look()
    assert run.here("train.log") == b"one\ntwo"


def test_one_look_at_a_machine_that_refuses_is_one_line(far: FarSide) -> None:
    far.refuse("@@@@@\r\nbad \x1b[31mkey\r\nHost key verification failed.\r\n")
    (status,) = statuses(read_all(source_of("ssh://host/x")))
    assert status.state == "denied"
    assert status.reason.startswith("ssh://host/x: Host key verification failed: run `ssh host` once")


def test_nothing_is_connected_before_the_first_poll(far: FarSide) -> None:
    source = source_of("ssh://host/x")
    assert source.close() == []
    assert far.asked == []


def test_the_shell_can_be_that_of_a_real_one(far: FarSide) -> None:
    """What is sent is the same text for every shell that calls itself POSIX."""
    for shell in ("bash", "dash", "ksh", "zsh"):
        if shutil.which(shell) is None:
            continue
        from rltop.monitor.places.ssh_script import list_folder, prologue

        done = subprocess.run(
            [shell, "-n"], input=f"{prologue('/x')}\n{list_folder()}\n", text=True, capture_output=True
        )
        assert (done.returncode, done.stderr) == (0, "")


def test_where_it_is_being_connected_to_is_said_until_it_is(far: FarSide, follow: Follow) -> None:
    (far.path / "train.log").write_bytes(b"x")
    run = follow(f"ssh://host{far.path}")
    run.look()
    run.look()
    told = [(event.state, event.reason) for event in run.events if isinstance(event, SourceStatus)]
    assert told == [
        ("waiting", f"ssh://host{far.path}: connecting"),
        ("waiting", f"ssh://host{far.path}: fetched 0 of 0 MiB"),
        ("reading", ""),
    ]


def test_what_was_there_before_is_not_taken_for_new(far: FarSide) -> None:
    log = far.path / "console.log"
    line = b"step:%d - critic/rewards/mean:0.5 - response_length/mean:9.0 - timing_s/step:1.0\n"
    log.write_bytes(b"".join(line % step for step in range(1, 3)) + b"x" * 9_000_000 + b"\n" + line % 3)
    steps = [event for event in read_all(source_of(f"ssh://host{log}")) if isinstance(event, Step)]
    assert [step.step for step in steps] == [1, 2, 3]
    assert {step.ended_at for step in steps} == {None}


def test_a_long_log_is_read_while_it_is_fetched_and_its_steps_are_not_new(
    far: FarSide, follow: Follow
) -> None:
    log = far.path / "console.log"
    line = b"step:%d - critic/rewards/mean:0.5 - response_length/mean:9.0 - timing_s/step:1.0\n"
    log.write_bytes(b"".join(line % step + b"x" * 1_000_000 + b"\n" for step in range(1, 13)))
    (far.path / "logs.log").write_bytes(b"x" * 5_000_000)
    run = follow(f"ssh://host{log}")
    fetched: list[tuple[str, list[int]]] = []
    reading: PendingSource | None = None
    while events := next(run.looks):
        if reading is None and run.filling.target is not None:
            reading = PendingSource(run.filling.target)
        told = [] if reading is None else [e for e in reading.poll(7.0) if isinstance(e, Step)]
        assert {step.ended_at for step in told} <= {None}
        states = [event.reason for event in events if isinstance(event, SourceStatus)]
        fetched.append((states[-1].rpartition(": ")[2], [step.step for step in told]))
    assert fetched[1:4] == [
        ("fetched 4 of 16 MiB", [1, 2, 3, 4, 5]),
        ("fetched 8 of 16 MiB", [6, 7, 8, 9]),
        ("fetched 11 of 16 MiB", [10, 11, 12]),
    ]
    assert fetched[-1][0] == ""


def test_a_folder_is_read_once_all_of_it_is_here(far: FarSide, follow: Follow) -> None:
    line = b"step:%d - critic/rewards/mean:0.5 - timing_s/step:1.0\n"
    for name in ("a.log", "b.log"):
        (far.path / name).write_bytes(line % 1 + b"x" * 5_000_000)
    run = follow(f"ssh://host{far.path}")
    while events := next(run.looks):
        waits = any(event.state == "waiting" for event in events if isinstance(event, SourceStatus))
        assert waits == (run.filling.target is None)
