"""A provider's usage beside our bill, on numbers small enough to check by hand."""

import sys
from dataclasses import replace
from types import ModuleType

import pytest

from rltop.models.report import ReconcileLine
from rltop.models.run import RunInfo
from rltop.models.settings import Settings
from rltop.models.step import Eval, Step
from rltop.monitor.money.book import Book
from rltop.monitor.money.question import Run
from rltop.monitor.money.reconcile import (
    Comparison,
    UsageMeter,
    UsageRow,
    begin_of,
    compare,
    days_of,
    lags,
    stamp,
)
from rltop.monitor.money.reconcile_usage import UsageError, fetch_usage
from rltop.monitor.pipeline import Pipeline

NOON = begin_of("2026-01-06") + 12 * 3600
LATER = NOON + 2 * 86_400
INFO = RunInfo(
    framework="tinker",
    platform="tinker",
    algorithm="rl",
    model="Qwen/Qwen3-4B-Instruct-2507",
    session_id="mine",
)
STEP = Step(step=0, sampled_tokens=10e6, prefill_tokens=20e6, trained_tokens=30e6, ended_at=NOON)
EVAL = Eval(step=0, sampled_tokens=1e6, prefill_tokens=2e6)


def run_of(*steps: Step, info: RunInfo = INFO, evals: tuple[Eval, ...] = (EVAL,)) -> Run:
    pipeline = Pipeline(Settings(), Book.load())
    for event in (info, *evals, *(steps or (STEP,))):
        pipeline.feed(event, NOON)
    pipeline.close(NOON)
    return replace(pipeline.run_of(pipeline.frame(NOON)), status="finished")


def row(meter: UsageMeter, quantity: float, usd: float | None, session: str | None = "mine") -> UsageRow:
    return UsageRow(NOON, NOON + 3600, meter, quantity, usd, session)


SAMPLED, PROMPTS, TRAINED = row("sample", 11e6, 2.42), row("prefill", 22e6, 1.54), row("train", 30e6, 6.6)
"""Just what the run's own counts come to at 0.22, 0.07 and 0.22 dollars per million."""


def compared(run: Run, *usage: UsageRow, now: float = LATER) -> Comparison:
    found = compare(run, usage, ["mine"], now)
    assert found is not None
    return found


def line(found: Comparison, meter: str) -> ReconcileLine:
    return next(one for one in found.lines if one.meter == meter)


def test_evaluations_are_held_against_the_meters_that_they_are_billed_on() -> None:
    found = compared(run_of(), SAMPLED, PROMPTS, TRAINED)
    assert [(one.meter, one.why) for one in found.lines] == [
        ("sample", "agrees"),
        ("prefill", "agrees"),
        ("train", "agrees"),
    ]
    assert found.difference_usd == pytest.approx(0)
    assert found.theirs_usd == pytest.approx(10.56)


def test_usage_of_other_sessions_is_not_ours() -> None:
    found = compared(run_of(), SAMPLED, PROMPTS, TRAINED, row("train", 9e6, 2, "another"))
    assert line(found, "train").theirs == 30e6


def test_no_usage_of_ours_is_no_comparison() -> None:
    assert compare(run_of(), [row("train", 9e6, 2, "another")], ["mine"], LATER) is None


def test_storage_is_theirs_alone_and_says_so() -> None:
    found = compared(run_of(), SAMPLED, PROMPTS, TRAINED, row("storage", 72, 0.01))
    stored = line(found, "storage")
    assert (stored.unit, stored.ours, stored.why) == ("GB-hours", None, "not on our bill")
    assert found.difference_usd == pytest.approx(0.01)


def test_storage_of_the_whole_organisation_is_named_beside_the_table() -> None:
    found = compared(run_of(), SAMPLED, row("storage", 7200, 1.0, None))
    assert not any(one.meter == "storage" for one in found.lines)
    assert any("whole organisation" in note and "$1.00" in note for note in found.notes)


def test_a_few_tokens_are_rounding() -> None:
    assert line(compared(run_of(), row("sample", 11e6 - 400, 2.42)), "sample").why == "rounding"


def test_another_rate_is_told_as_such() -> None:
    why = line(compared(run_of(), row("train", 30e6, 3.3)), "train").why
    assert why == "their rate is $0.11 per million, ours $0.22"


def test_work_in_flight_explains_more_tokens_there_where_the_run_broke_off() -> None:
    more = row("sample", 12e6, 2.64)
    crashed = replace(run_of(), status="crashed")
    assert line(compared(crashed, more), "sample").why == "rollouts in flight, failed requests"


def test_work_that_the_bill_says_it_leaves_out_explains_more_tokens_there() -> None:
    assert (
        line(compared(run_of(), row("sample", 12e6, 2.64)), "sample").why
        == "work that the log does not count"
    )


def test_what_nothing_explains_is_called_that() -> None:
    assert line(compared(run_of(), row("train", 40e6, 8.8)), "train").why == "unexplained: more there"
    assert line(compared(run_of(), row("train", 20e6, 4.4)), "train").why.startswith("unexplained: fewer")


def test_cache_hits_that_the_log_does_not_count_explain_both_prefill_lines() -> None:
    found = compared(run_of(), row("prefill", 4e6, 0.28), row("prefill_cached", 18e6, 0.25))
    assert line(found, "prefill").why == "the rest were cache hits"
    assert line(found, "prefill_cached").why == "cache hits, which the log does not count"


def test_an_upper_bound_on_trained_tokens_explains_fewer_there() -> None:
    run = run_of(STEP.model_copy(update={"trained_upper_bound": True}))
    assert line(compared(run, row("train", 20e6, 4.4)), "train").why.startswith("ours is an upper bound")


def test_usage_that_ends_before_the_run_did_lags_only_for_some_hours() -> None:
    run = run_of(STEP.model_copy(update={"ended_at": NOON + 2 * 3600}))
    part = row("train", 20e6, 4.4)
    soon = compared(run, part, now=NOON + 3 * 3600)
    assert line(soon, "train").why == "the last hours are not in yet"
    assert any("2026-01-06T13:00Z" in note for note in soon.notes)
    assert not any("is in until" in note for note in compared(run, part).notes)
    assert lags(run, NOON + 3 * 3600)
    assert not lags(run, LATER)


def test_tokens_without_a_price_are_not_taken_for_free() -> None:
    found = compared(run_of(), row("sample", 11e6, None), TRAINED)
    sampled = line(found, "sample")
    assert (sampled.theirs_usd, sampled.difference_usd, sampled.why) == (None, None, "not priced there yet")
    assert any(note.startswith("11.0M tokens have no price there yet") for note in found.notes)
    assert (found.theirs_usd, found.difference_usd) == (pytest.approx(6.6), None)


def test_a_meter_that_is_priced_in_part_has_no_sum() -> None:
    second = replace(SAMPLED, start=NOON + 3600, end=NOON + 7200, quantity=1e6, usd=None)
    assert line(compared(run_of(), replace(SAMPLED, quantity=10e6), second), "sample").theirs_usd is None


def test_usage_is_told_by_the_hour() -> None:
    second = replace(TRAINED, start=NOON + 3600, end=NOON + 7200)
    hours = compared(run_of(), SAMPLED, PROMPTS, second).hours
    assert [(hour.start, hour.tokens) for hour in hours] == [
        ("2026-01-06T12:00Z", 33e6),
        ("2026-01-06T13:00Z", 30e6),
    ]


def test_a_run_is_looked_for_in_whole_days_around_it() -> None:
    start, end = days_of(run_of(), 86_400 * 1.2, LATER)
    assert (stamp(start), stamp(end)) == ("2026-01-05T00:00Z", "2026-01-07T00:00Z")


def test_without_the_sdk_one_line_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tinker", None)  # as if it were not there to import
    with pytest.raises(UsageError, match=r"pip install 'rltop\[tinker\]'"):
        fetch_usage(NOON, LATER, 1)


def test_an_sdk_from_before_the_bills_asks_for_a_newer_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tinker", ModuleType("tinker"))
    with pytest.raises(UsageError, match="upgrade"):
        fetch_usage(NOON, LATER, 1)
