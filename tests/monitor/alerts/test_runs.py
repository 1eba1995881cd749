"""Whole runs through the pipeline: when each alert comes, and that it comes."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from rltop.models.event import Event
from rltop.models.run import RunInfo
from rltop.models.settings import Settings
from rltop.models.step import Eval, Step
from rltop.monitor.money.book import Book
from rltop.monitor.pipeline import Pipeline
from rltop.monitor.target import open_target

DEMO = Path(__file__).resolve().parents[3] / "monitor" / "demo" / "data"
SEED = Settings(gpu_type="B200", usd_per_gpu_hour=4.978, budget_usd=150.0)


def told_by(target: Path) -> list[Event]:
    events: list[Event] = []
    for source in open_target(target):
        more = True
        while more:
            events += source.poll(1.0)
            more = source.more
        events += source.close()
    return events


def first_seen(events: Iterable[Event], settings: Settings) -> dict[tuple[str, str], int]:
    """The newest step when a watcher first saw a rule at a severity."""
    pipeline, seen = Pipeline(settings, Book.load()), dict[tuple[str, str], int]()
    for event in events:
        pipeline.feed(event, 1.0)
        last = pipeline.state.last_row
        for alert in pipeline.frame(1.0).alerts:
            seen.setdefault((alert.rule, alert.severity), last.step if last is not None else 0)
    return seen


def test_the_run_that_explodes_is_told_of_long_before_it_crashes() -> None:
    seen = first_seen(told_by(DEMO / "math-verl"), SEED)
    assert seen["mfu_drop", "warning"] <= 28
    assert seen["length_growth", "warning"] <= 28
    assert seen["budget", "warning"] <= 29
    assert seen["clip_ratio", "warning"] <= 32
    assert seen["clip_ratio", "critical"] <= 36
    # The run that came before any of these was calm.
    assert min(step for (_, severity), step in seen.items() if severity != "info") >= 20
    assert seen["crash", "critical"] == 35


@pytest.mark.parametrize("name", ["math-tinker", "gsm8k-tinker"])
def test_the_calm_demo_runs_are_not_warned_of(name: str) -> None:
    seen = first_seen(told_by(DEMO / name), Settings())
    assert {rule for rule, severity in seen if severity != "info"} == set()


def test_a_distillation_that_blows_up_is_told_before_it_reaches_3000_tokens(shared_data: Path) -> None:
    events = told_by(shared_data / "tinker" / "distill-length-blowup")
    lengths = {event.step: event.response_length_mean for event in events if isinstance(event, Step)}
    (raised, *_) = sorted(
        step for (rule, _), step in first_seen(events, Settings()).items() if rule == "length_growth"
    )
    assert all((length or 0) < 3000 for step, length in lengths.items() if step <= raised)


def test_facts_that_come_late_do_not_move_an_alert() -> None:
    events: list[Event] = []
    for step in range(1, 41):
        events.append(Step(step=step, duration_s=60.0, response_length_mean=500.0))
        if step % 10 == 0:
            score = 0.4 if step == 30 else 0.7
            events.append(Eval(step=step, episodes=500, scores={"accuracy": score}))
    late = RunInfo(platform="self-hosted", gpus=8, gpu_type="B200")

    def regression(run: list[Event]) -> list[tuple[int, int | None]]:
        pipeline = Pipeline(Settings(), Book.load())
        for event in run:
            pipeline.feed(event, 1.0)
        alerts = pipeline.frame(1.0).alerts
        return [(alert.step, alert.cleared_step) for alert in alerts if alert.rule == "eval_regression"]

    assert regression([late, *events]) == regression([*events, late]) != []


def test_the_evaluation_after_the_last_step_is_judged() -> None:
    pipeline = Pipeline(Settings(), Book.load())
    for step in range(1, 11):
        pipeline.feed(Step(step=step, duration_s=60.0), 1.0)
        if step == 5:
            pipeline.feed(Eval(step=step, episodes=500, scores={"accuracy": 0.7}), 1.0)
    pipeline.feed(Eval(step=10, episodes=500, scores={"accuracy": 0.4}), 1.0)
    assert [alert.rule for alert in pipeline.frame(1.0).alerts] == ["eval_regression"]
