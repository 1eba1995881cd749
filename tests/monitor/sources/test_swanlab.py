import math
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import to_json

from bench.longrun.swanlab import (
    ABORTED,
    CRASHED,
    HEADER_1,
    STARTED_AT,
    column,
    config_file,
    finished,
    log_of,
    numbered,
    printed,
    scalar,
    scalar_1,
    started,
    told_1,
)
from rltop.models.event import Ended, Event, LogLine, SourceStatus
from rltop.models.gpu import GpuSample
from rltop.models.step import Step
from rltop.monitor.reduce import reduce
from rltop.monitor.source import Probe
from rltop.monitor.sources.swanlab import FORMAT, SwanlabSource
from rltop.monitor.sources.swanlab_beside import config_of
from rltop.monitor.sources.swanlab_records import Scalar, said_by
from rltop.monitor.state import RunState

KEYS = ("timing_s/step", "response_length/mean", "critic/score/mean", "actor/grad_norm")
CONFIG = {
    "trainer": {"nnodes": 2, "n_gpus_per_node": 8, "total_training_steps": 40},
    "data": {"max_response_length": 1024},
}


def row(step: int, **other: float) -> list[bytes]:
    values = {key: index + step / 8 for index, key in enumerate(KEYS)} | other
    return [numbered(step, scalar(key, step, value, STARTED_AT + step)) for key, value in values.items()]


def row_1(step: int) -> list[bytes]:
    return [scalar_1(key, step, index + step / 8, STARTED_AT + step) for index, key in enumerate(KEYS)]


def run_of(folder: Path, records: Iterable[bytes], name: str = "run-abc.swanlab", **more: bytes) -> Path:
    """A run's folder as SwanLab leaves it."""
    (folder / "files").mkdir(parents=True)
    (folder / "files" / "config.yaml").write_bytes(config_file(CONFIG))
    path = folder / name
    path.write_bytes(log_of(records, **more))
    return path


def read(path: Path) -> list[Event]:
    (source,) = FORMAT.open(path)
    return [*source.poll(0.0), *source.close()]


def state_of(events: Iterable[Event]) -> RunState:
    state = RunState()
    for event in events:
        state = reduce(state, event)
    return state


def only(events: Iterable[Event], kind: type[Event]) -> list[Event]:
    return [event for event in events if isinstance(event, kind)]


def test_a_verl_run_is_read_as_verl_logs_it(tmp_path: Path) -> None:
    records = [numbered(-1, started("my run")), *(numbered(1, column(key)) for key in KEYS)]
    records += [*row(1), *row(2), *row(3), numbered(-2, finished(at=STARTED_AT + 9))]
    events = read(run_of(tmp_path / "run", records))
    state = state_of(events)
    info = state.info
    assert (info.name, info.framework, info.gpus, info.total_steps) == ("my run", "verl", 16, 40)
    assert (info.started_at, info.max_tokens) == (STARTED_AT, 1024)
    assert list(state.history.steps) == [1, 2, 3]
    assert [state.history.get("duration_s", i) for i in range(3)] == [0.125, 0.25, 0.375]
    assert state.history.get("reward_mean", 1) == 2.25
    assert state.history.get("ended_at", 1) == STARTED_AT + 2
    (warning,) = [e.text for e in events if isinstance(e, LogLine)]
    assert "step 3 of 40" in warning
    assert [(e.status, e.at) for e in events if isinstance(e, Ended)] == [("finished", STARTED_AT + 9)]
    assert [e.bad_lines for e in events if isinstance(e, SourceStatus)] == [0]


def test_both_versions_say_the_same(tmp_path: Path) -> None:
    moment = "2026-09-21T14:13:20+00:00"
    old = [
        told_1("Header", backup_type="DEFAULT", create_time=moment),
        told_1("Experiment", id="x", name="my run"),
        *row_1(1),
        told_1("Column", key="x", column_type="FLOAT"),
        *row_1(2),
        told_1("Footer", success=False, create_time=moment),
    ]
    new = [numbered(-1, started("my run")), *row(1), *row(2), numbered(-2, finished(CRASHED))]
    first = state_of(read(run_of(tmp_path / "a", old, "backup.swanlab", header=HEADER_1)))
    second = state_of(read(run_of(tmp_path / "b", new)))
    assert first.info.config == second.info.config
    assert first.info.name == second.info.name == "my run"
    for index in range(2):
        assert first.history.row(index).raw("critic/score/mean") == 2 + (index + 1) / 8
        for name in ("duration_s", "reward_mean", "response_length_mean", "ended_at"):
            assert first.history.get(name, index) == second.history.get(name, index)
    assert first.ended is not None
    assert second.ended is not None
    assert (first.ended.status, first.ended.at) == (second.ended.status, STARTED_AT)


def test_numbers_that_are_none_are_read(tmp_path: Path) -> None:
    assert said_by(numbered(7, scalar("a/b", 0, 0.0, 2.5))) == Scalar("a/b", 0, 0.0, 2.5)
    odd = [math.inf, -math.inf, math.nan, 1e-320]
    for value, word in zip(odd, ("INF", "-INF", "NaN", 1e-320), strict=True):
        for record in (numbered(1, scalar("x", 3, value)), scalar_1("x", 3, word)):
            told = said_by(record)
            assert isinstance(told, Scalar)
            assert repr(told.value) == repr(value)


@given(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60),
    st.integers(0, 2**62),
    st.floats(),
    st.integers(-(2**63), 2**63 - 1),
    st.integers(0, 2**41),
)
def test_any_number_comes_back(key: str, step: int, value: float, number: int, millis: int) -> None:
    told = said_by(numbered(number, scalar(key, step, value, millis / 1000)))
    assert isinstance(told, Scalar)
    assert (told.key, told.step, repr(told.value)) == (key, step, repr(value))
    assert told.at == pytest.approx(millis / 1000)


def test_a_step_is_told_once_it_is_whole_wherever_the_file_is_torn(tmp_path: Path) -> None:
    records = [numbered(-1, started("my run"))]
    for step in range(1, 400):
        records += row(step)
    data = log_of(records)
    assert len(data) > 2 * 32_768
    path = run_of(tmp_path / "run", [])
    path.write_bytes(b"")
    source = SwanlabSource(path)
    told: list[Event] = []
    for now, start in enumerate(range(0, len(data), 4_999)):
        with path.open("ab") as file:
            file.write(data[start : start + 4_999])
        for _ in range(2):  # the second look finds nothing new
            told += source.poll(float(now))
    told += source.close()
    # One cut is where a record ends, in the middle of a step, which is then told in two parts.
    assert len(only(told, Step)) == 399 + 1
    history = state_of(told).history
    assert list(history.steps) == list(range(1, 400))
    assert [history.row(i).raw(KEYS[3]) for i in range(399)] == [3 + step / 8 for step in range(1, 400)]


def test_torn_at_any_byte_it_goes_on_where_it_stopped(tmp_path: Path) -> None:
    data = log_of([numbered(-1, started("my run")), *row(1), *row(2), numbered(-2, finished())])
    path = run_of(tmp_path / "run", [])
    for cut in range(len(data)):
        path.write_bytes(data[:cut])
        source = SwanlabSource(path)
        events = source.poll(0.0)
        with path.open("ab") as file:
            file.write(data[cut:])
        events += [*source.poll(0.5), *source.close()]
        assert [e.step for e in events if isinstance(e, Step)] == [1, 2]
        assert len(only(events, Ended)) == 1


def test_the_last_step_of_a_killed_run_is_told_after_a_silence(tmp_path: Path) -> None:
    records = [*row(1), *row(2)]
    path = run_of(tmp_path / "run", records)
    whole = path.read_bytes()
    path.write_bytes(whole + log_of([*records, *row(3)])[len(whole) :][:9])
    source = SwanlabSource(path)
    assert [e.step for e in source.poll(0.0) if isinstance(e, Step)] == [1]
    assert only(source.poll(30.0), Step) == []
    assert [e.step for e in source.poll(61.0) if isinstance(e, Step)] == [2]


def test_gpus_are_sampled(tmp_path: Path) -> None:
    readings = {"pct": 90.0, "mem.value": 40_000, "mem.pct": 50.0, "temp": 60, "power": 650.5, "mem.time": 3}
    records = [
        numbered(1, scalar(f"__swanlab__.gpu.{gpu}.{name}", round_, value + gpu, STARTED_AT + round_))
        for round_ in (1, 2)
        for gpu in (0, 1)
        for name, value in readings.items()
    ]
    records += [numbered(1, scalar("__swanlab__.cpu.pct", 2, 5.0))]
    path = run_of(tmp_path / "run", [*row(1), *records])
    machine = {"hardware": {"accelerators": [{"vendor": "nvidia", "devices": [{"name": "NVIDIA H100"}] * 2}]}}
    (path.parent / "files" / "swanlab-metadata.json").write_bytes(to_json(machine))
    events = read(path)
    first, second = [event for event in events if isinstance(event, GpuSample)]
    assert (first.at, second.at) == (STARTED_AT + 1, STARTED_AT + 2)
    gpu = second.gpus[1]
    assert (gpu.index, gpu.util, gpu.power_w, gpu.temp_c) == (1, 91, 651.5, 61)
    assert gpu.mem_used_gb == pytest.approx(40_001 * 2**20 / 1e9)
    assert state_of(events).info.gpu_type == "NVIDIA H100"
    assert not any("__swanlab__" in key for e in events if isinstance(e, Step) for key in e.raw)


@pytest.mark.parametrize(("state", "word"), [(CRASHED, "crashed"), (ABORTED, "aborted")])
def test_an_end_that_is_none_is_a_crash(tmp_path: Path, state: int, word: str) -> None:
    error = "Traceback (most recent call last):\n  File x\nRuntimeError: boom\n"
    lines = [numbered(1, printed(line)) for line in error.splitlines()]
    events = read(run_of(tmp_path / "run", [*row(1), *lines, numbered(-2, finished(state, error))]))
    (end,) = [event for event in events if isinstance(event, Ended)]
    assert (end.status, end.message) == ("crashed", f"SwanLab: {word}: RuntimeError: boom")
    assert any("RuntimeError: boom" in e.text for e in events if isinstance(e, LogLine))


def test_a_folder_leads_to_its_newest_run(tmp_path: Path) -> None:
    logs = tmp_path / "swanlog"
    run_of(logs / "run-20260101_000000-aaa", [*row(1)], "run-aaa.swanlab")
    newest = run_of(logs / "run-20260102_000000-bbb", [*row(1), *row(2)], "run-bbb.swanlab")
    (logs / "run-20260103_000000-ccc").mkdir()
    for target in (newest.parent, logs, tmp_path):
        names = tuple(sorted(path.name for path in target.iterdir()))
        assert FORMAT.score(Probe(path=target, is_dir=True, names=names)) > 0.5
        events = read(target)
        assert len(only(events, Step)) == 2
        (status,) = [event for event in events if isinstance(event, SourceStatus)]
        other = f"the newest of 2 runs; another: {logs / 'run-20260101_000000-aaa'}"
        assert status.notes == ((other,) if target != newest.parent else ())
    assert FORMAT.score(Probe(path=newest, is_dir=False, magic=newest.read_bytes()[:64])) == 1
    assert FORMAT.score(Probe(path=newest, is_dir=False, magic=b"SQLite format 3\0")) == 0
    assert FORMAT.score(Probe(path=tmp_path, is_dir=True, names=("other",))) == 0


def test_a_version_to_come_is_named(tmp_path: Path) -> None:
    path = run_of(tmp_path / "run", [*row(1)], header=b":SWL\xd6\xe1\x03")
    (status,) = [event for event in read(path) if isinstance(event, SourceStatus)]
    assert "version 3" in status.notes[0]


def test_a_configuration_is_read_as_it_is_written() -> None:
    text = """\
lr:
  desc: ''
  sort: 0
  value: 1.0e-06
'odd: key':
  desc: 'value: 3'
  sort: 1
  value:
    "tab\\tkey": 'it''s'
    deep:
      e: ''
      f: null
      g: false
      h: '7'
    items:
    - a: 1
      b: 2
    - 3
    last: -7
long:
  desc: ''
  sort: 2
  value: 'goes on: to
    the next

    line'
rocket:
  desc: ''
  sort: 3
  value: "\\U0001F680 goes \\
    \\ on"
words:
  desc: ''
  sort: 4
  value: one word
    and another
empty:
  desc: ''
  sort: 5
  value: {}
"""
    assert dict(config_of(text)) == {
        "lr": 1e-6,
        "odd: key.tab\tkey": "it's",
        "odd: key.deep.e": "",
        "odd: key.deep.f": None,
        "odd: key.deep.g": False,
        "odd: key.deep.h": "7",
        "odd: key.last": -7,
        "long": "goes on: to the next\nline",
        "rocket": "🚀 goes  on",
        "words": "one word and another",
    }


def test_a_configuration_that_changes_is_read_again(tmp_path: Path) -> None:
    path = run_of(tmp_path / "run", [*row(1)])
    source = SwanlabSource(path)
    events = source.poll(0.0)
    (path.parent / "files" / "config.yaml").write_bytes(config_file({**CONFIG, "later": 5}))
    events += source.poll(1.0)
    assert state_of(events).info.config["later"] == 5
    assert source.poll(2.0) == []


@given(st.text(max_size=300) | st.lists(st.sampled_from("a: 'x\"\\\n-?#|{}[] 0"), max_size=80).map("".join))
def test_no_configuration_makes_it_raise(text: str) -> None:
    list(config_of(text))
    list(config_of(f"key:\n  value:\n    {text}"))


EDIT = st.tuples(st.integers(0, 200), st.binary(max_size=4), st.integers(0, 6))


@given(st.lists(EDIT, min_size=1, max_size=6), st.booleans())
def test_no_record_makes_it_raise(
    tmp_path_factory: pytest.TempPathFactory, edits: list[tuple[int, bytes, int]], old: bool
) -> None:
    record = (row_1(2) if old else row(2))[0]
    for position, insert, gone in edits:
        record = record[:position] + insert + record[position + gone :]
    path = tmp_path_factory.mktemp("s") / "run-x.swanlab"
    path.write_bytes(log_of([*row(1), record, *row(3)]))
    events = read(path)
    assert 3 in [event.step for event in events if isinstance(event, Step)]
