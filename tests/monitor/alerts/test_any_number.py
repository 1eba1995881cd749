"""A log may hold any number: no rule may fail on one, however large or small it is."""

from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rltop.models.run import RunInfo
from rltop.models.step import COLUMNS

from .conftest import Told

FINITE = st.floats(allow_nan=False, allow_infinity=False)
EXTREME = st.sampled_from([0.0, -0.0, 5e-324, 1e-300, 1e200, -1e200, 1.7e308, -1.7e308])
QUANTITIES = [name for name in COLUMNS if name != "ended_at"]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.dictionaries(
        st.sampled_from(QUANTITIES),
        st.lists(EXTREME | FINITE, min_size=25, max_size=25),
        min_size=1,
        max_size=4,
    )
)
def test_no_rule_fails_on_any_number(told_with: Callable[..., Told], told: dict[str, list[float]]) -> None:
    run = told_with(info=RunInfo(first_step=1, total_steps=40, max_tokens=2048))
    for row in range(25):
        cells: dict[str, Any] = {name: values[row] for name, values in told.items()}
        run.step(**cells)
