"""Every real run beside the checkout opens: the right steps and totals, and why it cannot be priced."""

import math
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from rltop.models.report import CheckReport

Look = Callable[..., CheckReport]


class Expected(NamedTuple):
    """What a person reads in the log. None for what the log does not tell."""

    framework: str
    steps_done: int
    total_steps: int | None
    step: int | None
    state: str | None = None
    """Only where the log itself proves it."""


RUNS = {
    "tinker/arithmetic-100": Expected("tinker", 100, 100, 99, "finished"),
    "tinker/custom-loop-111": Expected("tinker", 101, 200, 100),
    "tinker/distill-length-blowup": Expected("tinker", 35, 29354, 34),
    "tinker/format-010-sync": Expected("tinker", 8, 8, 7, "finished"),
    "tinker/format-061-async": Expected("tinker", 10, 10, 9, "finished"),
    "tinker/format-061-sync-priced": Expected("tinker", 12, 12, 11, "finished"),
    "tinker/math-rubric-57": Expected("tinker", 57, 57, 56, "finished"),
    "tinker/math-rubric-7": Expected("tinker", 7, 57, 6),
    "tinker/sft-2244": Expected("tinker", 2244, 2244, 2243, "finished"),
    "verl/config-interleaved": Expected("verl", 0, 1065, None),
    "verl/crash-7b": Expected("verl", 0, 6, None, "crashed"),
    "verl/crash-7b-fixed": Expected("verl", 0, 3, None, "crashed"),
    "verl/crash-agentic-2": Expected("verl", 2, 563250, 2),
    "verl/crash-at-start": Expected("verl", 0, 30, None, "crashed"),
    "verl/excerpts/clip_ratio_high_agent_loop_v0.8.log": Expected("verl", 1, None, 34),
    "verl/excerpts/ppo_length_blowup_wrapped.log": Expected("verl", 1, 4984, 1049),
    "verl/excerpts/raylet_oom_killed.log": Expected("verl", 0, None, None),
    "verl/excerpts/step0_val_then_step1.log": Expected("verl", 1, None, 1),
    "verl/format-v0.3.0.post1-direct": Expected("verl", 4, None, 4),
    "verl/format-v0.7.1-direct": Expected("verl", 4, None, 4),
    "verl/format-v0.9.1-ray": Expected("verl", 8, 105, 8, "finished"),
    "verl/grpo-54-ansi": Expected("verl", 54, 300, 54),
    "verl/logic-chatty-2": Expected("verl", 1, None, 1),
    "verl/notebook-60": Expected("verl", 61, 435, 60),
    "verl/ppo-gemma-106": Expected("verl", 106, 210, 105),
    "verl/ppo-gsm8k-435": Expected("verl", 435, 435, 434, "finished"),
    "verl/sft-200": Expected("verl", 200, 200, 200, "finished"),
    "verl/step60-wrapped": Expected("verl", 1, 3499, 60),
    "verl/v0.10dev-tail": Expected("verl", 1, 20, 13),
    "slime/midrun-oom": Expected("slime", 1, None, 11),
    "slime/rollout-only": Expected("slime", 1, None, 0),
    "slime/tau2-excerpt": Expected("slime", 1, None, 0),
    "trl/console-bluebook": Expected("unknown", 450, None, 4490, "finished"),
    "trl/countdown-500": Expected("unknown", 500, None, 500),
    "trl/unsloth-console": Expected("trl", 27, 50, 50, "finished"),
    "trl/wordle-400": Expected("trl", 400, 400, 400, "finished"),
    "tensorboard/wordle-trl": Expected("trl", 636, 1500, 636),
}


@pytest.mark.parametrize("run", RUNS)
def test_a_real_run_opens_with_its_steps_and_totals(shared_data: Path, look: Look, run: str) -> None:
    told, expected = look(shared_data / run).run, RUNS[run]
    assert (told.framework, told.steps_done, told.total_steps, told.step) == expected[:4]
    assert expected.state is None or told.state == expected.state


@pytest.mark.parametrize("run", RUNS)
def test_what_cannot_be_priced_says_why_and_how_to_give_it(shared_data: Path, look: Look, run: str) -> None:
    cost = look(shared_data / run).cost
    if cost.spent_usd is None:
        assert cost.basis == "unpriced"
        assert any("--" in note or "no token counts" in note for note in cost.notes), cost.notes
    else:
        assert cost.spent_usd >= 0
        assert sum(meter.usd or 0.0 for meter in cost.meters) == pytest.approx(cost.spent_usd, abs=0.005)


@pytest.mark.parametrize("run", RUNS)
def test_no_figure_is_made_up(shared_data: Path, look: Look, run: str) -> None:
    """The report holds no NaN and no infinity, and no interval that is upside down."""
    told = look(shared_data / run, usd_per_gpu_hour=2.0, gpus=8)
    numbers = [told.cost.spent_usd, told.run.elapsed_s, told.health.tokens_per_s, told.health.reward]
    assert all(number is None or math.isfinite(number) for number in numbers)
    projection = told.projection
    for quantiles in (projection.final_usd, projection.remaining_s, projection.response_length_at_end):
        if quantiles is not None:
            assert 0 <= quantiles.p10 <= quantiles.p50 <= quantiles.p90 < math.inf


def test_every_folder_of_real_runs_is_in_the_table(shared_data: Path) -> None:
    frameworks = ("tinker", "verl", "slime", "trl", "tensorboard")
    places = [place for name in frameworks for place in (shared_data / name).iterdir()]
    there = {str(p.relative_to(shared_data)) for p in places if p.name != "excerpts"}
    there |= {str(p.relative_to(shared_data)) for p in (shared_data / "verl" / "excerpts").iterdir()}
    assert there == set(RUNS)


def test_the_frameworks_own_dollars_and_ours_agree(shared_data: Path, look: Look) -> None:
    rates = {"prefill": 0.13, "prefill_cached": 0.026, "sample": 0.40, "train": 0.40}
    told = look(shared_data / "tinker/format-061-sync-priced")
    assert told.cost.basis == "logged"
    assert told.cost.spent_usd == pytest.approx(0.01321684, rel=1e-3)
    priced = look(shared_data / "tinker/format-061-sync-priced", token_rates=rates)
    assert any("by our own meters" in note for note in priced.cost.notes), priced.cost.notes
