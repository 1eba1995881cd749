"""How the terminal calls, and how often."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rltop.models.alert import Alert
from rltop.models.notifying import NotifySettings
from rltop.monitor.frame import Frame
from rltop.monitor.notify.ringing import REST_S, Ringing
from rltop.monitor.notify.terminal import sequences


@pytest.mark.parametrize(
    ("call", "tmux", "bytes_"),
    [
        ("bell", False, "\x07"),
        ("bell", True, "\x07"),
        ("osc9", False, "\x1b]9;title: body\x07"),
        ("osc777", False, "\x1b]777;notify;title;body\x07"),
        ("osc9", True, "\x1bPtmux;\x1b\x1b]9;title: body\x07\x1b\\"),
    ],
)
def test_each_way_to_call_is_its_own_sequence(call: str, tmux: bool, bytes_: str) -> None:
    assert sequences([call], "title", "body", tmux) == bytes_  # pyright: ignore[reportArgumentType]


@given(title=st.text(max_size=300), body=st.text(max_size=300))
def test_no_text_can_end_a_sequence_or_begin_another(title: str, body: str) -> None:
    call = sequences(["osc777"], title, body, tmux=False)
    inner = call.removeprefix("\x1b]777;notify;").removesuffix("\x07")
    assert inner.isprintable()
    assert inner.count(";") == 1
    assert len(call) < 450


def test_only_a_critical_alert_rings_by_default(
    alerted: Callable[..., Alert], frame_of: Callable[..., Frame]
) -> None:
    ringing = Ringing(NotifySettings(), tmux=False)
    assert ringing.look(frame_of()) == ""
    assert ringing.look(frame_of(alerted("clip", 3))) == ""
    assert ringing.look(frame_of(alerted("clip", 3, "critical"))) == "\x07"
    assert ringing.look(frame_of(alerted("clip", 3, "critical", 9))) == ""


def test_it_rings_once_in_a_while_and_then_for_all_that_came(
    alerted: Callable[..., Alert], frame_of: Callable[..., Frame]
) -> None:
    ringing = Ringing(NotifySettings(terminal=("osc9",)), tmux=False)
    one, two, three = (alerted(rule, 3, "critical") for rule in ("nan", "oom", "crash"))
    assert "nan" in ringing.look(frame_of(one, now=100.0))
    assert ringing.look(frame_of(one, two, now=101.0)) == ""
    assert ringing.look(frame_of(one, two, three, now=102.0)) == ""
    later = ringing.look(frame_of(one, two, three, now=100.0 + REST_S))
    assert "oom, crash" in later
    assert ringing.look(frame_of(one, two, three, now=200.0)) == ""


def test_where_no_call_is_wanted_there_is_none(
    alerted: Callable[..., Alert], frame_of: Callable[..., Frame]
) -> None:
    assert (
        Ringing(NotifySettings(terminal=()), tmux=False).look(frame_of(alerted("nan", 1, "critical"))) == ""
    )
