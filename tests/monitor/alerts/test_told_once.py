"""From events to notices: whatever happens to a run, each alert is told as raised once and as over once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from rltop.models.alert import Severity
from rltop.models.event import Ended, LogLine, Restart
from rltop.models.run import RunInfo, RunStatus
from rltop.models.settings import Settings
from rltop.monitor.money.book import Book
from rltop.monitor.notify.news import News
from rltop.monitor.pipeline import Pipeline

if TYPE_CHECKING:
    from tests.monitor.alerts.conftest import Told

EMPTY = Pipeline(Settings(), Book.load()).frame(0.0)
BAD = st.floats(0, 1) | st.sampled_from([float("nan"), float("inf")])
STEPS = st.fixed_dictionaries(
    {"duration_s": st.floats(1, 1e4)},
    optional={
        "response_length_mean": st.floats(1, 5000),
        "clip_ratio": st.floats(0, 1),
        "clip_reliable": st.booleans(),
        "reward_mean": BAD,
        "entropy": BAD,
        "grad_norm": BAD,
        "loss": BAD,
        "usd": st.floats(0, 100),
    },
)
LINES = st.builds(LogLine, text=st.just("a line"), topic=st.sampled_from(["oom", "billing", "capacity"]))
ENDS = st.builds(Ended, status=st.sampled_from(["finished", "crashed"]))


class Many(NamedTuple):
    """Some steps alike."""

    fields: dict[str, Any]
    times: int


class Look(NamedTuple):
    """A look at the clock."""

    status: RunStatus
    silent_s: float | None


STATUSES: st.SearchStrategy[RunStatus] = st.sampled_from(["running", "stalled", "crashed"])
TICKS = st.builds(Look, STATUSES, st.none() | st.floats(0, 1e6))
MANY = st.builds(Many, STEPS, st.integers(1, 12))


def happen(run: Told, event: Any) -> None:
    match event:
        case Many():
            for _ in range(event.times):
                run.step(**event.fields)
        case Look():
            run.tick(event.status, event.silent_s)
        case "anew":
            run.tell(Restart(from_step=max(1, len(run.state.history) - 3), attempt=run.state.attempt + 1))
            run.anew()
        case None:
            pass
        case _:
            run.tell(event)


@settings(max_examples=60, deadline=None)
@given(
    events=st.lists(st.tuples(MANY | LINES | ENDS | TICKS | st.just("anew"), st.booleans()), max_size=25),
    least=st.sampled_from(["info", "warning", "critical"]),
)
def test_no_order_of_events_tells_of_an_alert_twice_or_of_the_end_of_one_that_was_not_told(
    told_with: Callable[..., Told], events: list[tuple[Any, bool]], least: Severity
) -> None:
    run = told_with(info=RunInfo(first_step=1, total_steps=60), settings=Settings(budget_usd=50.0))
    news, up = News(least), dict[str, str]()
    order = ("info", "warning", "critical")
    for event, looked_at in [*events, (None, True)]:
        happen(run, event)
        if not looked_at:
            continue
        for notice in news.look(replace(EMPTY, alerts=run.engine.alerts, status="running")):
            rule, severity = notice.alert.rule, notice.alert.severity
            match notice.change:
                case "raised":
                    assert rule not in up
                    up[rule] = severity
                case "escalated":
                    assert order.index(severity) > order.index(up[rule])
                    up[rule] = severity
                case "resolved":
                    del up[rule]
    grave = order[order.index(least) :]
    standing = {a.rule for a in run.engine.alerts if a.cleared_step is None and a.severity in grave}
    assert set(up) == standing
