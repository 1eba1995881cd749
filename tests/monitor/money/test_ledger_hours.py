"""Bills of runs that are billed by the GPU-hour."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rltop.models.money import Bill, StepCost
from rltop.models.run import RunInfo
from rltop.models.settings import Settings, TokenRates
from rltop.models.step import Step

BillOf = Callable[..., tuple[Bill, list[StepCost]]]

VERL = RunInfo(framework="verl", platform="self-hosted", algorithm="rl", gpus=8, gpu_type="NVIDIA B200")


def step(number: int, seconds: float | None = 100.0, **more: object) -> Step:
    return Step.model_validate({"step": number, "duration_s": seconds, **more})


def test_eight_b200_for_the_published_1_h_56_m_come_to_about_77_dollars(bill_of: BillOf) -> None:
    steps = [step(number, 116 * 60 / 59) for number in range(59)]
    bill, _ = bill_of(VERL, steps)
    assert bill.basis == "gpu-hours"
    assert bill.spent_usd == pytest.approx(77.3, abs=0.1)
    assert bill.meters[0].hours == pytest.approx(8 * 116 / 60)


def test_a_default_price_is_called_one_with_its_date(bill_of: BillOf) -> None:
    bill, _ = bill_of(VERL, [step(0)])
    assert bill.price_book is not None
    assert bill.price_book.date.startswith("2026-")
    assert any("--usd-per-gpu-hour" in note for note in bill.notes)


def test_the_users_price_beats_the_table(bill_of: BillOf) -> None:
    bill, _ = bill_of(VERL, [step(0, 3600)], settings=Settings(usd_per_gpu_hour=2))
    assert bill.spent_usd == pytest.approx(16)
    assert bill.price_book is None


def test_wall_time_beyond_the_steps_is_paid_for(bill_of: BillOf) -> None:
    bill, _ = bill_of(VERL, [step(0)], elapsed_s=3600.0)
    assert bill.spent_usd == pytest.approx(40)


def test_steps_that_sum_to_more_than_the_known_wall_time_are_believed(bill_of: BillOf) -> None:
    bill, _ = bill_of(VERL, [step(0, 1800), step(1, 1800)], elapsed_s=60.0)
    assert bill.spent_usd == pytest.approx(40)


def test_a_steps_evaluation_and_checkpoint_stand_apart(bill_of: BillOf) -> None:
    _, (cost,) = bill_of(VERL, [step(0, 100, phases={"eval": 30, "checkpoint": 10})])
    assert cost.duration_s == pytest.approx(60)
    assert cost.usd == pytest.approx(40 * 60 / 3600)
    assert cost.eval_usd == pytest.approx(40 * 30 / 3600)
    assert cost.checkpoint_usd == pytest.approx(40 * 10 / 3600)


def test_a_moment_spent_on_finding_nothing_to_evaluate_is_no_evaluation(bill_of: BillOf) -> None:
    _, (cost,) = bill_of(VERL, [step(0, 100, phases={"eval": 0.00008})])
    assert cost.eval_usd is None
    assert cost.eval_s is None


def test_at_the_cap_the_time_grows_as_the_length_does(bill_of: BillOf) -> None:
    info = VERL.model_copy(update={"max_tokens": 2048})
    _, (cost,) = bill_of(info, [step(0, 3600, response_length_mean=512)])
    assert cost.usd_at_cap == pytest.approx(160)


@pytest.mark.parametrize(
    ("missing", "why"),
    [
        ({"gpu_type": None}, "GPU type not in the log: give --gpu-type or --usd-per-gpu-hour"),
        ({"gpu_type": "NVIDIA H20"}, "no price for an hour of NVIDIA H20: give --usd-per-gpu-hour"),
        ({"gpu_type": "Unheard of"}, "no price for an hour of Unheard of: give --usd-per-gpu-hour"),
        ({"gpus": None}, "number of GPUs not in the log: give --gpus"),
    ],
)
def test_what_is_missing_is_said_in_one_line(bill_of: BillOf, missing: dict[str, object], why: str) -> None:
    bill, (cost,) = bill_of(VERL.model_copy(update=missing), [step(0, sampled_tokens=5.0)])
    assert (bill.basis, bill.spent_usd, cost.usd) == ("unpriced", None, None)
    assert bill.notes[0] == why
    assert any(meter.name == "sample" and meter.tokens == 5 for meter in bill.meters)


def test_a_log_without_times_is_unpriced_and_says_why(bill_of: BillOf) -> None:
    bill, _ = bill_of(VERL, [step(0, None, reward_mean=0.5)])
    assert bill.basis == "unpriced"
    assert bill.notes[0] == "the log has no times: hours cannot be counted"


def test_a_run_of_unknown_platform_is_priced_as_soon_as_the_user_gives_a_price(bill_of: BillOf) -> None:
    info = RunInfo(gpus=2)
    assert bill_of(info, [step(0, 3600)])[0].basis == "unpriced"
    by_hour, _ = bill_of(info, [step(0, 3600)], settings=Settings(usd_per_gpu_hour=1))
    assert (by_hour.basis, by_hour.spent_usd) == ("gpu-hours", 2)
    rates = TokenRates(prefill=1, sample=2, train=3)
    by_token, _ = bill_of(info, [step(0, sampled_tokens=1e6)], settings=Settings(token_rates=rates))
    assert (by_token.basis, by_token.spent_usd) == ("metered", 2)


@given(seconds=st.lists(st.floats(0.1, 1e5), min_size=1, max_size=10), price=st.floats(0.01, 100))
def test_steps_add_up_to_the_bill_and_a_doubled_price_doubles_it(
    bill_of: BillOf, seconds: list[float], price: float
) -> None:
    steps = [
        step(number, each, phases={"eval": each / 4, "checkpoint": each / 8})
        for number, each in enumerate(seconds)
    ]
    once, costs = bill_of(VERL, steps, settings=Settings(usd_per_gpu_hour=price))
    twice, _ = bill_of(VERL, steps, settings=Settings(usd_per_gpu_hour=2 * price))
    by_step = sum((c.usd or 0) + (c.eval_usd or 0) + (c.checkpoint_usd or 0) for c in costs)
    assert once.spent_usd == pytest.approx(by_step)
    assert twice.spent_usd == pytest.approx(2 * by_step)
    assert sum(meter.usd or 0 for meter in once.meters) == pytest.approx(by_step)
