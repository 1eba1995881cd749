"""The path above the sources: what a frame says of time and money."""

import pytest

from rltop.models.event import Ended, Progress, Restart, SourceStatus
from rltop.models.run import RunInfo
from rltop.models.settings import Settings
from rltop.models.step import Eval, Step
from rltop.monitor.frame import Frame
from rltop.monitor.money.book import Book
from rltop.monitor.pipeline import Pipeline

HOSTED = RunInfo(platform="self-hosted", gpus=8, gpu_type="B200", total_steps=100, first_step=1)
RATES = {"prefill": 1.0, "sample": 1.0, "train": 1.0}
PER_SECOND = 8 * 5.0 / 3600


def watch(*steps: Step, seen_at: float, now: float, info: RunInfo = HOSTED) -> Frame:
    pipeline = Pipeline(Settings(usd_per_gpu_hour=5.0), Book.load())
    pipeline.feed(info, seen_at)
    for step in steps:
        pipeline.feed(step, seen_at)
    return pipeline.frame(now)


def test_a_run_that_goes_on_costs_money_between_its_steps() -> None:
    steps = [Step(step=n, duration_s=100.0, ended_at=1000.0 + 100 * n) for n in range(1, 6)]
    frame = watch(*steps, seen_at=1500.0, now=1550.0)
    assert frame.status == "running"
    assert frame.bill.spent_usd == pytest.approx(550 * PER_SECOND)


def test_a_log_that_has_been_silent_for_a_year_costs_what_its_steps_cost() -> None:
    steps = [Step(step=n, duration_s=100.0, ended_at=1000.0 + 100 * n) for n in range(1, 6)]
    frame = watch(*steps, seen_at=4e7, now=4e7)
    assert frame.status == "stalled"
    assert frame.elapsed_s == 500
    assert frame.bill.spent_usd == pytest.approx(500 * PER_SECOND)


def test_a_run_that_stalls_while_it_is_watched_goes_on_costing() -> None:
    steps = [Step(step=n, duration_s=100.0, ended_at=1000.0 + 100 * n) for n in range(1, 6)]
    frame = watch(*steps, seen_at=1500.0, now=3500.0)
    assert frame.status == "stalled"
    assert frame.bill.spent_usd == pytest.approx(2500 * PER_SECOND)


def test_facts_that_come_late_reprice_what_went_before() -> None:
    pipeline = Pipeline(Settings(usd_per_gpu_hour=5.0), Book.load())
    for n in range(3):
        pipeline.feed(Step(step=n, duration_s=3600.0), 0.0)
    assert pipeline.frame(0.0).bill.spent_usd is None
    pipeline.feed(RunInfo(platform="self-hosted", gpus=2), 0.0)
    frame = pipeline.frame(0.0)
    assert frame.bill.spent_usd == pytest.approx(30.0)
    assert list(frame.spent_usd) == pytest.approx([10.0, 20.0, 30.0])


def test_the_users_word_beats_the_log() -> None:
    pipeline = Pipeline(Settings(usd_per_gpu_hour=1.0, gpus=4, total_steps=7), Book.load())
    pipeline.feed(HOSTED, 0.0)
    frame = pipeline.frame(0.0)
    assert (frame.info.gpus, frame.info.total_steps) == (4, 7)


def test_a_run_is_priced_with_the_list_of_its_day() -> None:
    tinker = RunInfo(platform="tinker", model="Qwen/Qwen3-8B")
    january, now = 1_768_000_000.0, 1_796_000_000.0
    dates = []
    for at in (january, now):
        pipeline = Pipeline(Settings(), Book.load())
        pipeline.feed(tinker, now)
        pipeline.feed(Step(step=0, sampled_tokens=1e6), now)
        pipeline.feed(SourceStatus(source="tinker-metrics", path="x", modified_at=at), now)
        book = pipeline.frame(now).bill.price_book
        dates.append(book.date if book else None)
    assert dates[0] == "2026-01-05"
    assert dates[1] is not None
    assert dates[1] > "2026-07-01"


def test_a_step_paid_twice_is_one_step_of_progress() -> None:
    frame = watch(
        Step(step=1, duration_s=10.0),
        Step(step=2, duration_s=10.0),
        Step(step=2, attempt=1, duration_s=10.0),
        seen_at=0.0,
        now=0.0,
    )
    assert frame.bill.spent_usd == pytest.approx(30 * PER_SECOND)


def test_a_log_that_is_still_being_caught_up_with_is_not_called_stalled() -> None:
    pipeline = Pipeline(Settings(), Book.load())
    for n in range(1, 6):
        pipeline.feed(Step(step=n, duration_s=10.0, ended_at=1000.0 + 10 * n), 9e6)
    assert pipeline.frame(9e6, behind=True).alerts == ()
    assert [alert.rule for alert in pipeline.frame(9e6).alerts] == ["stall"]


def test_an_evaluation_after_the_last_step_is_paid_for() -> None:
    pipeline = Pipeline(Settings.model_validate({"token_rates": RATES}), Book.load())
    pipeline.feed(RunInfo(platform="tinker", model="m"), 0.0)
    pipeline.feed(Step(step=0, sampled_tokens=1e6), 0.0)
    pipeline.feed(Eval(step=0, sampled_tokens=2e6), 0.0)
    assert pipeline.frame(0.0).bill.spent_usd == pytest.approx(3.0)


def test_a_crash_that_was_shown_stays_in_the_list_when_the_run_is_resumed() -> None:
    pipeline = Pipeline(Settings(), Book.load())
    for n in range(1, 6):
        pipeline.feed(Step(step=n, duration_s=10.0), 0.0)
    pipeline.feed(Ended(status="crashed", message="out of luck"), 0.0)
    assert [alert.rule for alert in pipeline.frame(0.0).alerts] == ["crash"]
    pipeline.feed(Restart(from_step=4, attempt=1), 0.0)
    for n in range(4, 20):
        pipeline.feed(Step(step=n, attempt=1, duration_s=10.0), 0.0)
        pipeline.frame(0.0)
    (alert,) = pipeline.frame(0.0).alerts
    assert (alert.rule, alert.cleared_step is not None) == ("crash", True)


def test_a_run_that_is_over_before_its_last_step_ends_at_what_it_has_cost() -> None:
    pipeline = Pipeline(Settings(usd_per_gpu_hour=5.0), Book.load())
    pipeline.feed(HOSTED, 0.0)
    for n in range(1, 9):
        pipeline.feed(Step(step=n, duration_s=100.0), 0.0)
    pipeline.feed(Ended(status="finished"), 0.0)
    frame = pipeline.frame(0.0)
    assert frame.projection.final_usd is not None
    assert frame.projection.final_usd.p90 == frame.bill.spent_usd
    assert frame.projection.fan == ()


def test_steps_before_a_log_begins_are_not_called_idle() -> None:
    pipeline = Pipeline(Settings(usd_per_gpu_hour=5.0), Book.load())
    pipeline.feed(HOSTED, 0.0)
    phases = {"generate": 50.0, "update": 40.0}
    pipeline.feed(Step.model_validate({"step": 60, "duration_s": 100.0, "phases": phases}), 0.0)
    pipeline.feed(Progress(step=60, elapsed_s=6000.0), 0.0)
    bill = pipeline.frame(0.0).bill
    shares = {phase.name: round(phase.seconds) for phase in bill.phases}
    assert shares == {"generate": 50, "update": 40, "idle": 10, "not in this log": 5900}
    assert not any("outside generate and update" in note for note in bill.notes)


def test_many_restarts_between_two_looks_give_the_frame_that_looks_between_them_give() -> None:
    def run(look: bool) -> Frame:
        pipeline = Pipeline(Settings(usd_per_gpu_hour=5.0), Book.load())
        pipeline.feed(HOSTED, 0.0)
        for attempt in range(6):
            if attempt:
                pipeline.feed(Restart(from_step=10 * attempt, attempt=attempt), 0.0)
            for n in range(10 * attempt, 10 * attempt + 20):
                pipeline.feed(
                    Step(step=n, attempt=attempt, duration_s=100.0, ended_at=100.0 * n, kl=n / 100), 0.0
                )
                if look and n % 7 == 0:
                    pipeline.frame(5000.0, behind=True)
        pipeline.close(5000.0)
        return pipeline.frame(5000.0)

    once, often = run(look=False), run(look=True)
    assert list(once.spent_usd) == list(often.spent_usd)
    assert (once.bill, once.projection, once.health) == (often.bill, often.projection, often.health)
    assert [alert.model_dump() for alert in once.alerts] == [alert.model_dump() for alert in often.alerts]


def test_ten_thousand_restarts_of_a_long_run_are_folded_in_one_go() -> None:
    pipeline = Pipeline(Settings(usd_per_gpu_hour=5.0), Book.load())
    pipeline.feed(HOSTED, 0.0)
    for n in range(300):
        pipeline.feed(Step(step=n, duration_s=100.0), 0.0)
    for attempt in range(1, 10_000):  # each would derive 300 rows anew: minutes
        pipeline.feed(Restart(from_step=299, attempt=attempt), 0.0)
    assert len(pipeline.frame(0.0).spent_usd) == 300
