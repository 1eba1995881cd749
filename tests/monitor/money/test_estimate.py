"""The pre-run estimate: the published calculator's figures, and what it does beyond them."""

from argparse import ArgumentParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rltop.models.estimate import Estimate, EstimateInputs
from rltop.models.money import MeterName
from rltop.models.run import RunInfo
from rltop.models.step import Step
from rltop.monitor.money.book import Book
from rltop.monitor.money.estimate import estimate
from rltop.monitor.money.estimate_args import InputError, add_arguments, from_args
from rltop.monitor.money.measured import measured_inputs
from rltop.monitor.money.volume import mean_length
from rltop.monitor.reduce import close, reduce
from rltop.monitor.state import RunState

BOOK = Book.load()
GSM8K = (
    "--model Qwen/Qwen3-4B-Instruct-2507 --prices 2026-01-05 --groups 128 --group-size 8 "
    "--prompt-tokens 100 --response-tokens 512 --growth 1.2 --steps 59"
)
MATH = GSM8K.replace("100", "150").replace("512", "800").replace("1.2", "1.4").replace("59", "94")
B200 = " --gpus 8 --gpu-type B200 --usd-per-gpu-hour 5 --mfu 0.10"


def asked(flags: str) -> Estimate:
    return estimate(inputs(flags), BOOK)


def inputs(flags: str) -> EstimateInputs:
    parser = ArgumentParser()
    add_arguments(parser)
    return from_args(parser.parse_args(flags.split()))


def usd(answer: Estimate) -> float:
    assert answer.tinker is not None
    return answer.tinker.usd.p50


def tokens(answer: Estimate, name: MeterName) -> float:
    assert answer.tinker is not None
    return next((meter.tokens or 0.0 for meter in answer.tinker.meters if meter.name == name), 0.0)


def test_the_published_calculator_says_15_39() -> None:
    answer = asked(GSM8K + " --accounting published")
    assert usd(answer) == pytest.approx(15.39, abs=0.005)
    assert tokens(answer, "sample") / 1e6 == pytest.approx(34.0, abs=0.05)
    assert tokens(answer, "train") / 1e6 == pytest.approx(34.0, abs=0.05)
    assert tokens(answer, "prefill") / 1e6 == pytest.approx(6.0, abs=0.05)


def test_counting_trained_tokens_as_they_are_billed_it_is_16_71() -> None:
    assert usd(asked(GSM8K)) == pytest.approx(16.71, abs=0.005)


def test_the_second_published_run_is_41_67_with_the_group_factor_in_its_prefill() -> None:
    answer = asked(MATH + " --accounting published")
    assert usd(answer) == pytest.approx(41.67, abs=0.005)
    assert tokens(answer, "sample") / 1e6 == pytest.approx(92.4, abs=0.05)
    assert tokens(answer, "prefill") / 1e6 == pytest.approx(14.4, abs=0.05)


def test_the_range_is_what_growth_has_been_measured_to_do() -> None:
    answer = asked(GSM8K)
    assert answer.tinker is not None
    for figure, factor in ((answer.tinker.usd.p10, 0.52), (answer.tinker.usd.p90, 2.04)):
        same = asked(GSM8K.replace("--growth 1.2", f"--growth {1.2 * factor}"))
        assert figure == pytest.approx(usd(same))


def test_twelve_evaluations_are_planned_for_59_steps_at_every_fifth() -> None:
    answer = asked(GSM8K + " --eval-every 5 --eval-problems 1319 --turns 1 --tokens-per-turn 0")
    assert tokens(answer, "eval_sample") == pytest.approx(12 * 1319 * 512 * 1.1)
    assert tokens(answer, "eval_prefill") == pytest.approx(12 * 1319 * 100)


def test_steps_follow_from_the_data_set() -> None:
    flags = GSM8K.replace("--steps 59", "--dataset-size 7473")
    assert inputs(flags).steps == 59
    assert inputs(flags + " --epochs 2").steps == 118


def test_prefill_grows_with_the_square_of_the_turns() -> None:
    flags = (
        "--model Qwen/Qwen3-32B --prices 2026-01-05 --groups 128 --group-size 8 --steps 200 "
        "--prompt-tokens 3000 --response-tokens 300 --turns 25 --tokens-per-turn 900"
    )
    answer = asked(flags)
    assert tokens(answer, "prefill") == pytest.approx(70.6e9, rel=0.002)
    assert tokens(answer, "train") == pytest.approx(204_800 * (3000 + 24 * 900 + 300 - 1))


def test_across_turns_only_what_is_new_is_paid_for_in_full() -> None:
    flags = (
        "--model Qwen/Qwen3-8B --prices 2026-08-01 --groups 1 --group-size 4 --steps 1 --prompt-tokens 1000 "
        "--response-tokens 100 --turns 3 --tokens-per-turn 200"
    )
    whole = 4 * (3 * 1000 + 3 * 200)
    for caching, new in (
        ("none", whole),
        ("turns", 4 * (1000 + 2 * 200)),
        ("group", whole - 3 * 3 * 1000),
        ("both", 4 * (250 + 2 * 200)),
    ):
        answer = asked(f"{flags} --caching {caching}")
        assert tokens(answer, "prefill") == pytest.approx(new)
        assert tokens(answer, "prefill_cached") == pytest.approx(whole - new)


def test_caching_saves_nothing_where_cached_tokens_had_no_rate() -> None:
    answer = asked(GSM8K + " --caching group")
    assert usd(answer) == pytest.approx(16.71, abs=0.005)
    assert any("had no rate of their own" in note for note in answer.notes)


def test_self_hosted_is_the_flops_of_all_phases_over_what_the_gpus_give() -> None:
    answer = asked(GSM8K + B200)
    assert answer.self_hosted is not None
    assert answer.self_hosted.usd is not None
    # 12 FLOPs per parameter over 40.07 M tokens take 17.9 minutes; attention adds 2 %.
    assert answer.self_hosted.hours.p50 * 60 == pytest.approx(17.9 * 1.02, rel=0.01)
    assert answer.self_hosted.gpu_hours.p50 == pytest.approx(8 * answer.self_hosted.hours.p50)
    assert answer.self_hosted.usd.p50 == pytest.approx(5 * answer.self_hosted.gpu_hours.p50)


def test_adapters_and_no_reference_pass_take_less() -> None:
    full, lora = asked(GSM8K + B200), asked(GSM8K + B200 + " --lora-rank 32")
    without = asked(GSM8K + B200 + " --lora-rank 32 --no-reference-pass")
    hours = [answer.self_hosted.hours.p50 for answer in (full, lora, without) if answer.self_hosted]
    assert hours[1] / hours[0] == pytest.approx(10 / 12, rel=0.01)
    assert hours[2] / hours[0] == pytest.approx(8 / 12, rel=0.01)


def test_at_the_break_even_mfu_both_platforms_cost_the_same() -> None:
    answer = asked(GSM8K + B200)
    assert answer.break_even_mfu is not None
    again = asked(GSM8K + B200.replace("0.10", str(answer.break_even_mfu)))
    assert again.self_hosted is not None
    assert again.self_hosted.usd is not None
    assert again.self_hosted.usd.p50 == pytest.approx(usd(again))


def test_without_gpus_there_is_no_self_hosted_side() -> None:
    assert asked(GSM8K).self_hosted is None


@pytest.mark.parametrize(
    ("flags", "note"),
    [
        (" --gpus 8", "self-hosted: give --gpus and --gpu-type"),
        (" --gpus 8 --gpu-type Abacus", "self-hosted: the peak of Abacus is not known"),
    ],
)
def test_what_keeps_a_side_from_being_told_is_said(flags: str, note: str) -> None:
    answer = asked(GSM8K + flags)
    assert answer.self_hosted is None
    assert note in answer.notes


def test_hardware_without_a_public_price_has_hours_but_no_dollars() -> None:
    answer = asked(GSM8K + " --gpus 8 --gpu-type H20")
    assert answer.self_hosted is not None
    assert answer.self_hosted.usd is None
    assert "self-hosted: no price for an hour of H20, give --usd-per-gpu-hour" in answer.notes


def test_an_unlisted_model_has_no_tinker_side_and_says_how_to_price_it() -> None:
    flags = GSM8K.replace("Qwen/Qwen3-4B-Instruct-2507", "tiny/unlisted")
    answer = asked(flags + B200)
    assert answer.tinker is None
    assert answer.self_hosted is None
    assert any("--price" in note for note in answer.notes)
    assert any("--active-params-b" in note for note in answer.notes)
    given_both = asked(flags + B200 + " --price 0.07,0.22,0.22 --active-params-b 4")
    assert usd(given_both) == pytest.approx(16.71, abs=0.005)
    assert given_both.self_hosted is not None


def test_the_answer_is_json_of_the_agreed_shape() -> None:
    answer = asked(GSM8K + B200).model_dump(mode="json")
    assert answer.keys() >= {"tinker", "self_hosted", "inputs"}
    assert answer["tinker"]["usd"].keys() == {"p10", "p50", "p90"}
    assert answer["tinker"]["meters"][0].keys() == {"name", "tokens", "hours", "usd"}
    assert answer["self_hosted"].keys() == {"usd", "gpu_hours", "hours"}
    assert answer["inputs"]["groups"] == 128
    assert asked(GSM8K).model_dump(mode="json")["self_hosted"] is None


def test_flags_beat_the_file_and_the_file_beats_the_run(tmp_path: Path) -> None:
    file = tmp_path / "plan.toml"
    file.write_text('model = "Qwen/Qwen3-8B"\ngroup-size = 4\nsteps = 10\nprice = "1,2,3"\n')
    parser = ArgumentParser()
    add_arguments(parser)
    args = parser.parse_args(["--config", str(file), "--steps", "20"])
    run = {"group_size": 2, "groups": 7, "prompt_tokens": 10, "response_tokens": 20, "steps": 5}
    plan = from_args(args, run)
    assert (plan.steps, plan.group_size, plan.groups) == (20, 4, 7)
    assert plan.price is not None
    assert plan.price.sample == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("model = ", "not TOML"),
        ("modell = 1", "unknown name: modell"),
        ('price = "dear"', "price: three or four numbers"),
        ('groups = "many"', "--groups"),
    ],
)
def test_a_file_that_cannot_be_used_is_told_in_one_line(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "plan.toml"
    file.write_text(text)
    with pytest.raises(InputError, match=said) as raised:
        inputs(f"--config {file}")
    assert "\n" not in str(raised.value)


def test_missing_inputs_are_named_by_their_flags() -> None:
    with pytest.raises(InputError, match=r"give --group-size, .*--steps \(or --dataset-size\)"):
        inputs("--model Qwen/Qwen3-8B --groups 8")


def test_impossible_inputs_are_refused() -> None:
    with pytest.raises(InputError, match="--mfu"):
        inputs(GSM8K + " --mfu 10")


def test_a_finished_run_gives_the_inputs_for_the_next() -> None:
    info = RunInfo(model="Qwen/Qwen3-4B-Instruct-2507", group_size=8, eval_every=5)
    state = RunState(info=info)
    for number in range(20):
        mean = 500.0 + 10 * number
        step = Step(
            step=number,
            episodes=1024,
            turns=1024,
            response_length_mean=mean,
            sampled_tokens=1024 * mean,
            prefill_tokens=1024 * 178,
            trained_tokens=1024 * (mean + 177),
        )
        state = reduce(state, step)
    state = close(state)
    plan = EstimateInputs.model_validate(measured_inputs(state, info))
    assert (plan.groups, plan.group_size, plan.steps) == (128, 8, 20)
    answer = estimate(plan, BOOK)
    sampled = sum(1024 * (500.0 + 10 * number) for number in range(20))
    assert tokens(answer, "sample") == pytest.approx(sampled)
    assert tokens(answer, "prefill") == pytest.approx(20 * 1024 * 178)


@given(response=st.floats(1, 1e4), growth=st.floats(0.05, 20), cap=st.one_of(st.none(), st.floats(1, 1e5)))
def test_the_mean_length_lies_between_the_ends_and_under_the_cap(
    response: float, growth: float, cap: float | None
) -> None:
    mean = mean_length(response, growth, cap)
    assert mean <= max(response, response * growth) * (1 + 1e-9)
    assert cap is None or mean <= cap * (1 + 1e-9)
    assert mean >= min(response, response * growth, cap or 1e9) * (1 - 1e-9)


@given(growth=st.floats(0.1, 10), turns=st.integers(1, 30))
def test_more_growth_never_costs_less(growth: float, turns: int) -> None:
    answer = asked(GSM8K.replace("--growth 1.2", f"--growth {growth}") + f" --turns {turns}{B200}")
    assert answer.tinker is not None
    assert answer.self_hosted is not None
    assert answer.tinker.usd.p10 <= answer.tinker.usd.p50 <= answer.tinker.usd.p90
    assert answer.self_hosted.hours.p10 <= answer.self_hosted.hours.p50 <= answer.self_hosted.hours.p90
