"""What is told of the alerts, and that it is told once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st

from rltop.models.alert import Alert
from rltop.monitor.frame import Frame
from rltop.monitor.notify.news import News, Notice

if TYPE_CHECKING:
    Alerted = Callable[..., Alert]
    FrameOf = Callable[..., Frame]


def told(notices: list[Notice]) -> list[tuple[str, str, int]]:
    return [(n.change, n.alert.rule, n.alert.step) for n in notices]


def test_an_alert_is_told_when_it_comes_when_it_gets_worse_and_when_it_is_over(
    alerted: Alerted, frame_of: FrameOf
) -> None:
    news = News("warning")
    assert news.look(frame_of()) == []
    assert told(news.look(frame_of(alerted("clip", 5)))) == [("raised", "clip", 5)]
    assert news.look(frame_of(alerted("clip", 5))) == []
    assert told(news.look(frame_of(alerted("clip", 5, "critical")))) == [("escalated", "clip", 5)]
    assert told(news.look(frame_of(alerted("clip", 5, "critical", 9)))) == [("resolved", "clip", 5)]
    assert news.look(frame_of(alerted("clip", 5, "critical", 9))) == []


def test_what_is_below_the_severity_asked_for_is_not_told_until_it_rises(
    alerted: Alerted, frame_of: FrameOf
) -> None:
    news = News("warning")
    news.look(frame_of())
    assert news.look(frame_of(alerted("clip", 5, "info"))) == []
    assert told(news.look(frame_of(alerted("clip", 5, "warning")))) == [("raised", "clip", 5)]


def test_what_was_over_before_we_came_is_not_told_and_what_stands_is(
    alerted: Alerted, frame_of: FrameOf
) -> None:
    alerts = (*(alerted("oom", n, "critical", n + 5) for n in range(100)), alerted("nan", 9000, "critical"))
    assert told(News("warning").look(frame_of(*alerts))) == [("raised", "nan", 9000)]
    assert News("warning").look(frame_of(*alerts, status="finished")) == []


def test_what_a_log_holds_already_is_no_news_though_the_screen_was_there_first(
    alerted: Alerted, frame_of: FrameOf, unread: Frame
) -> None:
    news, late = News("warning"), News("warning")
    past = alerted("oom", 4, "critical", 9)
    for one in (news, late):
        assert one.look(unread) == []
        assert one.look(unread) == []
    assert told(news.look(frame_of(past, alerted("clip", 30)))) == [("raised", "clip", 30)]
    assert late.look(frame_of(past, alerted("clip", 30), status="finished")) == []


def test_a_crash_before_the_first_step_is_news(alerted: Alerted, unread: Frame) -> None:
    crashed = replace(unread, alerts=(alerted("crash", 0, "critical"),), status="crashed")
    assert told(News("warning").look(crashed)) == [("raised", "crash", 0)]


def test_a_log_that_is_caught_up_with_is_not_told_of(alerted: Alerted, frame_of: FrameOf) -> None:
    news = News("warning")
    assert news.look(frame_of(alerted("nan", 3, "critical"), behind=True)) == []
    assert news.look(frame_of(alerted("nan", 3, "critical", 20))) == []


def test_what_came_and_went_between_two_looks_is_told_as_both(alerted: Alerted, frame_of: FrameOf) -> None:
    news = News("warning")
    news.look(frame_of())
    notices = news.look(frame_of(alerted("nan", 3, "critical", 14)))
    assert told(notices) == [("raised", "nan", 3), ("resolved", "nan", 3)]
    assert notices[0].alert.cleared_step is None


def test_an_alert_whose_step_comes_out_otherwise_when_all_is_gone_through_anew_is_no_news(
    alerted: Alerted, frame_of: FrameOf
) -> None:
    news = News("warning")
    news.look(frame_of(alerted("stall", 4, "warning", 6), alerted("clip", 30)))
    assert news.look(frame_of(alerted("stall", 3, "warning", 6), alerted("clip", 29))) == []
    assert told(news.look(frame_of(alerted("stall", 3, "warning", 6)))) == [("resolved", "clip", 29)]


SEVERITIES = st.sampled_from(["info", "warning", "critical"])
ALERTS = st.tuples(
    st.sampled_from(["nan", "clip"]), st.integers(0, 6), SEVERITIES, st.none() | st.integers(6, 9)
)


@settings(max_examples=150, deadline=None)
@given(looks=st.lists(st.lists(ALERTS, max_size=5), max_size=8), least=SEVERITIES)
def test_whatever_the_lists_say_no_rule_is_raised_twice_or_ends_unraised(
    alerted: Alerted, frame_of: FrameOf, looks: list[list[Any]], least: Any
) -> None:
    news, up = News(least), set[str]()
    for look in looks:
        alerts: list[Alert] = []
        for one in look:
            # As of the engine, of each rule at most one stands, and it is the last.
            if not any(a.rule == one[0] and a.cleared_step is None for a in alerts):
                alerts.append(alerted(*one))
        for notice in news.look(frame_of(*alerts)):
            rule = notice.alert.rule
            assert (rule in up) == (notice.change != "raised")
            up.add(rule)
            if notice.change == "resolved":
                up.discard(rule)
        standing = {a.rule for a in alerts if a.cleared_step is None}
        assert up <= standing
