"""Raise once, escalate, clear once: whatever the order of readings."""

from hypothesis import given
from hypothesis import strategies as st

from rltop.monitor.alerts.latch import Change, Latch
from rltop.monitor.alerts.rule import RANK, Debounce, Reading

LEVELS = st.sampled_from(["ok", "info", "warning", "critical"])
READINGS = st.lists(st.builds(Reading, level=LEVELS, good=st.booleans(), certain=st.booleans()), max_size=60)
PAIRS = st.integers(1, 5).flatmap(lambda n: st.tuples(st.integers(1, n), st.just(n)))
DEBOUNCES = st.builds(Debounce, PAIRS, PAIRS, st.integers(1, 5), st.booleans())

OK = Reading(good=True)
WARNING = Reading(level="warning")
CRITICAL = Reading(level="critical")


def changes(readings: list[Reading], debounce: Debounce) -> list[tuple[Change | None, Latch]]:
    latch, seen = Latch(), list[tuple[Change | None, Latch]]()
    for reading in readings:
        latch, change = latch.read(reading, debounce)
        seen.append((change, latch))
    return seen


@given(READINGS, DEBOUNCES)
def test_no_order_of_readings_raises_twice_or_clears_what_was_not_raised(
    readings: list[Reading], debounce: Debounce
) -> None:
    up = False
    for change, latch in changes(readings, debounce):
        if change == "raised":
            assert not up
            up = True
        elif change == "escalated":
            assert up
        elif change == "cleared":
            assert up
            up = False
        assert (latch.severity is not None) is up


@given(READINGS, DEBOUNCES)
def test_a_severity_only_rises_while_the_alert_is_up(readings: list[Reading], debounce: Debounce) -> None:
    before = 0
    for change, latch in changes(readings, debounce):
        now = 0 if latch.severity is None else RANK[latch.severity]
        assert now >= before or change == "cleared"
        assert (now > before) == (change in ("raised", "escalated"))
        before = now


@given(READINGS, DEBOUNCES)
def test_a_certain_critical_is_up_at_once_whatever_went_before(
    readings: list[Reading], debounce: Debounce
) -> None:
    *_, (_, latch) = changes([*readings, Reading(level="critical", certain=True)], debounce)
    assert latch.severity == "critical"


@given(READINGS, DEBOUNCES)
def test_only_as_many_good_readings_in_a_row_as_asked_for_clear_an_alert(
    readings: list[Reading], debounce: Debounce
) -> None:
    in_a_row = 0
    for reading, (change, _) in zip(readings, changes(readings, debounce), strict=True):
        in_a_row = in_a_row + 1 if reading.good else 0
        assert change != "cleared" or in_a_row >= debounce.clear


def test_m_of_n_readings_raise() -> None:
    debounce = Debounce(warning=(3, 4), critical=(2, 3))
    raised = [change for change, _ in changes([WARNING, OK, WARNING, WARNING], debounce)]
    assert raised == [None, None, None, "raised"]
    assert all(change is None for change, _ in changes([WARNING, OK, OK, WARNING, WARNING], debounce))


def test_criticals_count_towards_the_warning_too() -> None:
    *_, (change, latch) = changes([WARNING, WARNING, CRITICAL], Debounce(warning=(3, 4), critical=(2, 3)))
    assert (change, latch.severity) == ("raised", "warning")


def test_readings_from_before_clearing_do_not_count_towards_the_next_alert() -> None:
    debounce = Debounce(warning=(2, 4), clear=1, wary=False)
    seen = [change for change, _ in changes([WARNING, WARNING, OK, WARNING, WARNING], debounce)]
    assert seen == [None, "raised", "cleared", None, "raised"]


def test_a_bad_reading_starts_the_count_towards_clearing_anew() -> None:
    debounce = Debounce(clear=2)
    seen = [change for change, _ in changes([WARNING, OK, Reading(), OK, OK], debounce)]
    assert seen == ["raised", None, None, None, "cleared"]


def test_an_alert_that_came_back_takes_twice_as_long_to_clear() -> None:
    debounce = Debounce(clear=2)
    seen = [change for change, _ in changes([WARNING, OK, OK, WARNING, OK, OK, OK, OK], debounce)]
    assert seen == ["raised", None, "cleared", "raised", None, None, None, "cleared"]
