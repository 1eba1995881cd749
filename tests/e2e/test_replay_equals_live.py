"""Recording and folding again gives the same run: replay is no second path."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rltop.models.event import Ended, Event, Progress, Restart
from rltop.models.report import CheckReport
from rltop.models.run import RunInfo
from rltop.models.settings import Settings
from rltop.models.step import Eval, Step
from rltop.monitor.check import report
from rltop.monitor.clock import FakeClock
from rltop.monitor.money.book import Book
from rltop.monitor.pipeline import Pipeline
from rltop.monitor.recorder import Recorder
from rltop.monitor.session import Session
from rltop.monitor.target import open_target

Look = Callable[..., CheckReport]

amounts = st.one_of(st.none(), st.floats(0, 1e7, allow_nan=False))
steps = st.builds(
    Step,
    step=st.integers(0, 30),
    attempt=st.integers(0, 2),
    complete=st.booleans(),
    duration_s=st.one_of(st.none(), st.floats(0.1, 1e4)),
    ended_at=st.one_of(st.none(), st.floats(1.7e9, 1.8e9)),
    sampled_tokens=amounts,
    prefill_tokens=amounts,
    trained_tokens=amounts,
    response_length_mean=st.one_of(st.none(), st.floats(1, 1e5)),
    clip_ratio=st.one_of(st.none(), st.floats(0, 1)),
    clip_reliable=st.one_of(st.none(), st.booleans()),
    reward_mean=st.one_of(st.none(), st.floats(-10, 10)),
    raw=st.dictionaries(st.sampled_from(("loss", "grad_norm", "x")), st.floats(), max_size=3),
)
facts = st.builds(
    RunInfo,
    platform=st.sampled_from(("tinker", "self-hosted", None)),
    model=st.sampled_from(("Qwen/Qwen3-8B", "nobody/knows", None)),
    gpus=st.one_of(st.none(), st.integers(1, 64)),
    gpu_type=st.sampled_from(("B200", None)),
    total_steps=st.one_of(st.none(), st.integers(1, 60)),
    max_tokens=st.one_of(st.none(), st.integers(1, 10_000)),
)
events = st.lists(
    st.one_of(
        steps,
        facts,
        st.builds(Eval, step=st.integers(0, 30), sampled_tokens=amounts, prefill_tokens=amounts),
        st.builds(Restart, from_step=st.integers(0, 30), attempt=st.integers(0, 2)),
        st.builds(Progress, step=st.integers(0, 30), elapsed_s=st.floats(0, 1e5)),
        st.builds(Ended, status=st.sampled_from(("finished", "crashed"))),
    ),
    max_size=40,
)
BOOK = Book.load()


def fold(told: list[Event], now: float) -> CheckReport:
    pipeline = Pipeline(Settings(budget_usd=10.0), BOOK)
    for event in told:
        pipeline.feed(event, now)
    return report(pipeline.frame(now))


@settings(max_examples=60, deadline=None)
@given(events)
def test_the_fold_is_deterministic_and_survives_any_order_of_events(told: list[Event]) -> None:
    once = fold(told, 1.8e9)
    assert once == fold(told, 1.8e9)
    assert once.cost.spent_usd is None or once.cost.spent_usd >= 0


@settings(max_examples=40, deadline=None)
@given(events)
def test_looking_in_between_changes_nothing(told: list[Event]) -> None:
    pipeline = Pipeline(Settings(budget_usd=10.0), BOOK)
    for event in told:
        pipeline.feed(event, 1.8e9)
        pipeline.frame(1.8e9)
    looked = report(pipeline.frame(1.8e9))
    quick = fold(told, 1.8e9)
    assert looked.cost == quick.cost
    assert looked.projection == quick.projection
    assert looked.run == quick.run


@pytest.mark.parametrize("run", ["gsm8k-tinker", "math-verl"])
def test_a_recording_gives_the_run_that_was_recorded(
    demo: Path, look: Look, tmp_path: Path, run: str
) -> None:
    tape = tmp_path / "tape.jsonl"
    known = {"prices_date": "2026-01-05", "gpu_type": "B200", "budget_usd": 100.0}
    pipeline = Pipeline(Settings.model_validate(known), BOOK)
    session = Session(open_target(demo / run), pipeline, FakeClock(1_796_000_000.0), recorder=Recorder(tape))
    live = report(session.read_all())
    replayed = look(tape, **known)
    assert replayed.cost == live.cost
    assert replayed.projection == live.projection
    assert replayed.health == live.health
    assert replayed.alerts == live.alerts
    assert replayed.run.model_copy(update={"sources": ()}) == live.run.model_copy(update={"sources": ()})
