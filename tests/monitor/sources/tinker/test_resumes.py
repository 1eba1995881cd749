"""Steps paid for twice are given twice, as two attempts; rows merely read again are not given again."""

import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path

from rltop.models.event import Ended, Event, Restart
from rltop.models.step import Eval, Step
from rltop.monitor.source import Line, Source
from rltop.monitor.sources.tinker import FORMAT
from rltop.monitor.sources.tinker.facts import RunFacts
from rltop.monitor.sources.tinker.metrics import MetricsParser

Row = dict[str, object]
MakeRow = Callable[..., Row]
Feed = Callable[[MetricsParser, Iterable[Row]], list[Event]]
ReadRun = Callable[[Path], list[Event]]


def paid(events: Iterable[Event]) -> list[tuple[int, int]]:
    """(step, attempt) of each step given."""
    return [(event.step, event.attempt) for event in events if isinstance(event, Step)]


def restarts(events: Iterable[Event]) -> list[tuple[int, int]]:
    return [(event.from_step, event.attempt) for event in events if isinstance(event, Restart)]


def write(path: Path, rows: Iterable[Row]) -> None:
    """Replace a file the way the cookbook does: written beside it, then moved over it."""
    beside = path.with_name(path.name + ".tmp")
    beside.write_text("".join(json.dumps(row) + "\n" for row in rows))
    os.replace(beside, path)


def drain(source: Source, now: float) -> list[Event]:
    events = source.poll(now)
    while source.more:
        events += source.poll(now)
    return events


def test_a_row_of_a_step_done_before_is_that_step_again(train_row: MakeRow, feed: Feed) -> None:
    first = [train_row(step) for step in range(4)]
    again = [train_row(step, **{"time/total": 30.0}) for step in (2, 3, 4)]
    events = feed(MetricsParser(), first + again)
    assert paid(events) == [(0, 0), (1, 0), (2, 0), (3, 0), (2, 1), (3, 1), (4, 1)]
    assert restarts(events) == [(2, 1)]


def test_the_newest_step_done_again_is_a_restart_too(train_row: MakeRow, feed: Feed) -> None:
    events = feed(MetricsParser(), [train_row(0), train_row(0, **{"time/total": 9.0})])
    assert paid(events) == [(0, 0), (0, 1)]
    assert restarts(events) == [(0, 1)]


def test_a_second_part_of_a_step_is_no_restart(train_row: MakeRow, feed: Feed) -> None:
    events = feed(MetricsParser(), [train_row(0), {"step": 0, "grad_norm": 0.5}])
    assert restarts(events) == []
    part = events[-1]
    assert isinstance(part, Step)
    assert (part.step, part.attempt, part.grad_norm, part.raw) == (0, 0, 0.5, {"grad_norm": 0.5})
    assert "clip_reliable" not in part.model_dump(exclude_none=True)


def test_rows_that_a_resume_cut_off_are_an_earlier_attempt(
    tmp_path: Path, billed_row: MakeRow, read_run: ReadRun
) -> None:
    first = [billed_row(step) for step in range(6)]
    second = [billed_row(step, **{"time/total": 33.0}) for step in range(4, 7)]
    third = [billed_row(step, **{"time/total": 44.0}) for step in range(6, 8)]
    write(tmp_path / "metrics.jsonl.pre_resume_000004", first)
    write(tmp_path / "metrics.jsonl.pre_resume_000006", first[:4] + second)
    write(tmp_path / "metrics.jsonl", first[:4] + second[:2] + third)
    events = read_run(tmp_path)
    assert paid(events) == [
        *[(step, 0) for step in range(6)],
        *[(step, 1) for step in (4, 5, 6)],
        *[(step, 2) for step in (6, 7)],
    ]
    assert restarts(events) == [(4, 1), (6, 2)]
    usd = sum(event.logged_usd or 0.0 for event in events if isinstance(event, Step))
    assert usd == 0.5 * 11


def test_a_resume_is_followed_live(tmp_path: Path, billed_row: MakeRow) -> None:
    path = tmp_path / "metrics.jsonl"
    rows = [billed_row(step) for step in range(5)]
    write(path, rows)
    (source,) = FORMAT.open(tmp_path)
    assert paid(drain(source, 1.0)) == [(step, 0) for step in range(5)]

    late = billed_row(5)  # logged after our last look, and cut off before the next
    write(tmp_path / "metrics.jsonl.pre_resume_000003", [*rows, late])
    write(path, rows[:3])
    events = drain(source, 2.0)
    assert paid(events) == [(5, 0)]
    assert restarts(events) == [(3, 1)]

    write(path, [*rows[:3], billed_row(3, **{"time/total": 50.0})])
    events = drain(source, 3.0)
    assert paid(events) == [(3, 1)]
    assert restarts(events) == []
    source.close()


def test_a_cut_without_a_kept_copy_is_told_by_the_first_new_row(tmp_path: Path, billed_row: MakeRow) -> None:
    path = tmp_path / "metrics.jsonl"
    rows = [billed_row(step) for step in range(5)]
    write(path, rows)
    (source,) = FORMAT.open(path)
    drain(source, 1.0)
    write(path, [*rows[:2], billed_row(2, **{"time/total": 50.0})])
    events = drain(source, 2.0)
    assert restarts(events) == [(2, 1)]
    assert paid(events) == [(2, 1)]
    source.close()


def test_a_file_copied_over_itself_gives_only_what_is_new(tmp_path: Path, billed_row: MakeRow) -> None:
    path = tmp_path / "metrics.jsonl"
    rows = [billed_row(step) for step in range(4)]
    write(path, rows)
    (source,) = FORMAT.open(path)
    drain(source, 1.0)
    write(path, [*rows, billed_row(4)])
    events = drain(source, 2.0)
    assert restarts(events) == []
    assert paid(events) == [(4, 0)]
    source.close()


def test_a_resume_takes_the_end_back(train_row: MakeRow, feed: Feed) -> None:
    facts = RunFacts()
    parser = MetricsParser(facts)
    events = feed(parser, [train_row(step, 3) for step in range(3)])
    assert isinstance(events[-1], Ended)
    assert facts.over
    feed(parser, [train_row(3, 6)])
    assert not facts.over
    assert facts.total_steps == 6


def test_the_last_evaluation_and_the_totals_of_06_are_no_repetition(billed_row: MakeRow, feed: Feed) -> None:
    rows = [billed_row(0, 2), billed_row(1, 2)]
    final: list[Row] = [
        {"step": 2, "test/env/all/reward/total": 0.9, "test/env/all/total_ac_tokens": 50},
        {"step": 2, "tokens/cumulative/sampled": 322, "cost/cumulative_usd": 1.0},
    ]
    events = feed(MetricsParser(), rows + final)
    assert restarts(events) == []
    assert [type(event).__name__ for event in events[-3:]] == ["Eval", "Totals", "Ended"]
    assert sum(isinstance(event, Ended) for event in events) == 1


def test_discarded_work_belongs_to_the_step_that_follows_it(billed_row: MakeRow, feed: Feed) -> None:
    def levels(sampled: int, **more: object) -> Row:
        return {"tokens/discarded/sampled": sampled, "tokens/discarded/prefill_uncached": 2 * sampled, **more}

    rows = [levels(10), levels(30), billed_row(0, 2), levels(30), billed_row(1, 2), levels(45, step=2)]
    events = feed(MetricsParser(), rows)
    steps = [event for event in events if isinstance(event, Step)]
    assert [step.discarded_sampled_tokens for step in steps] == [30, None, 15]
    assert steps[0].discarded_prefill_tokens == 60
    assert (steps[2].step, steps[2].raw) == (1, {})


def test_counters_set_back_by_a_resume_charge_nothing_twice(billed_row: MakeRow, feed: Feed) -> None:
    def level(sampled: int) -> Row:
        return {"tokens/discarded/sampled": sampled}

    parser = MetricsParser()
    rows = [
        level(10),
        billed_row(0) | level(10),
        billed_row(1) | level(40),
        billed_row(1, **{"time/total": 9.0}) | level(15),
    ]
    steps = [event for event in feed(parser, rows) if isinstance(event, Step)]
    assert [step.discarded_sampled_tokens for step in steps] == [10, 30, 5]


def test_a_mark_of_arrival_is_kept(train_row: MakeRow) -> None:
    events = list(MetricsParser().feed(Line(json.dumps(train_row(0)), 1.7e9, 1)))
    assert [event.ended_at for event in events if isinstance(event, Step | Eval)] == [1.7e9]
