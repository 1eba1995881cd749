"""The price book: which price holds when, and for what exactly."""

import pytest

from rltop.monitor.money.book import Book, Snapshot

BOOK = Book.load()
QWEN_4B = "Qwen/Qwen3-4B-Instruct-2507"
JANUARY_6 = 1_767_700_000.0


def test_the_january_price_of_the_validated_model_is_7_22_22_cents() -> None:
    price = BOOK.token_price(QWEN_4B, at=JANUARY_6)
    assert price is not None
    assert (price.prefill, price.sample, price.train) == (0.07, 0.22, 0.22)
    assert (price.effective_from, price.note) == ("2026-01-05", "")


def test_the_list_in_force_at_the_time_of_the_run_decides() -> None:
    days = {"2026-07-01": 0.40, "2026-07-10": 0.40, "2026-07-17": 0.60, "2026-11-29": 0.60}
    for day, sample in days.items():
        price = BOOK.token_price("Qwen/Qwen3-8B", date=day)
        assert price is not None
        assert price.sample == sample


def test_a_date_beats_the_time_of_the_run() -> None:
    price = BOOK.token_price("Qwen/Qwen3-8B", at=JANUARY_6, date="2026-08-01")
    assert price is not None
    assert price.effective_from == "2026-07-30"


def test_cached_prefill_has_a_rate_only_from_the_day_it_existed() -> None:
    before = BOOK.token_price("Qwen/Qwen3-8B", date="2026-07-14")
    after = BOOK.token_price("Qwen/Qwen3-8B", date="2026-07-15")
    assert before is not None
    assert after is not None
    assert before.prefill_cached is None
    assert after.prefill_cached == pytest.approx(0.2 * after.prefill)


def test_before_the_first_list_the_first_one_is_used_and_says_so() -> None:
    price = BOOK.token_price(QWEN_4B, date="2025-12-25")
    assert price is not None
    assert price.sample == 0.22
    assert "before 2026-01-05" in price.note


def test_a_model_that_the_list_no_longer_has_keeps_its_last_price_and_says_so() -> None:
    price = BOOK.token_price(QWEN_4B, date="2026-11-01")
    assert price is not None
    assert price.effective_from == "2026-01-05"
    assert "not in the price list of 2026-07-30" in price.note


def test_a_model_that_came_later_has_its_first_price_and_says_so() -> None:
    price = BOOK.token_price("Qwen/Qwen3.5-4B", date="2026-03-01")
    assert price is not None
    assert price.effective_from == "2026-07-02"
    assert price.note


def test_a_context_tier_is_a_model_of_its_own() -> None:
    short = BOOK.token_price("moonshotai/Kimi-K2.6", date="2026-08-01")
    long = BOOK.token_price("moonshotai/Kimi-K2.6:peft:131072", date="2026-08-01")
    assert short is not None
    assert long is not None
    assert (short.sample, long.sample) == (5.49, 12.81)


@pytest.mark.parametrize(
    "model", ["Qwen3-4B-Instruct-2507", "qwen/qwen3-8b", "Qwen/Qwen3-8B:peft:9", "", "x"]
)
def test_an_id_that_is_not_exactly_in_the_book_has_no_price(model: str) -> None:
    assert BOOK.token_price(model) is None


def test_a_price_that_was_never_found_is_unknown_and_not_nought() -> None:
    price = BOOK.token_price("thinkingmachines/Inkling-Small:peft:262144")
    assert price is not None
    assert price.train is None


def test_every_row_of_every_list_is_a_sound_price() -> None:
    for model in BOOK.models():
        for price in BOOK.history(model):
            rates = (price.prefill, price.prefill_cached, price.sample, price.train)
            assert all(rate is None or rate > 0 for rate in rates), price
            assert price.source
            assert "/work" not in price.source


def test_a_variant_of_a_family_has_its_own_row_and_source() -> None:
    family = BOOK.token_price("Qwen/Qwen3-30B-A3B", at=JANUARY_6)
    variant = BOOK.token_price("Qwen/Qwen3-30B-A3B-Instruct-2507", at=JANUARY_6)
    assert family is not None
    assert variant is not None
    assert variant.sample == family.sample
    assert variant.source != family.source


def test_a_further_list_takes_its_place_by_date_and_leaves_the_book_as_it_was() -> None:
    rows = ({"model": QWEN_4B, "prefill": 1, "prefill_cached": 0.2, "sample": 2, "train": 3},)
    fresh = Snapshot("tinker", "2026-12-01", "refreshed", rows)
    longer = BOOK.with_snapshots([fresh])
    price = longer.token_price(QWEN_4B, date="2026-12-02")
    assert price is not None
    assert price.sample == 2
    assert len(longer.refs) == len(BOOK.refs) + 1
    old = BOOK.token_price(QWEN_4B, date="2026-12-02")
    assert old is not None
    assert old.sample == 0.22


@pytest.mark.parametrize(
    ("device", "name"),
    [
        ("NVIDIA B200", "B200"),
        ("B200", "B200"),
        ("8xB200", "B200"),
        ("H100-SXM-80GB", "H100"),
        ("NVIDIA H100 80GB HBM3", "H100"),
        ("H100SXM5", "H100"),
        ("NVIDIA H100 PCIe", "H100 PCIe"),
        ("NVIDIA H100 NVL", "H100 NVL"),
        ("NVIDIA H200", "H200"),
        ("NVIDIA H20", "H20"),
        ("NVIDIA H800", "H800"),
        ("NVIDIA B300 SXM6 AC", "B300"),
        ("NVIDIA GB200", "GB200"),
        ("NVIDIA A100-SXM4-80GB", "A100"),
        ("NVIDIA A100-PCIE-40GB", "A100 40GB"),
        ("NVIDIA L40S", "L40S"),
        ("NVIDIA L40", "L40"),
        ("NVIDIA A40", "A40"),
        ("AMD Instinct MI300X OAM", "MI300X"),
        ("AMD_Instinct_MI300X_OAM", "MI300X"),
        ("NVIDIA GeForce RTX 4090", "RTX 4090"),
        ("RTX4090", "RTX 4090"),
    ],
)
def test_a_device_string_finds_its_row(device: str, name: str) -> None:
    gpu = BOOK.gpu(device)
    assert gpu is not None
    assert gpu.name == name


@pytest.mark.parametrize(
    "device",
    [
        "NVIDIA GH200 480GB",
        "NVIDIA RTX A4000",
        "NVIDIA GB300",
        "NVIDIA GeForce RTX 4090 Laptop GPU",
        "NVIDIA GeForce RTX 4090 D",
        "NVIDIA A100-SXM4-40GB MIG 1g.5gb",
        "GRID A100-40C",
        "Tesla T4",
        "TPU v5e",
        "",
    ],
)
def test_other_hardware_is_not_taken_for_what_its_name_resembles(device: str) -> None:
    assert BOOK.gpu(device) is None


def test_a_gpu_without_a_public_price_asks_for_one() -> None:
    gpu = BOOK.gpu("NVIDIA H20")
    assert gpu is not None
    assert gpu.usd_per_hour is None
    assert gpu.bf16_tflops == 148


def test_weak_figures_are_marked() -> None:
    assert {gpu.name for gpu in BOOK.gpu_table.prices() if gpu.weak} >= {"B300", "GB200"}
