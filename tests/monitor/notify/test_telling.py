"""Messages that arrive, late or not at all, at a receiver on the loopback."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING

import pytest
from pydantic import SecretStr

from rltop.models.alert import Alert
from rltop.models.event import LogLine
from rltop.models.notifying import NotifySettings
from rltop.models.settings import Settings
from rltop.models.step import Step
from rltop.monitor.clock import SystemClock
from rltop.monitor.frame import Frame
from rltop.monitor.money.book import Book
from rltop.monitor.notify import lane
from rltop.monitor.notify.message import Message
from rltop.monitor.notify.receiver import AppriseReceiver
from rltop.monitor.notify.teller import Teller
from rltop.monitor.pipeline import Pipeline

if TYPE_CHECKING:
    from tests.monitor.notify.conftest import Server

DEAD = "json://127.0.0.1:1/Sesame-Token"
HELLO = Message(title="rltop", body="hello", mood="info")
FrameOf = Callable[..., Frame]
Alerted = Callable[..., Alert]


def teller(*urls: str) -> Teller:
    """Without the pauses between messages, which the lane's own tests are about."""
    receivers = [AppriseReceiver(url, place) for place, url in enumerate(urls, start=1)]
    return Teller(receivers, NotifySettings(every_s=0.0), SystemClock(), gather_s=0.0)


def test_a_message_arrives(server: Server) -> None:
    receiver = AppriseReceiver(server.url, 1)
    assert receiver.deliver(HELLO) == ""
    assert server.posted.get(timeout=5)["message"] == "hello"


@pytest.mark.parametrize("kind", ["failing", "slow", "dead", "unknown", "nonsense"])
def test_why_a_message_did_not_arrive_is_told_without_the_address(server: Server, kind: str) -> None:
    urls = {"dead": DEAD, "unknown": "foo://Sesame-Token", "nonsense": "Sesame-Token"}
    if kind == "failing":
        server.answers = [500] * 5
    if kind == "slow":
        server.held.clear()
    receiver = AppriseReceiver(urls.get(kind, server.url), 1)
    why = receiver.deliver(HELLO)
    assert why
    assert "\n" not in why
    for secret in ("Sesame", "127.0.0.1"):
        assert secret.lower() not in f"{why}{receiver.name}{receiver!r}".lower()
    assert kind != "failing" or "500" in why


def test_what_comes_and_what_is_over_is_sent(server: Server, alerted: Alerted, frame_of: FrameOf) -> None:
    telling = teller(server.url)
    telling.tell(frame_of())
    telling.tell(frame_of(alerted("nan", 812, "critical")))
    posted = server.posted.get(timeout=5)
    assert "critical: nan" in posted["title"]
    assert "CRITICAL since step 812: nan is bad" in posted["message"]
    telling.tell(frame_of(alerted("nan", 812, "critical", 830)))
    assert "OVER at step 830" in server.posted.get(timeout=5)["message"]
    assert telling.close() == ()


def test_of_many_runs_critical_alerts_are_sent_each_once(
    server: Server, alerted: Alerted, frame_of: FrameOf
) -> None:
    telling = teller(server.url)
    for _ in range(2):
        for run in ("a", "b"):
            telling.tell_of(run, frame_of(alerted("nan", 812, "critical"), alerted("clip", 3)))
            telling.tell_of(run, frame_of(alerted("nan", 812, "critical", 830)))
    assert telling.close() == ()
    lines = "\n".join(
        server.posted.get(timeout=5)["message"] for _ in range(server.posted.qsize())
    ).splitlines()
    assert [line.partition(":")[0] for line in lines if "nan" in line] == ["CRITICAL since step 812"] * 2
    assert not any("clip" in line or "OVER" in line for line in lines)


def test_a_receiver_that_fails_is_tried_again_until_it_answers(
    server: Server, alerted: Alerted, frame_of: FrameOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lane, "FIRST_RETRY_S", 0.01)
    server.answers = [500, 503]
    telling = teller(server.url)
    telling.tell(frame_of(alerted("nan", 812, "critical")))
    assert "nan" in server.posted.get(timeout=5)["title"]
    assert telling.close() == ()
    assert telling.remarks == ()


def test_a_dead_receiver_holds_up_neither_the_screen_nor_the_others(
    server: Server, alerted: Alerted, frame_of: FrameOf
) -> None:
    telling = teller(DEAD, server.url)
    telling.tell(frame_of(alerted("nan", 812, "critical")))
    assert "nan" in server.posted.get(timeout=5)["title"]
    (lost,) = telling.close()
    assert lost.startswith("1 notification not delivered to url 1, json://…: ")
    (remark,) = telling.remarks
    assert "url 1" in remark
    assert "Sesame" not in lost + remark


def test_a_slow_receiver_is_not_waited_for_at_the_end(
    server: Server, alerted: Alerted, frame_of: FrameOf
) -> None:
    server.held.clear()
    telling = teller(server.url.replace("rto=0.4", "rto=15"))
    telling.tell(frame_of(alerted("nan", 812, "critical")))
    (lost,) = telling.close(timeout_s=0.2)
    assert "no answer in time" in lost


def test_what_waits_is_sent_at_the_end_without_a_pause(
    server: Server, alerted: Alerted, frame_of: FrameOf
) -> None:
    receiver = AppriseReceiver(server.url, 1)
    telling = Teller([receiver], NotifySettings(), SystemClock(), gather_s=3600.0)
    telling.tell(frame_of(alerted("clip", 3)))
    assert telling.close() == ()
    assert "clip" in server.posted.get(timeout=5)["title"]


def test_nobody_is_told_of_nothing(server: Server, frame_of: FrameOf) -> None:
    telling = teller(server.url)
    telling.tell(frame_of())
    assert telling.close() == ()
    assert server.posted.empty()


def test_nan_after_ten_thousand_quiet_steps_and_a_hundred_alerts_is_shown_and_sent(server: Server) -> None:
    pipeline, random = Pipeline(Settings(alerts={"oom": {"clear_after": 1}}), Book.load()), Random(1)
    telling = teller(server.url)

    def steps(count: int, loss: float = 0.1) -> None:
        for _ in range(count):
            number = len(pipeline.state.history)
            norm = random.uniform(0.9, 1.1)
            pipeline.feed(Step(step=number, duration_s=60.0, grad_norm=norm, raw={"loss": loss}), 0.0)

    for _ in range(100):
        steps(1)
        pipeline.feed(LogLine(text="CUDA out of memory", topic="oom"), 0.0)
        telling.tell(pipeline.frame(0.0))
        steps(33)
        telling.tell(pipeline.frame(0.0))
    earlier = pipeline.frame(0.0).alerts
    assert len(earlier) >= 100
    steps(10_000)
    telling.tell(pipeline.frame(0.0))
    steps(1, float("nan"))
    frame = pipeline.frame(0.0)
    assert [a.rule for a in frame.alerts if a.cleared_step is None] == ["nan"]
    telling.tell(replace(frame))
    assert telling.close(timeout_s=20.0) == ()
    posted = [server.posted.get(timeout=5)]
    while not server.posted.empty():
        posted.append(server.posted.get())
    last = len(pipeline.state.history) - 1
    told = "\n".join(one["message"] for one in posted)
    assert f"CRITICAL since step {last}: " in told
    # A message shows the first of them and counts the others, which are many where the receiver is slow.
    counted = sum(map(int, re.findall(r"^and (\d+) more", told, re.MULTILINE)))
    assert told.count("oom") + counted >= 100


def test_an_address_is_in_no_print_of_the_settings() -> None:
    settings = Settings(notify=NotifySettings(urls=(SecretStr("slack://Sesame-Token"),)))
    assert "Sesame" not in f"{settings!r}{settings}{settings.model_dump_json()}{settings.model_dump()}"
