"""What the run was promised: to end by a time, and at a price."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from rltop.models.money import Bill, Meter, TokenPrice
from rltop.models.projection import FinalCost, Projection
from rltop.models.run import RunInfo
from rltop.models.settings import Settings
from rltop.models.step import Step
from rltop.models.value import Quantiles
from rltop.monitor.money.book import Book
from rltop.monitor.pipeline import Pipeline

if TYPE_CHECKING:
    from tests.monitor.alerts.conftest import Told

DEADLINE_AT = 36_000.0
HOUR_S = 3600.0


def due(told_with: Callable[..., Told], hours: tuple[float, float, float] | None, steps: int = 4) -> Told:
    """A run that has been looked at after each step, with ten hours to go and so much to do."""
    settings = Settings(deadline=datetime.fromtimestamp(DEADLINE_AT, UTC))
    run = told_with(info=RunInfo(first_step=1, total_steps=100), settings=settings)
    if hours is not None:
        p10, p50, p90 = (hour * HOUR_S for hour in hours)
        run.projection = Projection(remaining_s=Quantiles(p10=p10, p50=p50, p90=p90))
    for _ in range(steps):
        run.step(duration_s=0.0)
        run.tick()
    return run


@pytest.mark.parametrize(
    ("hours", "severity", "words"),
    [
        ((7, 8, 9.5), None, ""),
        ((8, 9, 11), "info", "may end 1 h 0 m after the deadline, which is in 10 h 0 m"),
        ((9, 12, 14), "warning", "ends 2 h 0 m after the deadline"),
        ((11, 12, 14), "critical", "almost certainly ends 1 h 0 m after the deadline"),
    ],
)
def test_the_deadline_is_held_against_the_end_as_projected(
    told_with: Callable[..., Told], hours: tuple[float, float, float], severity: str | None, words: str
) -> None:
    alerts = due(told_with, hours).alerts("deadline")
    assert [alert.severity for alert in alerts] == ([severity] if severity else [])
    assert all(words in alert.message for alert in alerts)
    if severity == "warning":
        assert alerts[0].advice == "between 1 h 0 m early and 4 h 0 m late"


def test_looking_often_at_one_step_is_one_look(told_with: Callable[..., Told]) -> None:
    run = due(told_with, (11, 12, 14), steps=1)
    for _ in range(50):
        run.tick()
    assert run.alerts("deadline") == []
    for minute in range(4):
        run.tick(silent_s=61.0 * (minute + 1))
    assert len(run.alerts("deadline")) == 1


def test_a_deadline_that_has_passed_is_critical_at_once_and_over_when_the_run_is(
    told_with: Callable[..., Told],
) -> None:
    run = due(told_with, (1, 2, 3), steps=1)
    run.tick(silent_s=DEADLINE_AT + 600.0)
    (alert,) = run.alerts("deadline")
    assert (alert.severity, alert.message) == ("critical", "the deadline passed 10 m ago")
    for _ in range(5):
        run.tick(status="finished")
    assert run.alerts("deadline")[0].cleared_step is not None


def test_without_a_deadline_or_an_end_nothing_is_watched(told_with: Callable[..., Told]) -> None:
    run = told_with()
    run.tick()
    assert run.watch("deadline").why == "no deadline: --deadline TIME"
    assert due(told_with, None).watch("deadline").why == "waits for a projection"


OLD = TokenPrice(
    provider="tinker", model="m", prefill=1.0, sample=2.0, train=3.0, effective_from="2026-01-05", source="a"
)


def priced(told_with: Callable[..., Told], **new: float) -> Told:
    """A run half done, and a newer list with these rates."""
    run = told_with(info=RunInfo(first_step=1, total_steps=100))
    run.bill = Bill(
        basis="metered",
        spent_usd=50.0,
        meters=(Meter(name="sample", tokens=10e6), Meter(name="train", tokens=10e6)),
    )
    run.projection = Projection(final_usd=FinalCost(p10=90, p50=100, p90=110))
    run.rates = OLD
    run.steps("duration_s", [60.0] * 3, ended_at=1.0)
    assert run.alerts("price_change") == []
    run.rates_now = OLD.model_copy(update={**new, "effective_from": "2026-07-17"})
    run.steps("duration_s", [60.0] * 3, ended_at=2.0)
    return run


@pytest.mark.parametrize(
    ("new", "severity", "message", "advice"),
    [
        ({"sample": 3.0}, "warning", "changed on 2026-07-17: sample $2 → $3", "the rest costs +$10"),
        ({"sample": 1.0}, "info", "sample $2 → $1", "the rest costs -$10"),
        ({"sample": 2.1}, "info", "sample $2 → $2.1", "the rest costs +$1.00"),
    ],
)
def test_a_newer_price_list_is_told_with_what_it_makes_of_the_rest(
    told_with: Callable[..., Told], new: dict[str, float], severity: str, message: str, advice: str
) -> None:
    (alert,) = priced(told_with, **new).alerts("price_change")
    assert (alert.severity, alert.step) == (severity, 4)
    assert message in alert.message
    assert alert.advice.startswith(advice)
    assert "--prices 2026-07-17" in alert.advice


def test_a_newer_list_with_the_same_prices_is_no_news(told_with: Callable[..., Told]) -> None:
    assert priced(told_with).alerts("price_change") == []


@pytest.mark.parametrize(
    ("settings", "first_day", "told"),
    [
        (Settings(), "2026-07-16", True),
        (Settings(), "2026-07-18", False),
        (Settings(prices_date="2026-07-16"), "2026-07-16", False),
    ],
)
def test_a_price_that_changes_within_the_time_of_a_run_is_told(
    settings: Settings, first_day: str, told: bool
) -> None:
    pipeline = Pipeline(settings, Book.load())
    started_at = datetime.fromisoformat(f"{first_day}T12:00:00+00:00").timestamp()
    pipeline.feed(
        RunInfo(
            framework="tinker", platform="tinker", model="Qwen/Qwen3-8B", total_steps=60,
            first_step=0, started_at=started_at,
        ),
        started_at,
    )  # fmt: skip
    for step in range(48):
        at = started_at + HOUR_S * (step + 1)
        tokens = Step(step=step, sampled_tokens=1e6, prefill_tokens=1e5, trained_tokens=1.1e6)
        pipeline.feed(tokens.model_copy(update={"ended_at": at, "duration_s": HOUR_S}), at)
    alerts = [a for a in pipeline.frame(started_at + 48 * HOUR_S).alerts if a.rule == "price_change"]
    assert [alert.severity for alert in alerts] == (["warning"] if told else [])
    if told:
        assert alerts[0].step == 11
        assert "prefill $0.13 → $0.195" in alerts[0].message
        assert "the rest costs +$" in alerts[0].advice


def test_prices_of_ones_own_do_not_change(told_with: Callable[..., Told]) -> None:
    run = told_with()
    run.step(duration_s=1.0, ended_at=1.0)
    assert run.watch("price_change").why == "not billed by the price book of the run's day"


def unreliable(run: Told) -> tuple[str, str]:
    (alert,) = run.alerts("metric_unreliable")
    assert alert.severity == "info"
    return alert.message, alert.advice


def test_a_clip_ratio_counted_against_the_longest_of_the_batch_is_named_and_not_used(told: Told) -> None:
    for _ in range(3):
        told.step(clip_ratio=0.0, clip_reliable=True, raw={"response_length/clip_ratio": 0.002})
    message, advice = unreliable(told)
    assert message.startswith("response_length/clip_ratio is 0.2 %, counted against the longest response")
    assert advice == "0 % is used"


def test_a_clip_ratio_below_a_cap_that_another_limit_undercuts_is_named(told: Told) -> None:
    for _ in range(3):
        why = "max_model_len 1024 may cut responses before the cap of 2048"
        told.step(clip_ratio=0.0, clip_reliable=False, clip_why=why)
    assert "max_model_len 1024" in unreliable(told)[0]
    assert told.watch("clip_ratio").watched is False


@pytest.mark.parametrize(
    ("raw", "words"),
    [({"perf/mfu/actor": 0.0}, "is 0: the framework"), ({"perf/mfu/actor": 1.018}, "102 %, which cannot be")],
)
def test_an_mfu_that_cannot_be_is_named(told: Told, raw: dict[str, float], words: str) -> None:
    for _ in range(3):
        told.step(raw=raw)
    assert words in unreliable(told)[0]


def test_a_figure_found_wrong_later_than_the_first_is_told_with_its_own_step(told: Told) -> None:
    for n in range(6):
        why = "of the longest in the batch"
        told.step(
            clip_ratio=0.5, clip_reliable=False, clip_why=why, raw={"perf/mfu/actor": 0.4 if n < 4 else 0.0}
        )
    assert unreliable(told)[0] == (
        "clip ratio not to be trusted: of the longest in the batch;"
        " perf/mfu/actor is 0: the framework does not know this GPU (from step 5)"
    )
    assert told.alerts("metric_unreliable")[0].step == 3


def test_a_step_time_is_held_against_the_clock(told_with: Callable[..., Told]) -> None:
    run = told_with()
    for n in range(12):
        run.step(ended_at=1000.0 + 100 * n, duration_s=100.0, raw={"step_time": 95.0})
    assert run.alerts("metric_unreliable") == []
    run = told_with()
    for n in range(14):
        # A night of silence is a pause and says nothing of how steps are timed.
        run.step(ended_at=1000.0 + 100 * n + 30_000 * (n > 6), duration_s=100.0, raw={"step_time": 60.0})
    assert unreliable(run) == (
        "step_time leaves out 40 % of the wall time",
        "the bill goes by the wall clock",
    )


def test_where_there_is_no_clock_the_cost_is_called_a_lower_bound(told_with: Callable[..., Told]) -> None:
    run = told_with(info=RunInfo(framework="trl"))
    for _ in range(3):
        run.step(duration_s=60.0, raw={"step_time": 60.0})
    assert unreliable(run)[1] == "the cost is a lower bound"


def test_figures_that_can_be_are_not_named(told: Told) -> None:
    for n in range(20):
        told.step(
            ended_at=1000.0 + 60 * n, duration_s=60.0, clip_ratio=0.1, clip_reliable=True,
            raw={"timing_s/step": 58.0, "perf/mfu/actor": 0.4, "response_length/clip_ratio": 0.1},
        )  # fmt: skip
    assert told.alerts("metric_unreliable") == []
