"""The console of a cookbook program, where the run's folder is not at hand."""

import io
import math
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console
from rich.table import Table

from rltop.models.event import Ended, Event, LogLine, Restart
from rltop.models.run import RunInfo
from rltop.models.step import Eval, Step
from rltop.monitor.source import Line, Parser
from rltop.monitor.sources.tinker import FORMAT
from rltop.monitor.sources.tinker.console import FORMAT as CONSOLE
from rltop.monitor.sources.tinker.console import ConsoleParser
from rltop.monitor.target import probe

Row = dict[str, object]
MakeRow = Callable[..., Row]
LOGGER = "tinker_cookbook.utils.ml_log:317 [INFO] "
RUNS = (  # the log of the last ends with its second step
    "format-010-sync",
    "format-061-async",
    "format-061-sync-priced",
    "custom-loop-111",
    "math-rubric-7",
)


def printed(row: Row, width: int | None = 30, colour: bool = False) -> list[str]:
    """A row as the cookbook prints it."""
    table = Table(show_header=True, header_style="bold magenta", title=f"Step {row['step']}")
    table.add_column("Metric", style="cyan", width=width)
    table.add_column("Value", style="green")
    for key, value in sorted(row.items()):
        if key != "step":
            table.add_row(key, f"{value:.6f}" if isinstance(value, float) else str(value))
    out = io.StringIO()
    Console(file=out, width=100, force_terminal=colour, color_system="standard" if colour else None).print(
        table
    )
    return [LOGGER, *out.getvalue().rstrip().split("\n")]


def events_of(lines: Iterable[str]) -> list[Event]:
    parser = ConsoleParser()
    events = [event for n, text in enumerate(lines, 1) for event in parser.feed(Line(text, None, n))]
    return [*events, *parser.flush()]


def steps_of(events: Iterable[Event]) -> list[Step]:
    return [event for event in events if isinstance(event, Step)]


def info_of(events: Iterable[Event]) -> RunInfo:
    info = RunInfo()
    for event in events:
        if isinstance(event, RunInfo):
            info = info.merged(event)
    return info


@pytest.mark.parametrize("name", RUNS)
def test_a_real_run_reads_as_its_metrics_file_does(shared_data: Path, name: str) -> None:
    folder = shared_data / "tinker" / name
    whole = [event for source in FORMAT.open(folder) for event in (*source.poll(0.0), *source.close())]
    text = (folder / "logs.log").read_text(encoding="utf-8", errors="replace")
    told = {step.step: step for step in steps_of(events_of(text.split("\n")))}
    known = {step.step: step for step in steps_of(whole) if step.raw}
    assert told
    assert told.keys() <= known.keys()
    for number, step in ((number, known[number]) for number in told):
        for field in (
            "sampled_tokens",
            "prefill_tokens",
            "reward_mean",
            "duration_s",
            "response_length_mean",
        ):
            expected, found = getattr(step, field), getattr(told[number], field)
            assert (found is None) == (expected is None), (number, field)
            assert expected is None or math.isclose(found, expected, abs_tol=1e-4), (number, field)


@pytest.mark.parametrize(("width", "colour"), [(30, False), (30, True), (None, False), (60, True)])
def test_tables_of_every_make_are_rows(train_row: MakeRow, width: int | None, colour: bool) -> None:
    lines = [line for step in range(3) for line in printed(train_row(step), width, colour)]
    steps = steps_of(events_of(lines))
    assert [step.step for step in steps] == [0, 1, 2]
    assert [step.sampled_tokens for step in steps] == [160, 160, 160]
    assert steps[2].reward_mean == 0.52
    assert steps[2].duration_s == 20.2


def test_lines_with_the_time_before_them_are_read_with_it(train_row: MakeRow) -> None:
    lines = [
        f"2026-08-15T05:04:{n:02d}.000000001Z stdout F {line}" for n, line in enumerate(printed(train_row(4)))
    ]
    (step,) = steps_of(events_of(lines))
    assert step.step == 4
    assert step.ended_at == datetime(2026, 8, 15, 5, 4, len(lines) - 1, tzinfo=UTC).timestamp()


def test_a_cut_name_counts_where_only_one_begins_so(train_row: MakeRow) -> None:
    row = train_row(0) | {
        "test/env/all/ac_tokens_per_turn": 41.0,
        "test/env/all/by_group/frac_all_bad": 0.5,
        "test/env/all/by_group/frac_all_good": 0.25,
        "test/env/all/total_episodes": 8,
    }
    assert any("…" in line for line in printed(row))
    (told,) = [event for event in events_of(printed(row)) if isinstance(event, Eval)]
    assert (told.episodes, told.response_length_mean) == (8, 41)
    assert 0.25 not in told.scores.values(), "either of two names"


def test_a_rate_rounded_to_nothing_is_unknown(train_row: MakeRow) -> None:
    (step,) = steps_of(events_of(printed(train_row(0, **{"optim/lr": 1e-7}))))
    assert step.lr is None


def test_a_table_that_breaks_off_tells_what_it_had(train_row: MakeRow) -> None:
    (step,) = steps_of(events_of(printed(train_row(3))[:9]))
    assert step.step == 3
    assert 0 < len(step.raw) < len(train_row(3))


def test_tables_in_ascii_are_read_too() -> None:
    lines = [
        "     Step 7     ",
        "+--------+-------+",
        "| Metric | Value |",
        "|--------+-------|",
        "| env/all/reward/total | 0.500000 |",
        "| env/all/total_ac_tokens | 64 |",
        "+--------+-------+",
    ]
    (step,) = steps_of(events_of(lines))
    assert (step.step, step.reward_mean, step.sampled_tokens) == (7, 0.5, 64)


def test_a_step_printed_again_after_a_resume_is_another_attempt(train_row: MakeRow) -> None:
    rows = [train_row(0), train_row(1), train_row(2), train_row(1, **{"time/total": 33.0})]
    events = events_of([line for row in rows for line in printed(row)])
    assert [(e.from_step, e.attempt) for e in events if isinstance(e, Restart)] == [(1, 1)]


def test_log_lines_tell_the_plan_the_name_and_the_command(train_row: MakeRow) -> None:
    lines = [
        "root:791 [INFO] Command line invocation: train.py model_name=Org/Model-8B group_size=4 max_tokens=40"
        " groups_per_batch=8 lora_rank=16 log_path='/runs/first run'",
        "tinker_cookbook.utils.ml_log:729 [INFO] Logging to: /runs/first",
        "tinker_cookbook.rl.train:2620 [INFO] Will train on 12 batches",
        *printed({key: value for key, value in train_row(0).items() if key != "progress/done_frac"}),
        "tinker.lib:9 [ERROR] rate limit hit",
    ]
    events = events_of(lines)
    info = info_of(events)
    assert (info.name, info.model, info.total_steps) == ("first", "Org/Model-8B", 12)
    assert (info.max_tokens, info.groups, info.group_size, info.lora_rank) == (40, 8, 4, 16)
    assert [event.topic for event in events if isinstance(event, LogLine)] == ["capacity"]
    assert steps_of(events)[0].clip_ratio == 1, "the mean is the cap"


def test_the_last_step_of_the_plan_is_the_end(train_row: MakeRow) -> None:
    lines = [line for step in range(3) for line in printed(train_row(step, 3))]
    assert [event.status for event in events_of(lines) if isinstance(event, Ended)] == ["finished"]


def test_it_is_recognised_by_tables_and_loggers_and_a_run_s_own_log_is_left_to_its_folder(
    tmp_path: Path, train_row: MakeRow, shared_data: Path
) -> None:
    def score(*lines: str) -> float:
        (tmp_path / "run.log").write_text("\n".join(lines))
        return CONSOLE.score(probe(tmp_path / "run.log"))

    tables = [line for step in range(2) for line in printed(train_row(step), colour=True)]
    assert score("nohup: ignoring input", *tables) > 0.8
    assert score(*(line for line in tables if line != LOGGER)) > 0.3, "a paste of tables alone"
    others = [
        line for n in range(2) for line in printed({"step": n, "critic/score/mean": 0.5}) if line != LOGGER
    ]
    assert score(*others) == 0, "another trainer's tables"
    assert score("tinker_cookbook.utils.ml_log:729 [INFO] Logging to: /runs/first") == 0.5, "has just begun"
    assert score("| Metric | Value |", "| a | 1 |", "| Metric | Value |") == 0, "any table"
    assert CONSOLE.score(probe(shared_data / "tinker" / "format-061-async" / "logs.log")) == 0


@given(st.lists(st.text(alphabet="│┃|MetricValuStp 0123…[]:INFO_.\r", max_size=40), max_size=30))
@settings(max_examples=60)
def test_anything_is_borne(lines: list[str]) -> None:
    parser: Parser = ConsoleParser()
    for number, text in enumerate([" Step 1 ", "┃ Metric ┃ Value ┃", *lines], 1):
        list(parser.feed(Line(text, None, number)))
    list(parser.flush())
