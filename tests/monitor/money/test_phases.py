"""Where the hours of a self-hosted run went."""

from collections.abc import Callable, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rltop.models.money import Bill, PhaseCost, StepCost
from rltop.models.run import RunInfo
from rltop.models.step import Step

BillOf = Callable[..., tuple[Bill, list[StepCost]]]

VERL = RunInfo(framework="verl", platform="self-hosted", algorithm="rl", gpus=8, gpu_type="NVIDIA B200")
TIMED = {"generate": 60.0, "update": 20.0, "weight_sync": 10.0}


def step(phases: Mapping[str, float], number: int = 0, seconds: float | None = 100.0) -> Step:
    return Step.model_validate({"step": number, "duration_s": seconds, "phases": phases})


def by_name(bill: Bill) -> dict[str, PhaseCost]:
    return {phase.name: phase for phase in bill.phases}


def test_each_gpu_hour_goes_to_a_phase_or_is_idle(bill_of: BillOf) -> None:
    bill, _ = bill_of(VERL, [step(TIMED)], elapsed_s=200.0)
    phases = by_name(bill)
    assert list(phases) == ["generate", "update", "weight_sync", "idle"]
    assert phases["idle"].share == pytest.approx(0.55)
    assert phases["generate"].usd == pytest.approx(40 * 60 / 3600)
    assert phases["generate"].hours == pytest.approx(8 * 60 / 3600)
    assert phases["generate"].seconds == 60


def test_the_waste_is_named_on_the_bill(bill_of: BillOf) -> None:
    bill, _ = bill_of(VERL, [step(TIMED)], elapsed_s=200.0)
    assert "60 % of the bill was spent outside generate and update" in bill.notes


def test_a_critics_update_is_no_waste(bill_of: BillOf) -> None:
    bill, _ = bill_of(VERL, [step({"generate": 50, "update": 25, "update_critic": 25})])
    assert "0 % of the bill was spent outside generate and update" in bill.notes


def test_without_a_price_the_hours_are_divided_all_the_same(bill_of: BillOf) -> None:
    bill, _ = bill_of(VERL.model_copy(update={"gpu_type": None}), [step(TIMED)])
    assert by_name(bill)["generate"].hours == pytest.approx(8 * 60 / 3600)
    assert by_name(bill)["generate"].usd is None
    assert not any("outside generate" in note for note in bill.notes)


@pytest.mark.parametrize("phases", [{}, {"generate": 0.0}])
def test_without_timed_phases_nothing_is_divided_and_nothing_called_waste(
    bill_of: BillOf, phases: dict[str, float]
) -> None:
    bill, _ = bill_of(VERL, [step(phases)])
    assert bill.phases == ()
    assert not any("outside generate" in note for note in bill.notes)


def test_where_neither_generating_nor_updating_is_timed_nothing_is_called_waste(bill_of: BillOf) -> None:
    bill, _ = bill_of(VERL, [step({"eval": 10})])
    assert [phase.name for phase in bill.phases] == ["eval", "idle"]
    assert not any("outside generate" in note for note in bill.notes)


def test_a_provider_who_bills_tokens_does_not_bill_the_waiting(bill_of: BillOf) -> None:
    info = RunInfo(framework="tinker", platform="tinker", algorithm="rl", model="Qwen/Qwen3-8B")
    bill, _ = bill_of(info, [step(TIMED).model_copy(update={"sampled_tokens": 1e6})])
    assert bill.phases == ()


@given(
    steps=st.lists(
        st.tuples(
            st.none() | st.floats(0.1, 1e5),
            st.dictionaries(st.sampled_from(("generate", "update", "eval", "other")), st.floats(0, 1e5)),
        ),
        min_size=1,
        max_size=8,
    ),
    elapsed_s=st.none() | st.floats(0, 1e6),
)
def test_the_phases_add_up_to_the_bill(
    bill_of: BillOf, steps: list[tuple[float | None, dict[str, float]]], elapsed_s: float | None
) -> None:
    rows = [step(phases, number, seconds) for number, (seconds, phases) in enumerate(steps)]
    bill, _ = bill_of(VERL, rows, elapsed_s=elapsed_s)
    if bill.phases:
        assert sum(phase.usd or 0 for phase in bill.phases) == pytest.approx(bill.spent_usd)
        assert sum(phase.hours or 0 for phase in bill.phases) == pytest.approx(bill.meters[0].hours)
        assert sum(phase.share for phase in bill.phases) == pytest.approx(1)
        assert all(phase.seconds > 0 for phase in bill.phases)
