"""The page that `check` prints, where it says more than one figure."""

import pytest

from rltop.models.event import Event
from rltop.models.run import RunInfo
from rltop.models.settings import Settings
from rltop.models.step import Step
from rltop.monitor.check import page, report
from rltop.monitor.frame import Frame
from rltop.monitor.money.book import Book
from rltop.monitor.pipeline import Pipeline

NOW = 1_767_700_000.0
VERL = RunInfo(
    framework="verl",
    platform="self-hosted",
    model="Qwen/Qwen3-4B-Instruct-2507",
    gpus=8,
    gpu_type="B200",
    lora_rank=32,
)
STEP = Step(
    step=1,
    duration_s=100.0,
    phases={"generate": 60.0, "update": 20.0},
    total_tokens=1e6,
    episodes=1000,
    mfu_logged=0.017,
)


def frame_of(*events: Event) -> Frame:
    pipeline = Pipeline(Settings(), Book.load())
    for event in events:
        pipeline.feed(event, NOW)
    pipeline.close(NOW)
    return pipeline.frame(NOW)


def line_of(frame: Frame, word: str) -> str:
    return next(line for line in page(frame).splitlines() if word in line)


def test_each_of_the_three_mfus_says_what_it_is_of() -> None:
    line = line_of(frame_of(VERL, STEP), "MFU")
    assert "whole step · 1.7 % update as logged · 1.1 % corrected for LoRA" in line


def test_a_correction_that_is_not_for_lora_does_not_name_it() -> None:
    line = line_of(frame_of(VERL.model_copy(update={"lora_rank": 0}), STEP), "MFU")
    assert "corrected" in line
    assert "LoRA" not in line


def test_only_verls_figure_is_corrected() -> None:
    slime = VERL.model_copy(update={"framework": "slime"})
    assert frame_of(slime, STEP).health.mfu.corrected is None
    assert frame_of(VERL, STEP).health.mfu.corrected == pytest.approx(0.0106, abs=0.0003)


def test_a_logged_mfu_of_nought_is_missing() -> None:
    mfu = frame_of(VERL, STEP.model_copy(update={"mfu_logged": 0.0})).health.mfu
    assert (mfu.logged, mfu.corrected) == (None, None)


def test_the_phases_stand_below_the_gpu_hours_and_in_the_report() -> None:
    frame = frame_of(VERL, STEP)
    lines = page(frame).splitlines()
    gpu = next(number for number, line in enumerate(lines) if line.startswith("  gpu"))
    assert [line.split()[0] for line in lines[gpu + 1 : gpu + 4]] == ["generate", "update", "idle"]
    told = report(frame).model_dump()["cost"]["phases"]
    assert [(phase["name"], phase["share"]) for phase in told] == [
        ("generate", pytest.approx(0.6)),
        ("update", pytest.approx(0.2)),
        ("idle", pytest.approx(0.2)),
    ]
