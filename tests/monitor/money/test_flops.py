"""FLOPs and MFU against the published runs and hand sums."""

import pytest

from rltop.models.run import RunInfo
from rltop.models.step import PhaseName, Step
from rltop.monitor.history import History, Row
from rltop.monitor.money.book import Book
from rltop.monitor.money.cards import card_of
from rltop.monitor.money.flops import corrected_mfu, phase_mfu, step_flops, whole_step_mfu, work_of

BOOK = Book.load()
VERL = RunInfo(
    framework="verl",
    algorithm="rl",
    model="Qwen/Qwen3-4B-Instruct-2507",
    gpus=8,
    gpu_type="B200",
    lora_rank=32,
    reference_pass=True,
)
FULL = VERL.model_copy(update={"lora_rank": 0})
PEAK = 8 * 2250e12


def row_of(tokens: float, seconds: float, phases: dict[PhaseName, float] | None = None) -> Row:
    history = History()
    step = Step(step=0, total_tokens=tokens, episodes=1024, duration_s=seconds, phases=phases or {})
    return history.row(history.write(step))


MATH = (1024 * (191 + 684), 119.0)
GSM8K = (1024 * (178 + 320), 118.0)


@pytest.mark.parametrize(
    ("run", "info", "percent"),
    [(MATH, VERL, 1.68), (MATH, FULL, 2.02), (GSM8K, VERL, 0.96), (GSM8K, FULL, 1.16)],
)
def test_the_published_runs_come_to_these_shares_of_the_peak(
    run: tuple[float, float], info: RunInfo, percent: float
) -> None:
    tokens, seconds = run
    card = card_of(info.model)
    assert card is not None
    without_attention = step_flops(work_of(info), card, tokens, 0) / (seconds * PEAK)
    assert 100 * without_attention == pytest.approx(percent, abs=0.01)
    whole = whole_step_mfu(row_of(tokens, seconds), info, BOOK)
    assert whole is not None
    assert 1.01 < whole / without_attention < 1.05


@pytest.mark.parametrize(("length", "percent"), [(875, 3), (2048, 7.5), (8192, 30), (32768, 120)])
def test_attention_grows_with_the_sequence(length: float, percent: float) -> None:
    card = card_of("Qwen/Qwen3-4B-Instruct-2507")
    assert card is not None
    assert 100 * card.attention_flops(length) / (2 * card.active) == pytest.approx(percent, rel=0.08)


@pytest.mark.parametrize(
    ("model", "active", "total"),
    [
        ("Qwen/Qwen3-4B-Instruct-2507", 4.02, 4.02),
        ("Qwen/Qwen3-8B", 7.57, 8.19),
        ("Qwen/Qwen3-32B", 31.98, 32.8),
        ("Qwen/Qwen3-30B-A3B", 3.04, 30.5),
        ("Qwen/Qwen3-235B-A22B-Instruct-2507", 21.6, 235.1),
        ("meta-llama/Llama-3.2-1B", 1.24, 1.24),
        ("meta-llama/Llama-3.1-8B", 7.50, 8.03),
        ("openai/gpt-oss-120b", 5.1, 116.8),
        ("moonshotai/Kimi-K2.6:peft:131072", 32, 1000),
    ],
)
def test_a_card_tells_active_and_total_parameters(model: str, active: float, total: float) -> None:
    card = card_of(model)
    assert card is not None
    assert card.active / 1e9 == pytest.approx(active, abs=0.05)
    assert card.total / 1e9 == pytest.approx(total, abs=0.05)


@pytest.mark.parametrize(
    "path",
    [
        "/data/models/Qwen3-8B",
        "/data/models/Qwen3-8B/",
        "Qwen3-8B",
        "~/.cache/huggingface/hub/models--Qwen--Qwen3-8B/snapshots/0123abc",
    ],
)
def test_a_local_path_is_known_by_its_name(path: str) -> None:
    assert card_of(path) == card_of("Qwen/Qwen3-8B")


@pytest.mark.parametrize(
    "path", ["/ckpt/my-Qwen3-8B-sft", "Qwen3-8B-v2", "thinkingmachines/Inkling", "", None]
)
def test_a_likeness_is_no_card(path: str | None) -> None:
    assert card_of(path) is None


def test_a_log_that_shows_no_reference_pass_is_not_charged_for_one() -> None:
    info = VERL.model_copy(update={"reference_pass": None})
    assert sum(work.linear for work in work_of(info).values()) == 8
    assert sum(work.linear for work in work_of(info, ["ref"]).values()) == 10


def test_a_critic_doubles_the_training_and_adds_a_pass() -> None:
    info = FULL.model_copy(update={"algorithm": "ppo"})
    assert sum(work.linear for work in work_of(info).values()) == 12 + 8


def test_evaluations_and_checkpoints_are_no_part_of_the_step() -> None:
    plain = whole_step_mfu(row_of(*MATH), VERL, BOOK)
    tested = whole_step_mfu(row_of(MATH[0], 119 + 60 + 5, {"eval": 60, "checkpoint": 5}), VERL, BOOK)
    assert plain is not None
    assert tested == pytest.approx(plain)


def test_each_phase_is_measured_against_its_own_seconds() -> None:
    shares = phase_mfu(row_of(*MATH, {"generate": 60, "update": 30}), VERL, BOOK)
    assert shares.keys() == {"generate", "update"}
    linear = 2 * 4.022e9 * MATH[0] / (60 * PEAK)
    assert shares["generate"] == pytest.approx(linear, rel=0.05)
    assert shares["update"] > 4 * shares["generate"] * 0.99


@pytest.mark.parametrize(
    "unknown",
    [{"model": "tiny/unlisted"}, {"gpu_type": "TPU v5e"}, {"gpus": None}, {"gpu_type": None}, {"gpus": 0}],
)
def test_an_unknown_model_or_gpu_gives_no_figure(unknown: dict[str, object]) -> None:
    assert whole_step_mfu(row_of(*MATH), VERL.model_copy(update=unknown), BOOK) is None


def test_more_than_the_peak_is_no_figure() -> None:
    assert whole_step_mfu(row_of(MATH[0], 0.5), VERL, BOOK) is None
    assert whole_step_mfu(row_of(MATH[0], 0.0), VERL, BOOK) is None


def test_the_logged_mfu_of_a_lora_run_is_a_third_too_high_and_more() -> None:
    corrected = corrected_mfu(0.0185, VERL, 0)
    assert corrected == pytest.approx(0.0185 * 4 * 4.022 / (6 * 4.411), rel=1e-3)


def test_the_logged_mfu_of_a_full_run_only_loses_the_embedding() -> None:
    assert corrected_mfu(0.0185, FULL, 0) == pytest.approx(0.0185 * 4.022 / 4.411, rel=1e-3)


def test_older_versions_took_attention_twice() -> None:
    old = corrected_mfu(0.1, FULL.model_copy(update={"framework_version": "0.6"}), 8192)
    new = corrected_mfu(0.1, FULL.model_copy(update={"framework_version": "0.9.1"}), 8192)
    assert old is not None
    assert new is not None
    assert old < new


@pytest.mark.parametrize("logged", [0.0, None, 1.018, float("nan")])
def test_what_cannot_be_an_mfu_is_missing(logged: float | None) -> None:
    assert corrected_mfu(logged, VERL, 875) is None
