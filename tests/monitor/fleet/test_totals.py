"""What many runs come to, and how sure that is."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rltop.models.fleet import FleetRow, RowState
from rltop.models.value import Quantiles
from rltop.monitor.fleet.totals import final_of, totals_of


def run(
    spent: float | None,
    final: tuple[float, float, float] | None = None,
    project: str = "p",
    state: RowState = "running",
) -> FleetRow:
    quantiles = None if final is None else Quantiles(p10=final[0], p50=final[1], p90=final[2])
    return FleetRow(
        id="x", name="x", spent_usd=spent, final_usd=quantiles, project=project, state=state, step=3
    )


def test_spent_and_projected_are_sums() -> None:
    told = totals_of([run(10.0, (15, 20, 30)), run(5.0, (5, 5, 5), state="finished")])
    assert (told.spent_usd, told.running, told.runs) == (15.0, 1, 2)
    assert told.final_usd is not None
    assert told.final_usd.p50 == 25.0


def test_runs_of_one_project_miss_together_and_projects_on_their_own() -> None:
    together = final_of([run(1.0, (6, 10, 20)), run(1.0, (6, 10, 20))])
    apart = final_of([run(1.0, (6, 10, 20), "a"), run(1.0, (6, 10, 20), "b")])
    assert together == Quantiles(p10=12, p50=20, p90=40)
    assert apart is not None
    assert apart.p90 == pytest.approx(20 + 10 * math.sqrt(2))


def test_what_is_spent_is_the_least_that_it_will_be() -> None:
    final = final_of([run(90.0, (40, 100, 120))])
    assert final is not None
    assert final.p10 == 90.0


def test_a_run_without_a_price_is_counted_and_left_out() -> None:
    told = totals_of([run(None), run(7.0)])
    assert (told.unpriced, told.unprojected, told.spent_usd) == (1, 1, 7.0)
    assert told.final_usd == Quantiles(p10=7, p50=7, p90=7)


def test_no_runs_come_to_nothing_known() -> None:
    told = totals_of([])
    assert (told.spent_usd, told.final_usd, told.over_budget) == (None, None, None)


@pytest.mark.parametrize(("budget", "over"), [(100.0, "no"), (25.0, "may"), (15.0, "will")])
def test_the_budget_is_held_against_the_interval(budget: float, over: str) -> None:
    assert totals_of([run(10.0, (15, 20, 30))], budget).over_budget == over


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.tuples(st.floats(0, 50), st.floats(0, 50), st.floats(0, 50), st.sampled_from("abc")),
        min_size=1,
        max_size=12,
    )
)
def test_the_interval_holds_its_middle_and_is_no_wider_than_the_sum_of_all(
    runs: list[tuple[float, float, float, str]],
) -> None:
    rows = [run(0.0, (a, a + b, a + b + c), project) for a, b, c, project in runs]
    final = final_of(rows)
    assert final is not None
    assert final.p10 <= final.p50 <= final.p90
    assert final.p90 - final.p50 <= sum(c for _, _, c, _ in runs) + 1e-6
    assert final.p50 - final.p10 <= sum(b for _, b, _, _ in runs) + 1e-6
