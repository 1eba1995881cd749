"""When a message is sent, tried again, and what waits meanwhile."""

from collections.abc import Callable
from random import Random

from rltop.monitor.notify.lane import LAST_RETRY_S, MOST_WAITING, Lane
from rltop.monitor.notify.message import MOST_LINES, message_of
from rltop.monitor.notify.news import Notice

Make = Callable[..., Notice]


def lane() -> Lane:
    return Lane(every_s=30.0, random=Random(1), gather_s=2.0)


def test_what_comes_at_once_is_one_message(notice: Make) -> None:
    one = lane()
    assert one.due_at() is None
    one.add([notice("a")], 100.0)
    one.add([notice("b"), notice("c")], 101.0)
    assert one.due_at() == 102.0
    assert [n.alert.rule for n in one.batch()] == ["a", "b", "c"]
    one.batch()
    one.sent(102.0)
    assert one.due_at() is None


def test_the_next_message_waits_unless_it_is_critical(notice: Make) -> None:
    one = lane()
    one.add([notice("a")], 100.0)
    one.batch()
    one.sent(102.0)
    one.add([notice("b")], 103.0)
    assert one.due_at() == 132.0
    one.add([notice("nan", "critical")], 104.0)
    assert one.due_at() == 105.0


def test_what_fails_is_tried_again_ever_later_and_never_more_than_two_minutes_later(notice: Make) -> None:
    one, now, waits = lane(), 100.0, list[float]()
    one.add([notice("nan", "critical")], now)
    for _ in range(12):
        one.failed(now)
        due_at = one.due_at()
        assert due_at is not None
        waits.append(due_at - now)
        now = due_at
    assert all(2 ** (n + 1) / 2 <= waits[n] <= 2 ** (n + 1) for n in range(5))
    assert LAST_RETRY_S / 2 <= waits[-1] <= LAST_RETRY_S
    assert len({round(wait, 6) for wait in waits[8:]}) > 1
    assert [n.alert.rule for n in one.batch()] == ["nan"]
    one.sent(now)
    assert (one.waiting, one.failures) == (0, 0)


def test_what_comes_while_a_message_is_under_way_stays(notice: Make) -> None:
    one = lane()
    one.add([notice("a")], 100.0)
    one.batch()
    one.add([notice("a")], 103.0)
    one.sent(104.0)
    assert one.waiting == 1


def test_a_critical_one_is_never_dropped_however_many_wait(notice: Make) -> None:
    one = lane()
    one.add([notice("nan", "critical", step=n) for n in range(300)], 100.0)
    for n in range(1000):
        one.add([notice("clip", step=n)], 101.0)
    rules = [n.alert.rule for n in one.batch()]
    assert rules.count("nan") == 300
    assert rules.count("clip") == MOST_WAITING
    assert one.left_out == 1000 - MOST_WAITING
    assert one.batch()[-1].alert.step == 999
    message = message_of(one.batch(), one.left_out)
    assert message.body.count("CRITICAL") == 300
    assert f"and {MOST_WAITING + 1000 - MOST_WAITING} more" in message.body


def test_what_is_dropped_while_a_message_is_under_way_is_counted_in_the_next(notice: Make) -> None:
    one = lane()
    one.add([notice("a")], 100.0)
    under_way = one.batch()
    one.add([notice("clip", step=n) for n in range(MOST_WAITING + 7)], 101.0)
    one.sent(110.0)
    assert [n.alert.rule for n in under_way] == ["a"]
    assert (len(one.batch()), one.left_out) == (MOST_WAITING, 7)
    one.sent(120.0)
    assert (one.waiting, one.left_out) == (0, 0)


def test_what_arrives_is_not_counted_as_left_out_however_many_came_meanwhile(notice: Make) -> None:
    one = lane()
    one.add([notice("kl", step=n) for n in range(MOST_WAITING)], 100.0)
    one.batch()
    one.add([notice("clip", step=n) for n in range(MOST_WAITING)], 101.0)
    one.sent(110.0)
    assert (one.waiting, one.left_out) == (MOST_WAITING, 0)


def test_a_message_that_fails_has_too_many_waiting_again(notice: Make) -> None:
    one = lane()
    one.add([notice("kl", step=n) for n in range(MOST_WAITING)], 100.0)
    one.batch()
    one.add([notice("clip", step=n) for n in range(MOST_WAITING)], 101.0)
    one.failed(110.0)
    assert {n.alert.rule for n in one.batch()} == {"clip"}
    assert one.left_out == MOST_WAITING


def test_a_message_says_what_is_worst_and_what_to_do(notice: Make) -> None:
    message = message_of(
        [notice("clip"), notice("nan", "critical", step=812), notice("kl", change="resolved")]
    )
    assert message.title == "rltop: run: critical: clip, nan"
    lines = message.body.splitlines()
    assert lines[0] == "CRITICAL since step 812: nan is bad → do something"
    assert lines[1:] == [
        "WARNING since step 1: clip is bad → do something",
        "OVER at step 2: kl: kl is bad",
        "step 1",
    ]
    assert message.mood == "failure"
    assert message_of([notice("kl", change="resolved")]).mood == "success"


def test_a_message_says_where_the_run_stood_last(notice: Make) -> None:
    told = [
        notice(rule).model_copy(update={"stand": stand})
        for rule, stand in (("a", "running"), ("b", "stalled"), ("c", "running"))
    ]
    assert message_of(told).body.splitlines()[-1] == "running"


def test_a_message_counts_what_it_leaves_out(notice: Make) -> None:
    message = message_of([notice("clip", step=n) for n in range(MOST_LINES + 7)])
    assert "and 7 more: see rltop" in message.body


def test_a_message_of_several_runs_says_where_each_stands(notice: Make) -> None:
    message = message_of([notice("clip", run="a"), notice("kl", run="b")])
    assert "2 runs" in message.title
    assert message.body.splitlines()[-2:] == ["a: step 1", "b: step 1"]


def test_no_escape_of_a_log_gets_into_a_message(notice: Make) -> None:
    bad = notice("nan", run="r\x1b]0;x\x07un")
    bad = bad.model_copy(
        update={"alert": bad.alert.model_copy(update={"message": "a\x1b[2J\nb" + "x" * 9999})}
    )
    message = message_of([bad])
    assert message.title.isprintable()
    assert all(line.isprintable() and len(line) < 600 for line in message.body.splitlines())
