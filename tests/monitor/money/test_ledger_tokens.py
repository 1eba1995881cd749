"""Bills of runs that are billed by the token."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rltop.models.event import Event, Restart, Totals
from rltop.models.money import Bill, MeterName, StepCost
from rltop.models.run import RunInfo
from rltop.models.settings import Settings, TokenRates
from rltop.models.step import Eval, Step

BillOf = Callable[..., tuple[Bill, list[StepCost]]]

QWEN = RunInfo(
    framework="tinker",
    platform="tinker",
    algorithm="rl",
    model="Qwen/Qwen3-4B-Instruct-2507",
    max_tokens=2048,
)
UNLISTED = QWEN.model_copy(update={"model": "tiny/unlisted"})
OWN = TokenRates(prefill=0.195, prefill_cached=0.039, sample=0.6, train=0.44)


def published(steps: int, ac: float, ob: float, evals: int, eval_ac: float, eval_ob: float) -> list[Event]:
    """A run of 1,024 episodes a step, spread evenly, from the totals of a published bill."""
    every = -(-steps // evals)
    events: list[Event] = []
    for step in range(steps):
        if step % every == 0:
            events.append(Eval(step=step, sampled_tokens=eval_ac / evals, prefill_tokens=eval_ob / evals))
        events.append(
            Step(
                step=step,
                sampled_tokens=ac / steps,
                prefill_tokens=ob / steps,
                trained_tokens=(ac + ob) / steps - 1024,
                episodes=1024,
            )
        )
    return events


def usd(bill: Bill, name: MeterName) -> float | None:
    return next((meter.usd for meter in bill.meters if meter.name == name), None)


def tokens(bill: Bill, name: MeterName) -> float | None:
    return next((meter.tokens for meter in bill.meters if meter.name == name), None)


def step(number: int, **more: float) -> Step:
    known = {"sampled_tokens": 1e6, "prefill_tokens": 2e6, "trained_tokens": 3e6, "episodes": 1000.0}
    return Step.model_validate({"step": number, **known, **more})


def test_the_published_gsm8k_run_comes_to_12_97(bill_of: BillOf) -> None:
    bill, _ = bill_of(QWEN, published(59, 19.3e6, 10.7e6, 12, 5.4e6, 12 * 1319 * 178))
    assert bill.basis == "metered"
    assert bill.spent_usd == pytest.approx(12.97, abs=0.005)
    assert usd(bill, "eval_sample") == pytest.approx(1.188)
    assert tokens(bill, "sample") == pytest.approx(19.3e6)


def test_the_published_math_run_comes_to_37_03(bill_of: BillOf) -> None:
    bill, _ = bill_of(QWEN, published(94, 68.5e6, 18.4e6, 19, 75.1e6 - 68.5e6, 20.2e6 - 18.4e6))
    assert bill.spent_usd == pytest.approx(37.03, abs=0.005)


def test_a_bill_names_its_price_list(bill_of: BillOf) -> None:
    bill, _ = bill_of(QWEN, [step(0)])
    assert bill.price_book is not None
    assert bill.price_book.date == "2026-01-05"


def test_evaluations_are_not_part_of_a_steps_own_dollars(bill_of: BillOf) -> None:
    _, (plain, tested) = bill_of(QWEN, [step(0), Eval(step=1, sampled_tokens=5e5), step(1)])
    assert tested.usd == plain.usd
    assert plain.eval_usd is None
    assert tested.eval_usd == pytest.approx(0.11)


def test_a_step_that_runs_again_is_paid_for_again(bill_of: BillOf) -> None:
    events = [
        step(0),
        step(1),
        step(2),
        Restart(from_step=1, attempt=1),
        step(1, attempt=1),
        step(2, attempt=1),
    ]
    bill, costs = bill_of(QWEN, [*events, step(3, attempt=1)])
    assert bill.spent_usd == pytest.approx(6 * (0.22 + 0.14 + 0.66))
    assert [cost.repeated for cost in costs] == [False, False, False, True, True, False]


def test_without_a_price_the_meters_run_and_one_line_says_how_to_give_one(bill_of: BillOf) -> None:
    bill, costs = bill_of(UNLISTED, [step(0)])
    assert (bill.basis, bill.spent_usd, costs[0].usd) == ("unpriced", None, None)
    assert tokens(bill, "train") == 3e6
    assert bill.notes[0] == (
        "no price for tiny/unlisted: give --price PREFILL,SAMPLE,TRAIN (USD per million tokens)"
    )


def test_the_users_price_beats_the_book(bill_of: BillOf) -> None:
    bill, _ = bill_of(QWEN, [step(0)], settings=Settings(token_rates=OWN))
    assert bill.spent_usd == pytest.approx(0.6 + 0.39 + 1.32)
    assert bill.price_book is None


def test_cached_prompt_tokens_cost_their_own_rate_where_there_is_one(bill_of: BillOf) -> None:
    bill, _ = bill_of(UNLISTED, [step(0, prefill_cached_tokens=1e6)], settings=Settings(token_rates=OWN))
    assert usd(bill, "prefill_cached") == pytest.approx(0.039)
    without = OWN.model_copy(update={"prefill_cached": None})
    bill, _ = bill_of(UNLISTED, [step(0, prefill_cached_tokens=1e6)], settings=Settings(token_rates=without))
    assert usd(bill, "prefill_cached") == pytest.approx(0.195)


def test_prefill_is_called_an_upper_bound_where_cache_hits_are_cheaper_but_not_logged(
    bill_of: BillOf,
) -> None:
    info = QWEN.model_copy(update={"model": "Qwen/Qwen3-8B"})
    bill, _ = bill_of(info, [step(0)], settings=Settings(prices_date="2026-08-01"))
    assert any(note.startswith("prefill is an upper bound") for note in bill.notes)
    bill, _ = bill_of(info, [step(0)])
    assert not any(note.startswith("prefill is an upper bound") for note in bill.notes)


def test_the_cap_raises_what_is_sampled_and_trained(bill_of: BillOf) -> None:
    _, (cost,) = bill_of(QWEN, [step(0)])
    assert cost.usd == pytest.approx(1.02)
    assert cost.usd_at_cap == pytest.approx(1.02 + (1000 * 2048 - 1e6) * 0.44e-6)


def test_the_cap_counts_per_turn(bill_of: BillOf) -> None:
    _, (cost,) = bill_of(QWEN, [step(0, turns=3000)])
    assert cost.usd_at_cap == pytest.approx(1.02 + (3000 * 2048 - 1e6) * 0.44e-6)


def test_supervised_training_pays_for_trained_tokens_alone(bill_of: BillOf) -> None:
    info = RunInfo(platform="tinker", algorithm="sft", model="meta-llama/Llama-3.2-1B")
    bill, _ = bill_of(info, [Step(step=0, trained_tokens=1e6)])
    assert bill.spent_usd == pytest.approx(0.09)
    assert [meter.name for meter in bill.meters] == ["train"]
    assert not any("which the log does not count" in note for note in bill.notes)


def test_a_preference_run_names_the_reference_pass_that_its_log_leaves_out(bill_of: BillOf) -> None:
    info = RunInfo(platform="tinker", algorithm="dpo", model="Qwen/Qwen3-8B")
    bill, _ = bill_of(info, [Step(step=0, trained_tokens=1e6)])
    assert bill.spent_usd == pytest.approx(0.40)
    assert any("reference model's scoring" in note for note in bill.notes)


def test_a_teacher_scores_at_its_own_price(bill_of: BillOf) -> None:
    info = QWEN.model_copy(update={"algorithm": "distill", "teacher_model": "Qwen/Qwen3-32B"})
    bill, _ = bill_of(info, [step(0, scored_tokens=1e6)])
    assert usd(bill, "scoring") == pytest.approx(0.49)


def test_a_teacher_without_a_price_is_named_and_left_out(bill_of: BillOf) -> None:
    info = QWEN.model_copy(update={"algorithm": "distill", "teacher_model": "tiny/teacher"})
    bill, _ = bill_of(info, [step(0, scored_tokens=1e6)])
    assert bill.spent_usd == pytest.approx(1.02)
    assert tokens(bill, "scoring") == 1e6
    assert "left out: the teacher's scoring (1.00M tokens), no price for tiny/teacher" in bill.notes


def test_a_bound_on_trained_tokens_is_called_one(bill_of: BillOf) -> None:
    bill, _ = bill_of(QWEN, [step(0).model_copy(update={"trained_upper_bound": True})])
    assert any(note.startswith("trained tokens are an upper bound") for note in bill.notes)


def test_a_log_without_token_counts_is_unpriced_and_says_why(bill_of: BillOf) -> None:
    bill, _ = bill_of(QWEN, [Step(step=0, reward_mean=0.5)])
    assert (bill.basis, bill.spent_usd) == ("unpriced", None)
    assert bill.notes[0] == "the log has no token counts: there is nothing to price"


def logged(number: int, dollars: float, **more: float) -> list[Event]:
    """A step with the framework's own dollars, and its running total, as if nothing had gone before."""
    return [step(number, logged_usd=dollars, **more), Totals(step=number, spent_usd=dollars * (number + 1))]


def test_the_frameworks_own_dollars_are_the_basis_where_it_logs_them(bill_of: BillOf) -> None:
    bill, costs = bill_of(QWEN, [*logged(0, 1.03), *logged(1, 1.03)])
    assert bill.basis == "logged"
    assert bill.spent_usd == pytest.approx(2.06)
    assert costs[0].usd == 1.03
    assert sum(meter.usd or 0 for meter in bill.meters) == pytest.approx(2.06)
    assert "by our own meters $2.04 (0.97 % off)" in bill.notes


def test_evaluations_are_added_to_the_frameworks_dollars(bill_of: BillOf) -> None:
    bill, _ = bill_of(QWEN, [Eval(step=0, sampled_tokens=1e6), *logged(0, 1.02)])
    assert bill.spent_usd == pytest.approx(1.24)


def test_evaluations_that_cannot_be_priced_are_named(bill_of: BillOf) -> None:
    bill, _ = bill_of(UNLISTED, [Eval(step=0, sampled_tokens=1e6), *logged(0, 1.02)])
    assert bill.spent_usd == pytest.approx(1.02)
    assert usd(bill, "unsplit") == pytest.approx(1.02)
    assert any(note.startswith("left out: evaluations (1.00M tokens)") for note in bill.notes)


def test_discarded_work_is_what_the_framework_says_it_is(bill_of: BillOf) -> None:
    events = [step(0, logged_usd=1.02), Totals(step=0, spent_usd=1.32, discarded_usd=0.30)]
    bill, _ = bill_of(QWEN, events)
    assert bill.spent_usd == pytest.approx(1.32)
    assert usd(bill, "discarded") == pytest.approx(0.30)


def test_what_a_resume_took_out_of_the_frameworks_total_was_paid_for_all_the_same(bill_of: BillOf) -> None:
    first = [step(n, logged_usd=1.0) for n in range(3)]
    again = [step(n, logged_usd=1.0, attempt=1) for n in (1, 2)]
    events = [*first, Restart(from_step=1, attempt=1), *again, Totals(step=2, spent_usd=3.0)]
    bill, _ = bill_of(UNLISTED, events)
    assert bill.spent_usd == pytest.approx(5.0)


def test_a_total_that_reaches_further_back_than_the_log_is_believed(bill_of: BillOf) -> None:
    bill, _ = bill_of(QWEN, [step(50, logged_usd=1.0), Totals(step=50, spent_usd=51.0)])
    assert bill.spent_usd == pytest.approx(51.0)
    assert sum(meter.usd or 0 for meter in bill.meters) == pytest.approx(51.0)


COUNT = st.one_of(st.none(), st.floats(0, 1e9))
STEPS = st.lists(
    st.fixed_dictionaries(
        {
            "sampled_tokens": COUNT,
            "prefill_tokens": COUNT,
            "prefill_cached_tokens": COUNT,
            "trained_tokens": COUNT,
            "scored_tokens": COUNT,
            "discarded_sampled_tokens": COUNT,
            "eval": COUNT,
        }
    ),
    min_size=1,
    max_size=8,
)


def drawn(run: list[dict[str, float | None]]) -> list[Event]:
    events: list[Event] = []
    for number, given_counts in enumerate(run):
        counts = {name: value for name, value in given_counts.items() if value is not None}
        if (sampled := counts.pop("eval", None)) is not None:
            events.append(Eval(step=number, sampled_tokens=sampled, prefill_tokens=sampled / 2))
        events.append(Step.model_validate({"step": number, **counts}))
    return events


@given(run=STEPS)
def test_dollars_add_up_over_meters_and_over_steps(
    bill_of: BillOf, run: list[dict[str, float | None]]
) -> None:
    bill, costs = bill_of(QWEN, drawn(run), settings=Settings(token_rates=OWN))
    by_meter = sum(meter.usd or 0.0 for meter in bill.meters)
    by_step = sum((cost.usd or 0.0) + (cost.eval_usd or 0.0) for cost in costs)
    assert by_meter == pytest.approx(bill.spent_usd or 0.0, abs=0.005)
    assert by_step == pytest.approx(bill.spent_usd or 0.0, abs=0.005)


ODD = st.one_of(st.none(), st.floats(allow_nan=True, allow_infinity=True))
ODD_STEPS = st.lists(
    st.fixed_dictionaries(
        {"sampled_tokens": ODD, "trained_tokens": ODD, "logged_usd": ODD, "duration_s": ODD}
    ),
    min_size=1,
    max_size=4,
)


@given(run=ODD_STEPS, total=ODD)
def test_what_cannot_be_a_count_or_an_amount_is_left_out(
    bill_of: BillOf, run: list[dict[str, float | None]], total: float | None
) -> None:
    bill, costs = bill_of(QWEN, [*drawn(run), Totals(spent_usd=total, discarded_usd=total)])
    figures = [meter.usd for meter in bill.meters] + [cost.usd for cost in costs] + [bill.spent_usd]
    assert all(figure is None or 0 <= figure < float("inf") for figure in figures)


@given(run=STEPS)
def test_no_meter_is_ever_negative(bill_of: BillOf, run: list[dict[str, float | None]]) -> None:
    bill, _ = bill_of(QWEN, drawn(run), settings=Settings(token_rates=OWN))
    assert all((meter.usd or 0.0) >= 0 and (meter.tokens or 0.0) >= 0 for meter in bill.meters)


@given(run=STEPS)
def test_a_doubled_price_doubles_the_bill(bill_of: BillOf, run: list[dict[str, float | None]]) -> None:
    doubled = TokenRates(prefill=0.39, prefill_cached=0.078, sample=1.2, train=0.88)
    once, _ = bill_of(QWEN, drawn(run), settings=Settings(token_rates=OWN))
    twice, _ = bill_of(QWEN, drawn(run), settings=Settings(token_rates=doubled))
    if once.spent_usd is None:
        assert twice.spent_usd is None
    else:
        assert twice.spent_usd == pytest.approx(2 * once.spent_usd)
