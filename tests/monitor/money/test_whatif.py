"""What-ifs on runs small enough to check by hand."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

import pytest

from rltop.models.event import Ended, Event, Restart
from rltop.models.money import WhatIf
from rltop.models.projection import FinalCost, Projection
from rltop.models.run import RunInfo
from rltop.models.settings import Settings
from rltop.models.step import Eval, Step
from rltop.monitor.money.book import Book
from rltop.monitor.money.ledger import Ledger
from rltop.monitor.money.pricing import resolve
from rltop.monitor.money.question import Question, Run
from rltop.monitor.money.whatif import unanswered, whatifs
from rltop.monitor.reduce import close, reduce
from rltop.monitor.state import RunState

BOOK = Book.load()
JANUARY_6 = 1_767_700_000.0
QWEN = RunInfo(
    framework="tinker",
    platform="tinker",
    algorithm="rl",
    model="Qwen/Qwen3-4B-Instruct-2507",
    group_size=8,
    lora_rank=32,
)
VERL = QWEN.model_copy(
    update={"framework": "verl", "platform": "self-hosted", "gpus": 8, "gpu_type": "B200", "lora_rank": 0}
)
STEP = Step(
    step=0,
    sampled_tokens=10e6,
    prefill_tokens=20e6,
    trained_tokens=30e6 - 10_000,
    episodes=10_000,
    turns=10_000,
    duration_s=3600,
)
MEASURED = STEP.model_copy(update={"mfu_whole_step": 0.02})


def run_of(info: RunInfo, events: Sequence[Event], projection: Projection | None = None) -> Run:
    state = RunState(info=info)
    for event in events:
        state = reduce(state, event)
    state = close(state)
    ledger = Ledger(resolve(state.info, Settings(), JANUARY_6, BOOK))
    for evaluation in state.history.evals:
        ledger.add_eval(evaluation)
    costs = [ledger.add_step(state.history.row(index)) for index in range(state.closed)]
    return Run(
        state=state,
        info=state.info,
        settings=Settings(),
        ledger=ledger,
        bill=ledger.bill(state, None),
        projection=projection or Projection(),
        spent_usd=list(accumulate(cost.usd or 0.0 for cost in costs)),
        priced_at=JANUARY_6,
    )


def named(found: Sequence[WhatIf], name: str) -> WhatIf:
    return next(one for one in found if one.name == name)


def names(found: Sequence[WhatIf]) -> list[str]:
    return [one.name for one in found]


def test_a_cached_group_prompt_saves_seven_eighths_of_four_fifths_of_the_prefill() -> None:
    run = run_of(QWEN, [STEP])
    found = named(whatifs(run, BOOK), "group-cached")
    assert found.difference_usd == pytest.approx(-20 * 0.07 * 7 / 8 * 0.8)
    assert found.usd == pytest.approx((run.bill.spent_usd or 0) + found.difference_usd)


def test_a_run_that_is_billed_for_cached_tokens_is_not_asked_what_caching_would_save() -> None:
    run = run_of(QWEN, [STEP.model_copy(update={"prefill_cached_tokens": 1e6})])
    assert not {"group-cached", "turns-cached"} & set(names(whatifs(run, BOOK)))


def test_cached_turns_leave_the_last_context_to_be_paid_in_full() -> None:
    # Ten episodes of three turns: contexts of 1000, 1200 and 1400 tokens, replies of 100.
    step = Step(
        step=0,
        sampled_tokens=3000,
        prefill_tokens=36_000,
        trained_tokens=10 * (1400 + 100 - 1),
        episodes=10,
        turns=30,
    )
    run = run_of(QWEN.model_copy(update={"multi_turn": True}), [step])
    found = named(whatifs(run, BOOK), "turns-cached")
    assert found.difference_usd == pytest.approx(-(36_000 - 14_000) * 0.8 * 0.07e-6)


def test_a_bound_on_trained_tokens_is_not_taken_for_the_last_context() -> None:
    step = Step(
        step=0, sampled_tokens=3000, prefill_tokens=36_000, trained_tokens=38_990, trained_upper_bound=True,
        episodes=10, turns=30,
    )  # fmt: skip
    found = named(whatifs(run_of(QWEN, [step]), BOOK), "turns-cached")
    assert found.difference_usd == pytest.approx(-36_000 * (1 - 2 / 4) * 0.8 * 0.07e-6)


def test_a_self_hosted_run_is_priced_on_tinker() -> None:
    run = run_of(VERL, [STEP])
    found = named(whatifs(run, BOOK), "on-tinker")
    assert found.usd == pytest.approx(10 * 0.22 + 20 * 0.07 + (30 - 0.01) * 0.22)
    assert found.difference_usd == pytest.approx(found.usd - 40)


def test_the_break_even_mfu_of_a_self_hosted_run_follows_from_its_own() -> None:
    found = whatifs(run_of(VERL, [MEASURED]), BOOK)
    tinker = named(found, "on-tinker").usd
    assert f"{100 * 0.02 * 40 / tinker:.1f} %" in named(found, "break-even-mfu").label


def test_a_tinker_run_is_priced_on_gpus_at_the_usual_mfu() -> None:
    found = named(whatifs(run_of(QWEN, [STEP]), BOOK), "on-gpus")
    # 8 FLOPs per parameter (adapters, no reference pass) over 30 M tokens at a tenth of the peak.
    linear = 8 * 4.022e9 * 30e6 / (2250e12 * 0.1) / 3600 * 5
    assert found.usd == pytest.approx(linear, rel=0.15)
    assert found.usd > linear


def test_a_given_mfu_and_price_are_used() -> None:
    run = run_of(QWEN, [STEP])
    usual = named(whatifs(run, BOOK), "on-gpus")
    given = named(whatifs(run, BOOK, Question(mfu=0.2, usd_per_gpu_hour=10)), "on-gpus")
    assert given.usd == pytest.approx(usual.usd)
    assert "20 %" in given.how


def test_a_model_of_unknown_size_has_no_figure_on_gpus() -> None:
    info = QWEN.model_copy(update={"model": "thinkingmachines/Inkling"})
    assert "on-gpus" not in names(whatifs(run_of(info, [STEP]), BOOK))


def test_half_the_evaluations_save_half_of_their_dollars() -> None:
    tokens = run_of(QWEN, [Eval(step=0, sampled_tokens=1e6, prefill_tokens=1e6), STEP])
    assert named(whatifs(tokens, BOOK), "half-evals").difference_usd == pytest.approx(-0.145)
    hours = run_of(VERL, [STEP.model_copy(update={"phases": {"eval": 900.0}})])
    assert named(whatifs(hours, BOOK), "half-evals").difference_usd == pytest.approx(-5)


def test_stopping_is_measured_against_the_projected_end() -> None:
    projection = Projection(final_usd=FinalCost(p10=50, p50=60, p90=90))
    steps = [STEP.model_copy(update={"step": number}) for number in range(3)]
    run = run_of(QWEN, steps, projection)
    spent = run.bill.spent_usd or 0.0
    found = whatifs(run, BOOK, Question(plateau_step=1))
    assert named(found, "stop-now").difference_usd == pytest.approx(spent - 60)
    assert named(found, "stop-at-plateau").usd == pytest.approx(spent * 2 / 3)


def test_a_run_that_is_over_cannot_be_stopped_but_could_have_been() -> None:
    steps = [STEP.model_copy(update={"step": number}) for number in range(3)]
    run = run_of(QWEN, [*steps, Ended(status="finished")])
    found = whatifs(run, BOOK, Question(plateau_step=0))
    assert "stop-now" not in names(found)
    assert named(found, "stop-at-plateau").difference_usd == pytest.approx(-(run.bill.spent_usd or 0) * 2 / 3)


def test_a_run_is_stopped_when_it_first_gets_there_and_not_when_it_does_again() -> None:
    steps = [STEP.model_copy(update={"step": number}) for number in (0, 1, 2)]
    again = [STEP.model_copy(update={"step": number, "attempt": 1}) for number in (1, 2)]
    run = run_of(QWEN, [*steps, Restart(attempt=1, from_step=1), *again, Ended(status="finished")])
    found = named(whatifs(run, BOOK, Question(plateau_step=1)), "stop-at-plateau")
    assert found.usd == pytest.approx((run.bill.spent_usd or 0) * 2 / 5)


def test_a_run_that_has_not_gone_past_a_step_is_not_stopped_there_and_says_so() -> None:
    run, asked = run_of(QWEN, [STEP, Ended(status="finished")]), Question(plateau_step=0)
    assert "stop-at-plateau" not in names(whatifs(run, BOOK, asked))
    assert unanswered(run, BOOK, asked) == (
        "nothing to say of stopping at step 0: the run has not gone past it",
    )


def test_a_self_hosted_run_is_asked_about_its_own_gpus_at_another_mfu() -> None:
    run = run_of(VERL, [MEASURED])
    assert "on-gpus" not in names(whatifs(run, BOOK))
    once = named(whatifs(run, BOOK, Question(mfu=0.1)), "on-gpus")
    twice = named(whatifs(run, BOOK, Question(mfu=0.2)), "on-gpus")
    assert once.label == "the same tokens on 8 × B200"
    assert once.usd == pytest.approx(2 * twice.usd)


def test_the_users_price_of_a_type_is_used_for_it() -> None:
    run = replace(run_of(QWEN, [STEP]), settings=Settings(gpu_prices={"NVIDIA H100": 1.25}))
    assert "$1.25 per GPU-hour" in named(whatifs(run, BOOK, Question(gpu_type="H100")), "on-gpus").how


@pytest.mark.parametrize(
    ("model", "gpu", "why"),
    [
        (QWEN.model, "H20", "no price for an hour of H20: give --usd-per-gpu-hour"),
        (QWEN.model, "Abacus", "nothing to say of Abacus: its peak FLOP/s is not known"),
        ("thinkingmachines/Inkling", "B200", "the size of thinkingmachines/Inkling is not known"),
    ],
)
def test_gpus_that_were_asked_about_in_vain_are_named_with_the_reason(model: str, gpu: str, why: str) -> None:
    run = run_of(QWEN.model_copy(update={"model": model}), [STEP])
    (line,) = unanswered(run, BOOK, Question(gpu_type=gpu))
    assert why in line


def test_an_unpriced_run_has_no_what_ifs() -> None:
    assert whatifs(run_of(QWEN.model_copy(update={"model": "tiny/unlisted"}), [STEP]), BOOK) == ()
