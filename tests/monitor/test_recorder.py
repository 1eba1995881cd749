"""Recording events and reading them back."""

import math
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, cast, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import from_json

from rltop.models.event import Ended, Event, LogLine, NewRun, Progress, Restart, SourceStatus, Totals
from rltop.models.gpu import Gpu, GpuProcess, GpuSample, MigSlice, Serving
from rltop.models.run import RunInfo
from rltop.models.step import Eval, Step
from rltop.models.value import Value
from rltop.monitor.recorder import FORMAT, Recorder, RecordingParser, read_recorded, read_recording
from rltop.monitor.source import Line, Probe

NOW = 1_700_000_000.25
KINDS: tuple[type[Value], ...] = (
    RunInfo,
    Step,
    Eval,
    Progress,
    Restart,
    NewRun,
    Totals,
    GpuSample,
    Serving,
    LogLine,
    Ended,
    SourceStatus,
)


def values(kind: type[Value]) -> st.SearchStrategy[Any]:
    """Any value of a kind, with any of its optional fields set."""
    fields: dict[str, st.SearchStrategy[Any]] = {
        name: st.from_type(cast("type[Any]", Annotated[field.annotation, None, *field.metadata]))
        for name, field in kind.model_fields.items()
        if name != "kind"
    }
    needed = {name: fields.pop(name) for name, field in kind.model_fields.items() if field.is_required()}
    return st.fixed_dictionaries(needed, optional=fields).map(lambda chosen: kind(**chosen))


for inner in (GpuProcess, MigSlice, Gpu):
    st.register_type_strategy(inner, values(inner))
EVENTS = st.one_of([values(kind) for kind in KINDS])


def recorded(path: Path, events: Iterable[Event]) -> list[str]:
    """The lines of a recording of these events."""
    recorder = Recorder(path)
    for event in events:
        recorder.write(event, NOW)
    recorder.close()
    assert recorder.state == "closed"
    return path.read_bytes().decode().split("\n")[:-1]


def test_every_kind_of_event_is_tried() -> None:
    union = get_args(Event)[0]
    assert set(get_args(union)) == set(KINDS)


@given(event=EVENTS)
def test_what_is_recorded_is_read_back_exactly(
    tmp_path_factory: pytest.TempPathFactory, event: Event
) -> None:
    """Compared by text, because NaN equals nothing; and by what was set, because the fold looks at it."""
    header, line = recorded(tmp_path_factory.mktemp("rec") / "run.rec", [event])
    assert read_recording(header) is None
    found = read_recording(line)
    assert found is not None
    assert found[0] == NOW
    assert repr(found[1]) == repr(event)
    assert found[1].model_fields_set == event.model_fields_set | {"kind"}


def test_nan_and_infinities_survive(tmp_path: Path) -> None:
    raw = {"a": math.nan, "b": math.inf, "c": -math.inf, "d": 0.1, "e": -0.0}
    found = read_recording(recorded(tmp_path / "rec", [Step(step=1, raw=raw)])[1])
    assert found is not None
    assert isinstance(found[1], Step)
    assert repr(found[1].raw) == repr(raw)


def test_each_event_is_in_the_file_as_soon_as_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "rec"
    recorder = Recorder(path)
    assert from_json(path.read_bytes()) == {"rltop_recording": 1}
    recorder.write(LogLine(text="hello"), NOW)
    assert path.read_bytes().count(b"\n") == 2
    recorder.close()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="only Linux has a device that is always full")
def test_a_full_disk_is_a_state_and_not_an_error() -> None:
    recorder = Recorder(Path("/dev/full"))
    recorder.write(LogLine(text="hello"), NOW)
    recorder.close()
    assert recorder.state == "failed"
    assert "space" in recorder.reason


def test_a_closed_pipe_is_a_state_and_not_an_error(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    recorder = Recorder(pipe)
    os.close(reader)
    recorder.write(LogLine(text="hello"), NOW)
    assert recorder.state == "failed"
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    recorder.write(LogLine(text="a recording with a gap would mislead"), NOW)
    assert os.read(reader, 1000) == b""
    os.close(reader)
    recorder.close()
    assert recorder.state == "failed"
    assert "pipe" in recorder.reason.lower()


def test_a_place_that_cannot_be_written_is_a_state(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "no folder" / "rec")
    recorder.write(LogLine(text="hello"), NOW)
    assert recorder.state == "failed"
    assert recorder.reason


def test_never_writes_over_the_log_that_is_watched(tmp_path: Path) -> None:
    log = tmp_path / "metrics.jsonl"
    log.write_text('{"step": 1}\n')
    recorder = Recorder(log)
    recorder.write(LogLine(text="hello"), NOW)
    recorder.close()
    assert recorder.state == "failed"
    assert "not a recording" in recorder.reason
    assert log.read_text() == '{"step": 1}\n'


def test_writes_over_an_older_recording(tmp_path: Path) -> None:
    recorded(tmp_path / "rec", [LogLine(text="old")])
    assert "new" in recorded(tmp_path / "rec", [LogLine(text="new")])[1]


def test_text_that_json_cannot_hold_is_recorded_as_far_as_it_can(tmp_path: Path) -> None:
    events: list[Event] = [
        LogLine(text="half \udc80"),
        SourceStatus(source="console", path="run-\udcff", lines=3),
    ]
    told = [from_json(line)["event"] for line in recorded(tmp_path / "rec", events)[1:]]
    assert (told[0]["text"], told[1]["path"], told[1]["lines"]) == ("half ?", "run-?", 3)


@pytest.mark.parametrize(
    ("event", "kept", "named"),
    [
        ('{"kind": "step", "step": 3, "watts": 1.5}', Step(step=3), "watts"),
        ('{"kind": "log", "text": "x", "topic": "power"}', LogLine(text="x"), "topic"),
        (
            '{"kind": "step", "step": 3, "phases": {"dream": 2.0, "update": 1.0}}',
            Step(step=3, phases={"update": 1.0}),
            "phases.dream",
        ),
        (
            '{"kind": "gpu", "at": 1.0, "backend": "x", "gpus": [{"index": 0, "noise_db": 40}]}',
            GpuSample(at=1.0, backend="x", gpus=(Gpu(index=0),)),
            "gpus.0.noise_db",
        ),
    ],
)
def test_a_field_of_a_newer_version_is_left_out_and_named(event: str, kept: Event, named: str) -> None:
    found = read_recorded(f'{{"at": 1.0, "event": {event}}}')
    assert found.event == kept
    assert f"unknown field {named} " in found.problem


@pytest.mark.parametrize(
    "line",
    [
        "",
        "not JSON",
        "[1]",
        '{"at": 1.0}',
        '{"at": true, "event": {"kind": "log", "text": "x"}}',
        '{"at": 1.0, "event": {"kind": "a newer kind"}}',
        '{"at": 1.0, "event": {"kind": "ended", "status": "paused"}}',
        '{"at": 1.0, "event": {"kind": "step", "step": "three"}}',
        '{"at": 1.0, "event": {"kind": "step", "step": 3, "new": 1, "raw": 7}}',
        '{"at": 1.0, "event": {"kind": "st',
    ],
)
def test_a_line_that_is_no_event_is_named(line: str) -> None:
    found = read_recorded(line)
    assert found.event is None
    assert found.problem
    assert read_recording(line) is None


def test_a_recording_is_opened_like_any_log(tmp_path: Path) -> None:
    path = tmp_path / "rec"
    events = [RunInfo(name="run"), Step(step=0), LogLine(text="x")]
    recorded(path, events)
    assert FORMAT.score(Probe(path, False, head=path.read_text())) == 1.0
    (source,) = FORMAT.open(path)
    *found, status = source.poll(NOW)
    assert found == events
    assert isinstance(status, SourceStatus)
    assert (status.source, status.lines, status.bad_lines) == ("recording", 4, 0)
    source.close()


@pytest.mark.parametrize("head", ["", "step:1 - loss:2", '{"step": 1}', '["rltop_recording"]'])
def test_other_files_are_no_recordings(head: str) -> None:
    assert FORMAT.score(Probe(Path("x"), False, head=head)) == 0.0


def test_bad_lines_are_counted_and_the_first_is_named() -> None:
    parser = RecordingParser()
    lines = ['{"rltop_recording": 1}', "", "{", '{"at": 1, "event": {"kind": "log", "text": "x"}}', "["]
    events = [
        event for number, text in enumerate(lines, 1) for event in parser.feed(Line(text, None, number))
    ]
    assert events == [LogLine(text="x")]
    assert (parser.bad_lines, parser.first_bad) == (2, "line 3: not JSON")


def test_a_recording_written_anew_tells_only_what_is_new(tmp_path: Path) -> None:
    path = tmp_path / "rec"
    recorded(path, [Step(step=0), Step(step=1), Step(step=3)])
    (source,) = FORMAT.open(path)
    source.poll(NOW)
    path.unlink()
    recorded(path, [Step(step=0), Step(step=2), Step(step=3)])
    found = [event for event in source.poll(NOW) if isinstance(event, Step)]
    assert found == [Step(step=2), Step(step=3)]
    source.close()
