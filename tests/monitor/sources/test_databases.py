"""trackio and MLflow: databases and files that another program writes while we read."""

import json
import sqlite3
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rltop.models.event import Ended, Event, LogLine, SourceStatus
from rltop.models.gpu import GpuSample
from rltop.models.run import RunInfo
from rltop.models.step import Step
from rltop.monitor.source import Held
from rltop.monitor.sources.mlflow_db import MlflowDatabase
from rltop.monitor.sources.mlflow_files import MlflowFiles
from rltop.monitor.sources.several import calls
from rltop.monitor.sources.trackio import TrackioSource
from rltop.monitor.target import TargetError, open_target, runs_in

from ..stores import Mlflow, Trackio

TRL = {
    "completions/mean_length": 100.0,
    "completions/clipped_ratio": 0.25,
    "reward": 0.5,
    "num_tokens": 1000.0,
    "step_time": 2.0,
}
VERL = {
    "response_length/mean": 100.0,
    "response_length/max": 512.0,
    "critic/score/mean": 0.4,
    "timing_s/step": 20.0,
    "timing_s/gen": 10.0,
    "actor/pg_loss": 0.1,
    "perf/total_num_tokens": 1e5,
}
SLIME = {
    "rollout/response_len/mean": 100.0,
    "rollout/raw_reward": 0.5,
    "train/lr-pg_0": 1e-6,
    "perf/rollout_time": 10.0,
}
"""Counts from 0, as TRL and veRL do from 1."""

META = "run_id: abc\nrun_name: my-run\nstart_time: 1000\nend_time: 2000\nstatus: {status}\n"


def steps(events: Iterable[Event]) -> list[Step]:
    return [event for event in events if isinstance(event, Step)]


def status(events: Iterable[Event]) -> SourceStatus:
    return next(event for event in events if isinstance(event, SourceStatus))


@pytest.fixture
def trackio(tmp_path: Path) -> Trackio:
    return Trackio(tmp_path / "grpo.db")


def test_a_trackio_database_is_told_by_its_tables(trackio: Trackio) -> None:
    trackio.log("a", 1, TRL)
    assert isinstance(open_target(trackio.path)[0], TrackioSource)


def test_trackio_rows_are_read_as_the_frameworks_own(trackio: Trackio) -> None:
    trackio.configure(
        "a", {"max_steps": 30, "max_completion_length": 256, "_Created": "2026-11-29T19:00:00+00:00"}
    )
    for number in (1, 2, 3):
        trackio.log("a", number, {**TRL, "num_tokens": 1000.0 * number})
    events = TrackioSource(trackio.path).poll(0.0)
    told = steps(events)
    assert [(step.step, step.response_length_mean, step.clip_ratio) for step in told] == [
        (1, 100.0, 0.25),
        (2, 100.0, 0.25),
        (3, 100.0, 0.25),
    ]
    facts = RunInfo()
    for event in events:
        facts = facts.merged(event) if isinstance(event, RunInfo) else facts
    assert (facts.name, facts.framework, facts.total_steps, facts.max_tokens) == ("a", "trl", 30, 256)
    assert facts.started_at == 1795978800.0


def test_trackio_tells_each_row_once_while_it_grows(trackio: Trackio) -> None:
    source = TrackioSource(trackio.path)
    told: list[int] = []
    for number in range(1, 6):
        trackio.log("a", number, TRL)
        told += [step.step for step in steps(source.poll(0.0))]
    assert told == [1, 2, 3, 4, 5]


def test_more_rows_than_a_poll_takes_are_all_told(trackio: Trackio) -> None:
    for number in range(1, 8):
        trackio.log("a", number, TRL)
    source = TrackioSource(trackio.path, rows_a_poll=3)
    told = [step.step for step in steps(source.poll(0.0))]
    while source.more:
        told += [step.step for step in steps(source.poll(0.0))]
    assert told == [1, 2, 3, 4, 5, 6, 7]


def test_of_several_runs_the_newest_is_taken_and_the_others_are_named(trackio: Trackio) -> None:
    trackio.log("old", 1, TRL)
    trackio.log("new", 1, TRL)
    events = TrackioSource(trackio.path).poll(0.0)
    assert status(events).notes == (f"the newest of 2 runs; another: {trackio.path}#old",)
    assert next(event.name for event in events if isinstance(event, RunInfo)) == "new"


def test_the_other_runs_of_a_database_are_named_up_to_five(trackio: Trackio) -> None:
    for number in range(8):
        trackio.log(f"r{number}", 1, TRL)
    (note,) = status(TrackioSource(trackio.path).poll(0.0)).notes
    assert note == f"the newest of 8 runs; others: {trackio.path}#r6, #r5, #r4, #r3, #r2 and 2 more"


def test_the_runs_of_a_trackio_database_are_listed_the_newest_first(trackio: Trackio) -> None:
    trackio.log("old", 7, TRL)
    trackio.log("new", 1, TRL)
    trackio.log("old", 8, TRL)
    assert runs_in(trackio.path) == [Held("old", 1795978800.0 + 480), Held("new", 1795978800.0 + 60)]


def test_the_runs_of_an_mlflow_store_are_listed_the_newest_first(mlflow: Mlflow) -> None:
    mlflow.start("a", 1)
    mlflow.log("a", 3, VERL)
    mlflow.start("b", 2)
    mlflow.start("gone", 3)
    mlflow.database.execute("UPDATE runs SET lifecycle_stage = 'deleted' WHERE run_uuid = 'gone'")
    mlflow.database.commit()
    assert runs_in(mlflow.path) == [Held("name-b", 2.0), Held("name-a", 1_795_980_000.003)]
    assert steps(open_target(Path(f"{mlflow.path}#name-a"))[0].poll(0.0))[0].step == 3


def test_what_holds_one_run_holds_no_runs_to_list(tmp_path: Path) -> None:
    (tmp_path / "m.jsonl").write_text('{"step": 1, "reward_mean": 0.5}\n')
    (tmp_path / "empty.db").write_bytes(b"")
    for name in ("m.jsonl", "empty.db", "gone.db", "."):
        assert list(runs_in(tmp_path / name)) == []


@pytest.mark.parametrize("name", ["", "a#b", "twice", "id-1", "a//b", "a/"])
def test_a_run_whose_name_would_not_do_is_called_by_its_id(name: str) -> None:
    runs = [("id-0", name), ("id-1", "twice"), ("id-2", "a/b")]
    assert calls(runs) == ["id-0", "id-1" if name == "twice" else "twice", "a/b"]


def test_a_run_of_a_database_is_opened_by_its_name(trackio: Trackio) -> None:
    trackio.log("old", 7, TRL)
    trackio.log("new", 1, TRL)
    (source,) = open_target(Path(f"{trackio.path}#old"))
    assert steps(source.poll(0.0))[-1].step == 7


def test_a_run_that_a_database_does_not_have_is_told_with_those_it_has(trackio: Trackio) -> None:
    trackio.log("old", 1, TRL)
    told = status(TrackioSource(trackio.path, "gone").poll(0.0))
    assert (told.state, told.reason) == ("waiting", f"no run gone in {trackio.path}; there are: old")


def test_a_file_of_one_run_has_no_runs_to_name(tmp_path: Path) -> None:
    (tmp_path / "m.jsonl").write_text('{"step": 1, "reward_mean": 0.5}\n{"step": 2, "reward_mean": 0.5}\n')
    with pytest.raises(TargetError, match=r"m\.jsonl: is one run; leave out #x"):
        open_target(tmp_path / "m.jsonl#x")


def test_the_words_for_numbers_that_json_lacks_are_numbers(trackio: Trackio) -> None:
    trackio.log("a", 1, {**TRL, "bad": "NaN", "worse": "-Infinity", "text": "hello"})
    (step,) = steps(TrackioSource(trackio.path).poll(0.0))
    assert step.raw["bad"] != step.raw["bad"]
    assert step.raw["worse"] == float("-inf")
    assert "text" not in step.raw


def test_a_row_that_is_no_object_is_counted(trackio: Trackio) -> None:
    trackio.log("a", 1, TRL)
    trackio.log("a", 2, [1, 2])
    events = TrackioSource(trackio.path).poll(0.0)
    assert status(events).bad_lines == 1
    assert len(steps(events)) == 1


def test_gpu_readings_and_alerts_of_trackio_are_told(trackio: Trackio) -> None:
    trackio.log("a", 1, TRL)
    trackio.database.execute(
        "INSERT INTO system_metrics (run_id, run_name, timestamp, metrics) VALUES ('a', 'a', ?, ?)",
        (
            "2026-11-29T19:00:01+00:00",
            '{"gpu/0/utilization": 93, "gpu/0/power": 610.5, "gpu/0/total_memory": 80}',
        ),
    )
    trackio.database.execute(
        "INSERT INTO alerts (run_id, run_name, title, text, level) VALUES ('a', 'a', 'kl', 'high', 'error')"
    )
    trackio.database.commit()
    events = TrackioSource(trackio.path).poll(0.0)
    sample = next(event for event in events if isinstance(event, GpuSample))
    assert (sample.gpus[0].util, sample.gpus[0].power_w) == (93.0, 610.5)
    assert sample.gpus[0].mem_total_gb == pytest.approx(85.9, abs=0.1)
    line = next(event for event in events if isinstance(event, LogLine))
    assert (line.text, line.level) == ("kl: high", "error")


def test_a_database_that_goes_away_and_comes_back_goes_on(trackio: Trackio, tmp_path: Path) -> None:
    trackio.log("a", 1, TRL)
    source = TrackioSource(trackio.path)
    assert len(steps(source.poll(0.0))) == 1
    trackio.path.rename(tmp_path / "away.db")
    lost = status(source.poll(1.0))
    assert (lost.state, lost.reason) == ("lost", f"{trackio.path}: no such file")
    (tmp_path / "away.db").rename(trackio.path)
    trackio.log("a", 2, TRL)
    events = source.poll(2.0)
    assert [step.step for step in steps(events)] == [2]
    assert status(events).state == "reading"


def test_a_damaged_database_is_a_state_and_no_error(trackio: Trackio) -> None:
    trackio.log("a", 1, TRL)
    trackio.database.close()
    data = bytearray(trackio.path.read_bytes())
    data[2000:] = b"\xff" * (len(data) - 2000)
    trackio.path.write_bytes(data)
    told = status(TrackioSource(trackio.path).poll(0.0))
    assert told.state in ("lost", "waiting")
    assert told.reason


@pytest.fixture
def mlflow(tmp_path: Path) -> Mlflow:
    return Mlflow(tmp_path / "mlflow.db")


def test_an_mlflow_store_is_told_by_its_tables(mlflow: Mlflow) -> None:
    mlflow.start("a", 1)
    assert isinstance(open_target(mlflow.path)[0], MlflowDatabase)


def test_mlflow_rows_are_read_as_the_frameworks_own(mlflow: Mlflow) -> None:
    mlflow.start("a", 1000, {"data/train_batch_size": "128", "actor_rollout_ref/rollout/n": "8"})
    for number in (1, 2):
        mlflow.log("a", number, VERL)
    events = MlflowDatabase(mlflow.path).poll(0.0)
    told = steps(events)
    assert [(step.step, step.response_length_mean, step.ended_at) for step in told] == [
        (1, 100.0, 1_795_980_000.001),
        (2, 100.0, 1_795_980_000.002),
    ]
    assert told[0].episodes == 1024
    names = [event.name for event in events if isinstance(event, RunInfo) and event.name]
    assert names == ["name-a"]


def test_mlflow_tells_each_step_once_while_it_grows(mlflow: Mlflow) -> None:
    mlflow.start("a", 1)
    source = MlflowDatabase(mlflow.path)
    told: list[int] = []
    for number in range(1, 6):
        mlflow.log("a", number, VERL)
        told += [step.step for step in steps(source.poll(0.0))]
    assert told == [1, 2, 3, 4, 5]


def test_a_step_that_the_limit_of_a_poll_cuts_is_told_whole(mlflow: Mlflow) -> None:
    mlflow.start("a", 1)
    for number in range(1, 5):
        mlflow.log("a", number, VERL)
    source = MlflowDatabase(mlflow.path, rows_a_poll=len(VERL) + 3)
    told = steps(source.poll(0.0))
    while source.more:
        told += steps(source.poll(0.0))
    assert [(step.step, len(step.raw)) for step in told] == [(n, len(VERL)) for n in range(1, 5)]


def test_what_is_not_a_number_in_mlflow_is_told_as_such(mlflow: Mlflow) -> None:
    mlflow.start("a", 1)
    mlflow.log("a", 1, {**VERL, "actor/pg_loss": float("nan"), "actor/grad_norm": 1.7976931348623157e308})
    (step,) = steps(MlflowDatabase(mlflow.path).poll(0.0))
    assert step.raw["actor/pg_loss"] != step.raw["actor/pg_loss"]
    assert step.raw["actor/grad_norm"] == float("inf")


@pytest.mark.parametrize(
    ("word", "end"), [("FINISHED", "finished"), ("FAILED", "crashed"), ("KILLED", "crashed")]
)
def test_the_end_of_an_mlflow_run_is_told(mlflow: Mlflow, word: str, end: str) -> None:
    mlflow.start("a", 1)
    mlflow.log("a", 1, VERL)
    source = MlflowDatabase(mlflow.path)
    assert not [event for event in source.poll(0.0) if isinstance(event, Ended)]
    mlflow.end("a", word)
    assert [event.status for event in source.poll(0.0) if isinstance(event, Ended)] == [end]


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("steps_done", [30, 12])
def test_a_finished_run_is_doubted_only_where_steps_are_missing(
    mlflow: Mlflow, first: int, steps_done: int
) -> None:
    mlflow.start("a", 1, {"num_rollout" if first == 0 else "max_steps": "30"})
    for number in range(first, first + steps_done):
        mlflow.log("a", number, SLIME if first == 0 else TRL)
    mlflow.end("a", "FINISHED")
    events = MlflowDatabase(mlflow.path).poll(0.0)
    lines = [event.text for event in events if isinstance(event, LogLine)]
    at = [] if steps_done == 30 else [f"step {first + steps_done - 1} of 30"]
    assert [line.rpartition("at ")[2] for line in lines] == at
    assert [event.status for event in events if isinstance(event, Ended)] == ["finished"]


def test_readings_of_the_machine_are_not_steps(mlflow: Mlflow) -> None:
    mlflow.start("a", 1)
    mlflow.log("a", 3, VERL)
    mlflow.log(
        "a", 0, {"system/gpu_0_utilization_percentage": 71.0, "system/cpu_utilization_percentage": 9.0}
    )
    events = MlflowDatabase(mlflow.path).poll(0.0)
    assert [step.step for step in steps(events)] == [3]
    assert next(event for event in events if isinstance(event, GpuSample)).gpus[0].util == 71.0


def write_run(folder: Path, step: int, row: Mapping[str, float]) -> None:
    for key, value in row.items():
        path = folder / "metrics" / key
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a") as file:
            file.write(f"{1_795_980_000_000 + step} {value} {step}\n")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    run = tmp_path / "mlruns" / "0" / "abc"
    (run / "params" / "data").mkdir(parents=True)
    (run / "params" / "data" / "train_batch_size").write_text("128")
    (run / "meta.yaml").write_text(META.format(status=1))
    write_run(run, 1, VERL)
    return tmp_path / "mlruns"


@pytest.mark.parametrize("below", ["", "0", "0/abc"])
def test_a_file_store_is_opened_at_each_of_its_levels(store: Path, below: str) -> None:
    (store / "0" / "meta.yaml").write_text("name: Default\n")
    (source,) = open_target(store / below)
    assert [step.step for step in steps([*source.poll(0.0), *source.poll(1.0)])] == [1]


def test_a_step_of_a_file_store_waits_until_all_its_files_are_written(store: Path) -> None:
    run = store / "0" / "abc"
    source = MlflowFiles(store)
    assert not steps(source.poll(0.0))  # step 1 may be under way
    write_run(run, 2, {"response_length/mean": 200.0})
    assert [step.step for step in steps(source.poll(1.0))] == [1]
    write_run(run, 2, {"critic/score/mean": 0.9})
    assert not steps(source.poll(2.0))
    (step,) = steps(source.poll(3.0))
    assert (step.step, step.response_length_mean, step.reward_mean) == (2, 200.0, 0.9)


def test_a_line_of_a_file_store_that_means_nothing_is_counted_and_named(store: Path) -> None:
    with (store / "0" / "abc" / "metrics" / "actor" / "pg_loss").open("a") as file:
        file.write("garbage\n")
    told = status(MlflowFiles(store).poll(0.0))
    assert (told.bad_lines, told.first_bad) == (1, "actor/pg_loss, line 2: not `milliseconds value step`")


def test_a_file_store_run_that_is_killed_is_told(store: Path) -> None:
    source = MlflowFiles(store)
    source.poll(0.0)
    (store / "0" / "abc" / "meta.yaml").write_text(META.format(status=5))
    assert [event.status for event in source.poll(1.0) if isinstance(event, Ended)] == ["crashed"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(-(2**63), 2**63 - 1), JSON), max_size=6))
def test_no_row_of_a_database_is_an_error(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[int, object]]
) -> None:
    trackio = Trackio(tmp_path_factory.mktemp("db") / "any.db")
    for step, row in rows:
        trackio.log("a", step, row)
    source = TrackioSource(trackio.path)
    events = [*source.poll(0.0), *source.close()]
    trackio.database.close()
    assert all(step.step >= 0 for step in steps(events))


@pytest.mark.parametrize("kind", [Trackio, Mlflow])
def test_a_database_that_its_writer_holds_is_said_to_be_held(
    tmp_path: Path, kind: type[Trackio] | type[Mlflow]
) -> None:
    held = kind(tmp_path / "held.db")
    if isinstance(held, Trackio):
        held.log("a", 1, TRL)  # the text of its rows looks like a console of TRL's
    held.database.execute("BEGIN EXCLUSIVE")
    with pytest.raises(TargetError, match=r"held\.db: database is locked"):
        open_target(held.path)
    held.database.rollback()
    assert open_target(held.path)


def test_a_database_that_is_cut_short_is_said_to_be(mlflow: Mlflow) -> None:
    mlflow.start("a", 1)
    mlflow.database.close()
    mlflow.path.write_bytes(mlflow.path.read_bytes()[:5000])
    with pytest.raises(TargetError, match="malformed"):
        open_target(mlflow.path)


def test_a_database_of_another_program_is_no_log(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE notes (text TEXT)")
        database.execute("INSERT INTO notes VALUES ('step:1 - loss:0.5')")
    database.close()
    with pytest.raises(TargetError, match="not a log that rltop knows"):
        open_target(path)


@pytest.mark.parametrize("column", ["step", "timestamp", "value"])
def test_a_row_of_mlflow_that_is_no_numbers_is_counted_and_named(mlflow: Mlflow, column: str) -> None:
    mlflow.start("a", 1)
    mlflow.log("a", 1, VERL)
    mlflow.log("a", 2, VERL)
    mlflow.database.execute(f"UPDATE metrics SET {column} = 'abc' WHERE rowid = 2")
    mlflow.database.commit()
    events = MlflowDatabase(mlflow.path).poll(0.0)
    assert [step.step for step in steps(events)] == [1, 2]
    told = status(events)
    assert (told.bad_lines, told.first_bad) == (1, "row 2 of metrics: not numbers")


def test_gpu_readings_are_told_where_there_is_no_table_of_alerts(trackio: Trackio) -> None:
    trackio.log("a", 1, TRL)
    trackio.database.execute("DROP TABLE alerts")
    trackio.database.execute(
        "INSERT INTO system_metrics (run_id, timestamp, run_name, metrics) VALUES ('a', ?, 'a', ?)",
        ("2026-11-29T19:00:00+00:00", json.dumps({"gpu/0/utilization": 40})),
    )
    trackio.database.commit()
    samples = [event for event in TrackioSource(trackio.path).poll(0.0) if isinstance(event, GpuSample)]
    assert [gpu.util for gpu in samples[0].gpus] == [40.0]


@pytest.mark.parametrize("kind", ["trackio", "mlflow", "store"])
def test_a_target_names_a_run_that_is_there(kind: str, request: pytest.FixtureRequest) -> None:
    place: Trackio | Mlflow | Path = request.getfixturevalue(kind)
    if isinstance(place, Trackio):
        place.log("a", 1, TRL)
    elif isinstance(place, Mlflow):
        place.start("a", 1)
    path = place if isinstance(place, Path) else place.path
    with pytest.raises(TargetError, match=r"no run gone in .*; there are: "):
        open_target(Path(f"{path}#gone"))


def test_a_schema_of_broken_words_is_a_damaged_database(trackio: Trackio) -> None:
    trackio.log("a", 1, TRL)
    trackio.database.close()
    data = trackio.path.read_bytes().replace(b"CREATE TABLE metrics", b"CREATE \xf4ABLE metr\xffcs", 1)
    trackio.path.write_bytes(data)
    told = status(TrackioSource(trackio.path).poll(0.0))
    assert (told.state, told.reason) == ("lost", f"{trackio.path}: database disk image is malformed")
