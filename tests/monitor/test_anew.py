"""A log that is emptied and written by another run is that run's; one that goes back is not."""

import json
import math
import sqlite3
from pathlib import Path

import pytest

from rltop.models.settings import Settings
from rltop.monitor.check import report
from rltop.monitor.clock import FakeClock
from rltop.monitor.frame import Frame
from rltop.monitor.money.book import Book
from rltop.monitor.pending import PendingSource
from rltop.monitor.pipeline import Pipeline
from rltop.monitor.recorder import Recorder
from rltop.monitor.replay import ReplaySession
from rltop.monitor.session import Session
from rltop.monitor.target import open_target
from rltop.monitor.timeline import timeline

HOSTED = Settings(gpus=8, usd_per_gpu_hour=3.6)


def jsonl(steps: range, shift: float = 0.0) -> str:
    rows = [{"step": n, "reward": n / 9 + shift, "loss": 0.5, "step_time": 10.0 + shift} for n in steps]
    return "".join(json.dumps(row) + "\n" for row in rows)


def file_logger(steps: range, shift: float = 0.0) -> str:
    told = [
        {"critic/score/mean": n / 9 + shift, "actor/pg_loss": 0.5, "timing_s/step": 10.0 + shift}
        for n in steps
    ]
    return "".join(json.dumps({"step": n, "data": data}) + "\n" for n, data in zip(steps, told, strict=True))


def tinker(steps: range, shift: float = 0.0) -> str:
    rows = [
        {
            "step": n,
            "progress/batch": n,
            "progress/done_frac": (n + 1) / 40,
            "env/all/total_ac_tokens": 1000 + shift,
            "env/all/reward/total": n / 9 + shift,
            "time/total": 10.0 + shift,
        }
        for n in steps
    ]
    return "".join(json.dumps(row) + "\n" for row in rows)


def console(steps: range, shift: float = 0.0) -> str:
    head = "python3 -m verl.trainer.main_ppo data.train_batch_size=128\n"
    told = (
        f"step:{n} - critic/score/mean:{n / 9 + shift:.3f} - timing_s/step:{10 + shift:.3f}\n" for n in steps
    )
    return head + "".join(told)


KINDS = {"jsonl": (jsonl, 0), "file_logger": (file_logger, 1), "tinker": (tinker, 0), "console": (console, 1)}


class Watched:
    """A run that is followed while its log changes."""

    def __init__(self, log: Path, recorder: Recorder | None = None) -> None:
        self.clock = FakeClock(1_796_000_000.0)
        make = Pipeline(HOSTED, Book.load())
        self.session = Session([PendingSource(log)], make, self.clock, recorder=recorder)

    def look(self) -> Frame:
        while self.session.look() in ("more", "news"):
            pass
        return self.session.pipeline.frame(self.clock.now())


def notes(frame: Frame) -> list[str]:
    return [note for note in report(frame).input.notes if "another run" in note]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("how", ["emptied", "replaced", "shorter first"])
def test_another_run_in_the_log_is_followed_as_a_fresh_look_would_take_it(
    kind: str, how: str, tmp_path: Path
) -> None:
    write, first = KINDS[kind]
    log = tmp_path / "metrics.jsonl"
    log.write_text(write(range(first, first + 20)))
    watched = Watched(log)
    assert watched.look().state.steps_done == 20
    if how == "replaced":
        (tmp_path / "new").write_text(write(range(first, first + 3), 0.25))
        (tmp_path / "new").replace(log)
    elif how == "shorter first":
        log.write_text("")
        assert watched.look().state.steps_done == 20  # nothing has come in its place
        log.write_text(write(range(first, first + 1), 0.25))
        watched.look()
        log.write_text(write(range(first, first + 3), 0.25))
    else:
        log.write_text(write(range(first, first + 3), 0.25))
    frame, fresh = watched.look(), Watched(log).look()
    assert (frame.state.steps_done, frame.elapsed_s) == (3, pytest.approx(30.75))
    assert frame.bill.spent_usd == fresh.bill.spent_usd
    assert report(frame).health == report(fresh).health
    assert list(frame.state.history.attempts) == [0, 0, 0]
    (note,) = notes(frame)
    assert note == (
        "metrics.jsonl was emptied and another run begun in it: the one before, which had come to step"
        f" {first + 19}, is not in these figures"
    )


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_that_goes_back_in_its_log_pays_twice(kind: str, tmp_path: Path) -> None:
    write, first = KINDS[kind]
    log = tmp_path / "metrics.jsonl"
    log.write_text(write(range(first, first + 5)))
    watched = Watched(log)
    watched.look()
    with log.open("a") as file:
        file.write(write(range(first, first + 3), 0.25))
    frame = watched.look()
    assert frame.state.steps_done == 3
    assert frame.elapsed_s == pytest.approx(80.75)
    assert notes(frame) == []


@pytest.mark.parametrize("from_step", [1, 4])
def test_a_log_that_a_resume_cuts_is_the_same_run(from_step: int, tmp_path: Path) -> None:
    log = tmp_path / "metrics.jsonl"
    log.write_text(tinker(range(6)))
    watched = Watched(log)
    watched.look()
    log.write_text(tinker(range(from_step)) + tinker(range(from_step, 7), 0.25))
    frame = watched.look()
    assert frame.state.steps_done == 7
    assert frame.elapsed_s == pytest.approx(60 + 10.25 * (7 - from_step))
    assert notes(frame) == []


def test_another_run_may_count_from_1_where_the_first_did_from_0(tmp_path: Path) -> None:
    log = tmp_path / "rows.jsonl"
    log.write_text(jsonl(range(8)))
    watched = Watched(log)
    watched.look()
    log.write_text(jsonl(range(1, 3), 0.25))
    frame = watched.look()
    assert frame.state.steps_done == 2
    assert notes(frame)


def test_a_recording_of_two_runs_in_one_log_ends_as_the_second_does(tmp_path: Path) -> None:
    log, tape = tmp_path / "rows.jsonl", tmp_path / "tape.jsonl"
    log.write_text(jsonl(range(8)))
    watched = Watched(log, Recorder(tape))
    watched.look()
    log.write_text(jsonl(range(3), 0.25))
    live = watched.look()
    watched.session.end()
    clock = FakeClock(1_796_000_000.0)
    read = Session(open_target(tape), Pipeline(HOSTED, Book.load()), clock).read_all()
    (source,) = open_target(tape)
    replayed = ReplaySession(timeline(source.poll(0.0)), lambda: Pipeline(HOSTED, Book.load()), clock)
    for frame in (read, replayed.play_all()):
        assert frame.state.steps_done == live.state.steps_done == 3
        assert frame.bill.spent_usd == live.bill.spent_usd
        assert notes(frame) == notes(live)


def test_a_database_in_which_a_run_goes_back_is_of_the_same_run(tmp_path: Path) -> None:
    database = sqlite3.connect(tmp_path / "trackio.db")
    database.execute("CREATE TABLE metrics (id INTEGER PRIMARY KEY, run_name, step, timestamp, metrics)")
    database.execute("CREATE TABLE configs (id INTEGER PRIMARY KEY, run_name, config)")

    def log(steps: range) -> None:
        rows = [
            ("a", n, None, '{"completions/mean_length": 9, "reward": 1, "step_time": 10.0}') for n in steps
        ]
        database.executemany("INSERT INTO metrics VALUES (NULL, ?, ?, ?, ?)", rows)
        database.commit()

    log(range(1, 6))
    watched = Watched(tmp_path / "trackio.db")
    assert watched.look().state.steps_done == 5
    log(range(1, 3))
    frame = watched.look()
    assert (frame.state.steps_done, frame.elapsed_s) == (2, pytest.approx(70.0))
    assert notes(frame) == []


def test_another_training_in_a_trainer_state_is_followed_and_a_save_of_one_is_not(tmp_path: Path) -> None:
    def save(last: int, loss: float) -> None:
        first = {"step": 1, "loss": math.nan, "reward": loss, "step_time": 3.0}
        rows = [first, *({**first, "step": n, "loss": loss} for n in range(2, last + 1))]
        state = {"log_history": rows, "max_steps": 40, "global_step": last, "save_steps": 5}
        (tmp_path / "trainer_state.json").write_text(json.dumps(state))

    save(5, 0.5)
    watched = Watched(tmp_path / "trainer_state.json")
    assert watched.look().state.steps_done == 5
    save(10, 0.5)
    frame = watched.look()
    assert (frame.state.steps_done, notes(frame)) == (10, [])
    save(5, 0.25)
    frame = watched.look()
    assert (frame.state.steps_done, frame.health.reward, len(notes(frame))) == (5, 0.25, 1)


def test_a_run_that_failed_before_its_first_step_leaves_nothing_to_the_next_in_its_log(
    tmp_path: Path,
) -> None:
    log = tmp_path / "train.log"
    head = "python3 -m verl.trainer.main_ppo trainer.total_training_steps={} data.train_batch_size=128\n"
    log.write_text(head.format(30) + "Traceback (most recent call last):\n  in main\nValueError: no\n" * 3)
    watched = Watched(log)
    assert watched.look().info.total_steps == 30
    log.write_text(head.format(435).replace("trainer.total_training_steps=435 ", ""))
    watched.look()
    with log.open("a") as file:
        file.write(console(range(1, 3)).partition("\n")[2])
    frame = watched.look()
    assert (frame.info.total_steps, frame.state.steps_done) == (None, 2)
    (note,) = [note for note in report(frame).input.notes if "begun again" in note]
    assert note.startswith("train.log was emptied")


def test_a_log_that_grows_before_its_first_step_is_one_run(tmp_path: Path) -> None:
    log = tmp_path / "train.log"
    text = console(range(1, 3)).replace("\n", "\nloading the model\n" * 50, 1)
    watched = Watched(log)
    for end in range(1, len(text), 7):
        log.write_text(text[:end])
        watched.look()
    assert not [note for note in report(watched.look()).input.notes if "begun again" in note]
