"""Prometheus' text format, for the names that are wanted."""

import math

from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, Gauge, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from rltop.monitor.telemetry.promtext import Point, points

PAGE = """\
# HELP a What it is.
# TYPE a gauge
a 1
a{x="1"} 2.5e3
a{x="}",y="\\"q\\" \\\\ \\n"} -3 1700000000000
a{x="spaced" , } +Inf
a NaN
ab 7
vllm:a{m="q"} 0.5 # {trace="1"} 2
a{x="broken
a{x="1"} many
"""


def test_only_wanted_names_are_read_and_what_is_no_number_is_left_out() -> None:
    assert list(points(PAGE, ("a", "vllm:a"))) == [
        Point("a", {}, 1.0),
        Point("a", {"x": "1"}, 2500.0),
        Point("a", {"x": "}", "y": '"q" \\ \n'}, -3.0),
        Point("vllm:a", {"m": "q"}, 0.5),
    ]


def test_a_name_that_another_begins_with_is_another_name() -> None:
    assert [point.value for point in points(PAGE, ("ab",))] == [7.0]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.text(), st.floats()), max_size=5, unique_by=lambda each: each[0]))
def test_whatever_the_official_library_writes_is_read_as_it_reads_it(series: list[tuple[str, float]]) -> None:
    registry = CollectorRegistry()
    gauge = Gauge("busy", "About it.", ["who"], registry=registry)
    for who, value in series:
        gauge.labels(who).set(value)
    text = generate_latest(registry).decode()
    theirs = {
        sample.labels["who"]: sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if math.isfinite(sample.value)
    }
    assert {point.labels["who"]: point.value for point in points(text, ("busy",))} == theirs


@settings(max_examples=100, deadline=None)
@given(st.text())
def test_no_text_whatever_breaks_the_reading(text: str) -> None:
    for point in points(f"a{text}\na{{{text}}} 1", ("a",)):
        assert math.isfinite(point.value)
