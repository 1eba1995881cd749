"""The alert list as a whole: nothing lost, nothing doubled, and what is not known is not judged."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st

from rltop.models.event import Ended, LogLine, Restart
from rltop.models.run import RunInfo
from rltop.models.settings import Settings
from rltop.monitor.alerts import RULES

if TYPE_CHECKING:
    from tests.monitor.alerts.conftest import Told

MAYBE = st.none() | st.floats(0, 1) | st.just(float("nan"))
STEPS = st.fixed_dictionaries(
    {},
    optional={
        "response_length_mean": st.none() | st.floats(0, 5000),
        "clip_ratio": MAYBE,
        "clip_reliable": st.none() | st.booleans(),
        "mfu_whole_step": MAYBE,
        "reward_mean": MAYBE,
        "entropy": MAYBE,
        "kl": MAYBE | st.floats(0, 1e6),
        "grad_norm": MAYBE | st.just(float("inf")),
        "zero_variance_groups": MAYBE,
        "duration_s": st.none() | st.floats(0, 1e5),
        "usd": st.none() | st.floats(0, 100),
    },
)
LINES = st.builds(LogLine, text=st.just("a line"), topic=st.sampled_from(["", "oom", "billing", "capacity"]))
ENDS = st.builds(Ended, status=st.sampled_from(["finished", "crashed"]))
TICKS = st.tuples(st.sampled_from(["running", "stalled", "finished"]), st.none() | st.floats(0, 1e6))

SEVERITIES = {rule.name: rule.severities for rule in RULES}


def calm(random: Random, growth: float = 1.0) -> dict[str, Any]:
    """A step of a run in good health, or one of a length that has grown."""
    return {
        "duration_s": 60 + random.uniform(-2, 2),
        "response_length_mean": 500 * growth * random.uniform(0.98, 1.02),
        "clip_ratio": 0.01,
        "clip_reliable": True,
        "mfu_whole_step": 0.3 * random.uniform(0.97, 1.03),
        "entropy": 0.5 * random.uniform(0.95, 1.05),
        "kl": 0.01 * random.uniform(0.9, 1.1),
        "grad_norm": random.uniform(0.9, 1.1),
    }


@settings(max_examples=50, deadline=None)
@given(events=st.lists(STEPS | LINES | ENDS | TICKS, max_size=60))
def test_no_order_of_events_puts_a_rule_up_twice(
    told_with: Callable[..., Told], events: list[dict[str, Any] | LogLine | Ended | tuple[Any, Any]]
) -> None:
    run = told_with(info=RunInfo(first_step=1, total_steps=40), settings=Settings(budget_usd=50.0))
    for event in events:
        before = run.engine.alerts
        match event:
            case dict():
                run.step(**event)
            case tuple():
                run.tick(*event)
            case _:
                run.tell(event)
        after = run.engine.alerts
        up = [alert.rule for alert in after if alert.cleared_step is None]
        assert len(up) == len(set(up))
        assert all(alert.severity in SEVERITIES[alert.rule] for alert in after)
        # The list only grows, and what has been cleared stays as it is.
        assert [(a.rule, a.step) for a in after[: len(before)]] == [(a.rule, a.step) for a in before]
        for old, new in zip(before, after, strict=False):
            assert old.cleared_step is None or new == old


def test_nan_after_ten_thousand_quiet_steps_and_a_hundred_alerts_is_shown(
    told_with: Callable[..., Told],
) -> None:
    told, random = told_with(settings=Settings(alerts={"oom": {"clear_after": 1}})), Random(1)
    for _ in range(20):
        told.step(**calm(random))
    for _ in range(100):
        told.step(**calm(random))
        told.tell(LogLine(text="CUDA out of memory", topic="oom"))
        for _ in range(35):
            told.step(**calm(random))
    earlier = len(told.engine.alerts)
    assert earlier >= 100
    for _ in range(10_000):
        told.step(**calm(random))
    assert len(told.engine.alerts) == earlier
    told.step(**calm(random), loss=float("nan"))
    newest = told.engine.alerts[-1]
    assert (newest.rule, newest.severity, newest.cleared_step) == ("nan", "critical", None)
    assert newest.step == told.state.history.steps[-1]


def test_a_run_of_which_nothing_is_told_raises_nothing_and_is_not_watched(told: Told) -> None:
    for _ in range(60):
        told.step()
        told.tick()
    assert told.engine.alerts == ()
    unwatched = {watch.rule for watch in told.engine.watched if not watch.watched and watch.why}
    assert unwatched >= {"nan", "budget", "clip_ratio", "length_growth", "mfu_drop", "mfu_low", "kl_spike"}


def test_a_calm_run_raises_nothing(told_with: Callable[..., Told]) -> None:
    run = told_with(info=RunInfo(first_step=1, total_steps=400))
    random = Random(2)
    for _ in range(400):
        run.step(**calm(random))
        run.tick(silent_s=30.0)
    assert run.engine.alerts == ()


def test_every_rule_is_listed_with_what_it_lacks(told: Told) -> None:
    told.step()
    told.tick()
    assert [watch.rule for watch in told.engine.watched] == [rule.name for rule in RULES]
    assert all(watch.watched or watch.why for watch in told.engine.watched)


def test_a_rule_whose_input_stops_coming_is_no_longer_watched(told: Told) -> None:
    told.steps("kl", [0.01] * 20)
    assert told.watch("kl_spike").watched
    for _ in range(30):
        told.step(duration_s=1.0)
    assert not told.watch("kl_spike").watched


def test_an_alert_keeps_its_place_step_and_time_when_it_escalates(told: Told) -> None:
    for share in [0.0] * 10 + [0.25] * 6:
        told.step(clip_ratio=share, clip_reliable=True, duration_s=10.0)
    (warning,) = told.alerts("clip_ratio")
    for _ in range(8):
        told.step(clip_ratio=0.6, clip_reliable=True, duration_s=10.0)
    (critical,) = told.alerts("clip_ratio")
    assert (warning.severity, critical.severity) == ("warning", "critical")
    assert (warning.step, warning.raised_at) == (critical.step, critical.raised_at)


def test_a_rule_that_is_switched_off_raises_nothing_and_says_so(told_with: Callable[..., Told]) -> None:
    run = told_with(settings=Settings(alerts={"nan": {"enabled": False}}))
    run.step(loss=float("nan"))
    assert run.engine.alerts == ()
    assert run.watch("nan").why == "switched off"


def test_the_users_severity_is_what_an_alert_has(told_with: Callable[..., Told]) -> None:
    run = told_with(settings=Settings(alerts={"nan": {"severity": "info"}}))
    run.step(loss=float("nan"))
    assert [alert.severity for alert in run.engine.alerts] == ["info"]


def test_the_same_events_give_the_same_alerts(told_with: Callable[..., Told]) -> None:
    def play() -> object:
        run, random = told_with(), Random(3)
        for n in range(120):
            run.step(**calm(random, 1.02**n))
            run.tick()
        return run.engine.alerts

    assert play() == play() != ()


def test_a_crash_that_was_shown_is_cleared_by_a_resume_and_does_not_vanish(told: Told) -> None:
    told.steps("loss", [0.1] * 40)
    told.tell(LogLine(text="CUDA out of memory", topic="oom"))
    told.tick()
    told.tell(Ended(status="crashed", message="killed"))
    told.tick(status="crashed")
    told.tell(Restart(from_step=31, attempt=1))
    told.anew()
    told.tick()
    assert [(a.rule, a.step, a.cleared_step) for a in told.engine.alerts] == [
        ("oom", 40, None),
        ("crash", 40, 30),
    ]
    told.steps("loss", [0.1] * 5)
    told.anew()
    assert [(a.rule, a.step, a.cleared_step) for a in told.engine.alerts] == [
        ("oom", 40, 45),
        ("crash", 40, 30),
    ]


def test_going_through_all_steps_anew_finds_the_same_alerts(told: Told) -> None:
    random = Random(6)
    for n in range(60):
        loss = float("nan") if n == 30 else 0.1
        told.step(**calm(random, max(1.0, 1.05 ** (n - 20))), loss=loss, ended_at=1000.0 + 60 * n)
        if n == 25:
            told.tell(LogLine(text="CUDA out of memory", topic="oom"))
        told.tick()
    before = told.engine.alerts
    assert {"length_growth", "nan", "oom"} <= {alert.rule for alert in before}
    told.anew()
    told.tick()
    assert sorted(told.engine.alerts, key=lambda a: (a.step, a.rule)) == sorted(
        before, key=lambda a: (a.step, a.rule)
    )
