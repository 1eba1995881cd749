"""The file logger, alone and beside a console."""

import math
from collections.abc import Callable
from pathlib import Path

from rltop.models.event import Event, Restart
from rltop.monitor.reduce import reduce
from rltop.monitor.source import Line, Source
from rltop.monitor.sources.verl import FOLDER
from rltop.monitor.sources.verl.filelogger import FileLoggerParser
from rltop.monitor.state import RunState

Fold = Callable[..., RunState]


def row(step: int, seconds: float = 10.0) -> str:
    return f'{{"step":{step},"data":{{"actor/pg_loss":0.125,"timing_s/gen":4.0,"timing_s/step":{seconds}}}}}'


VAL = '{"step":0,"data":{"val-core/openai/gsm8k/acc/mean@1":0.5}}'


def feed(parser: FileLoggerParser, *lines: str) -> list[Event]:
    return [event for n, text in enumerate(lines, 1) for event in parser.feed(Line(text, None, n))]


def test_steps_and_evaluations_are_read(fold: Fold) -> None:
    state = fold("\n".join([VAL, row(1), row(2), ""]), FileLoggerParser())
    assert (list(state.history.steps), len(state.history.evals)) == ([1, 2], 1)
    assert (state.info.framework, state.history.get("duration_s", 0)) == ("verl", 10.0)


def test_null_stands_for_what_is_no_number(fold: Fold) -> None:
    state = fold('{"step":1,"data":{"actor/grad_norm":null,"timing_s/step":3}}', FileLoggerParser())
    assert (state.history.get("grad_norm", 0), state.history.get("duration_s", 0)) == (None, 3.0)
    assert math.isnan(state.history.row(0).nonfinite["actor/grad_norm"])


def test_nan_as_older_versions_wrote_it_is_read(fold: Fold) -> None:
    state = fold('{"step": 1, "data": {"actor/grad_norm": NaN, "timing_s/step": 3}}', FileLoggerParser())
    assert (state.history.get("grad_norm", 0), len(state.history)) == (None, 1)


def test_other_lines_are_counted_and_named() -> None:
    parser = FileLoggerParser()
    feed(parser, row(1), "{", "[1]", '{"step":1}', '{"step":"1","data":{}}', '{"step":2,"data":[]}')
    assert parser.bad_lines == 5
    assert parser.first_bad.startswith("line 2:")


def test_a_file_that_was_started_again_tells_another_attempt() -> None:
    parser = FileLoggerParser()
    feed(parser, row(1), row(2), row(3))
    list(parser.restart())
    restarts = [event for event in feed(parser, row(3, 11.0)) if isinstance(event, Restart)]
    assert restarts == [Restart(from_step=3, attempt=1)]


def test_a_validation_at_the_start_of_a_resume_does_not_void_its_step() -> None:
    parser = FileLoggerParser()
    feed(parser, row(1), row(2))
    list(parser.restart())
    events = feed(parser, VAL.replace('"step":0', '"step":2'))
    assert [event.from_step for event in events if isinstance(event, Restart)] == [3]


def poll(sources: list[Source], state: RunState) -> RunState:
    for source in sources:
        for event in source.poll(0.0):
            state = reduce(state, event)
    return state


def console(step: int, seconds: float = 10.0) -> str:
    return (
        f"(TaskRunner pid=1) step:{step} - actor/pg_loss:0.125 - timing_s/gen:4.0 - timing_s/step:{seconds}\n"
    )


def folder(path: Path, log: str, *rows: str) -> Path:
    (path / "run.out").write_text(log)
    metrics = path / "file" / "project"
    metrics.mkdir(parents=True)
    (metrics / "experiment.jsonl").write_text("".join(f"{row}\n" for row in rows))
    return path


def test_console_and_metrics_file_of_one_run_double_nothing(tmp_path: Path) -> None:
    log = "step:0 - val-core/openai/gsm8k/acc/mean@1:0.5\n" + console(1) + console(2)
    sources = list(FOLDER.open(folder(tmp_path, log, VAL, row(1), row(2))))
    state = poll(sources, RunState())
    assert (list(state.history.steps), len(state.history.evals)) == ([1, 2], 1)
    assert {source for source, _ in state.sources} == {"console", "file-logger"}


def test_steps_that_the_console_lost_come_from_the_metrics_file(tmp_path: Path) -> None:
    sources = list(FOLDER.open(folder(tmp_path, console(1), row(1), row(2), row(3))))
    assert list(poll(sources, RunState()).history.steps) == [1, 2, 3]


def test_after_a_resume_the_metrics_file_belongs_to_the_last_attempt(tmp_path: Path) -> None:
    log = (
        console(1)
        + console(2)
        + console(3)
        + "Setting global step to 1\n"
        + console(2, 9.0)
        + console(3, 9.0)
    )
    sources = list(FOLDER.open(folder(tmp_path, log, row(2, 9.0), row(3, 9.0), row(4, 9.0))))
    state = poll(sources, RunState())
    told = list(zip(state.history.steps, state.history.attempts, strict=True))
    assert told == [(1, 0), (2, 0), (3, 0), (2, 1), (3, 1), (4, 1)]


def test_a_metrics_file_that_is_ahead_of_its_console_doubles_nothing(tmp_path: Path) -> None:
    path = folder(tmp_path, "(TaskRunner pid=1) Training from scratch\n", row(1), row(2))
    sources = list(FOLDER.open(path))
    state = poll(sources, RunState())
    with (path / "run.out").open("a") as log:
        log.write(console(1) + console(2) + console(3))
    state = poll(sources, state)
    assert (list(state.history.steps), state.attempt) == ([1, 2, 3], 0)
