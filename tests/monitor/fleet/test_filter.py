"""What a filter takes, and what it says of words that mean nothing."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rltop.models.alert import Alert
from rltop.models.fleet import FleetRow
from rltop.models.value import Quantiles
from rltop.monitor.fleet.filter import FilterError, parse
from rltop.monitor.fleet.order import ORDERS, by_project, ordered

CLIP = Alert(rule="clip_ratio", severity="critical", step=3, value=1, threshold=0, message="", advice="")
RUN = FleetRow(
    id="runs/math/a",
    name="Math-4B-grpo",
    framework="verl",
    model="Qwen/Qwen3-4B",
    project="math",
    state="running",
    step=35,
    total_steps=94,
    spent_usd=46.1,
    final_usd=Quantiles(p10=107, p50=233, p90=313),
    length=2500.0,
    clip=0.44,
    alerts=(CLIP,),
)
BARE = FleetRow(id="x.log", name="x.log", state="finished")


@pytest.mark.parametrize(
    ("text", "takes", "bare"),
    [
        ("", True, True),
        ("math", True, False),
        ("MATH qwen3", True, False),
        ("-math", False, True),
        ("/4b-(grpo|ppo)$/", True, False),
        ("alert:critical", True, False),
        ("alert:clip-ratio", True, False),
        ("alert:none", False, True),
        ("alert:any", True, False),
        ("cost>46", True, False),
        ("cost<46", False, False),
        ("!cost<46", True, True),
        ("end>=0.2k", True, False),
        ("cost>$40 state:running framework:verl length>2000", True, False),
        ("state:running,stalled", True, False),
        ("clip>40%", True, False),
        ("clip>0.5", False, False),
        ("step=35", True, False),
        ('name:"4b-grpo"', True, False),
        ('"4b grpo"', False, False),
        ("state:", True, True),
        ("project:math", True, False),
    ],
)
def test_what_a_filter_takes(text: str, takes: bool, bare: bool) -> None:
    assert (parse(text).takes(RUN), parse(text).takes(BARE)) == (takes, bare)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("cots>50", "cots>…: no quantity cots; there are cost, end, length"),
        ("cost>fifty", "cost>fifty: not a number, such as 50"),
        ("cost>", "cost>: not a number"),
        ("foo:bar", "foo:…: no kind foo; there are state, framework"),
        ("state:runing", "state:runing: no such state; there are reading"),
        ("/a(/", "/a(/: missing )"),
        ("/abc", "/abc: a regular expression ends in /"),
    ],
)
def test_a_word_that_means_nothing_is_named(text: str, why: str) -> None:
    with pytest.raises(FilterError) as caught:
        parse(text)
    assert str(caught.value).startswith(why)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=30))
def test_whatever_is_typed_is_a_filter_or_one_line_that_says_why_not(text: str) -> None:
    told = ""
    try:
        parse(text).takes(RUN)
    except FilterError as error:
        told = str(error)
    assert "\n" not in told or "\n" in text


def test_each_order_puts_what_is_not_known_last_both_ways_round() -> None:
    for name in set(ORDERS) - {"run", "framework", "state"}:
        for turned in (False, True):
            assert (
                ordered(
                    [BARE, RUN.model_copy(update={"modified_at": 1.0, "mfu": 0.1, "length_growth": 2.0})],
                    name,
                    turned,
                )[-1].id
                == BARE.id
            ), name


def test_the_dearest_come_first_and_the_cheapest_when_turned() -> None:
    runs = [RUN.model_copy(update={"id": str(usd), "spent_usd": usd}) for usd in (5.0, 90.0, 30.0)]
    assert [row.id for row in ordered(runs, "cost")] == ["90.0", "30.0", "5.0"]
    assert [row.id for row in ordered(runs, "cost", turned=True)] == ["5.0", "30.0", "90.0"]


def test_critical_runs_come_before_those_with_many_warnings() -> None:
    warned = RUN.model_copy(
        update={"id": "w", "alerts": tuple(CLIP.model_copy(update={"severity": "warning"}) for _ in range(9))}
    )
    assert ordered([BARE, warned, RUN], "alerts")[0].id == RUN.id


def test_projects_keep_the_order_of_their_first_run() -> None:
    assert list(by_project([RUN, BARE, RUN])) == ["math", ""]
