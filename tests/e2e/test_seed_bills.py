"""The published bills, from the log's bytes to the dollars."""

from collections.abc import Callable
from pathlib import Path

import pytest

from rltop.models.report import CheckReport

Look = Callable[..., CheckReport]

JANUARY = {"prices_date": "2026-01-05"}
RATES = {"token_rates": {"prefill": 0.07, "sample": 0.22, "train": 0.22}}


@pytest.mark.parametrize(
    ("run", "bill", "within"), [("gsm8k-tinker", 12.97, 0.01), ("math-tinker", 37.03, 0.02)]
)
@pytest.mark.parametrize("settings", [JANUARY, RATES], ids=["by the book", "by the user's own rates"])
def test_a_published_bill_comes_out(
    demo: Path, look: Look, run: str, bill: float, within: float, settings: dict[str, object]
) -> None:
    cost = look(demo / run, **settings).cost
    assert cost.basis == "metered"
    assert cost.spent_usd == pytest.approx(bill, abs=within)


def test_evaluations_are_metered_apart_from_training(demo: Path, look: Look) -> None:
    meters = {meter.name: meter for meter in look(demo / "gsm8k-tinker", **JANUARY).cost.meters}
    assert meters["sample"].tokens == 19_300_000
    assert meters["eval_sample"].tokens == 5_400_000
    assert meters["prefill"].tokens == 10_700_000
    assert meters["eval_prefill"].tokens == 2_820_000
    assert meters["train"].tokens == 19_300_000 + 10_700_000 - 59_784


def test_the_meters_add_up_to_the_bill(demo: Path, look: Look) -> None:
    cost = look(demo / "math-tinker", **JANUARY).cost
    assert sum(meter.usd or 0.0 for meter in cost.meters) == pytest.approx(cost.spent_usd, abs=0.005)


def test_a_finished_run_ends_at_what_it_has_cost(demo: Path, look: Look) -> None:
    told = look(demo / "gsm8k-tinker", **JANUARY)
    assert told.run.state == "finished"
    assert told.projection.final_usd is not None
    assert told.projection.final_usd.p10 == told.projection.final_usd.p90 == told.cost.spent_usd


def test_the_self_hosted_run_costs_its_wall_time(demo: Path, look: Look) -> None:
    told = look(demo / "math-verl", gpu_type="B200", usd_per_gpu_hour=4.978)
    assert told.run.state == "crashed"
    assert (told.run.step, told.run.steps_done, told.run.total_steps) == (35, 35, 94)
    assert (told.run.gpus, told.run.max_tokens) == (8, 2048)
    assert told.cost.basis == "gpu-hours"
    assert told.run.elapsed_s == pytest.approx(70 * 60, abs=60)
    assert told.cost.spent_usd == pytest.approx(8 * 4.978 * (told.run.elapsed_s or 0) / 3600, abs=0.01)
    assert told.health.clip_ratio.last == pytest.approx(0.44, abs=0.001)
    assert told.health.response_length.last == 1376
