"""What happens between steps: crashes, log lines, GPUs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from rltop.models.event import Ended, LogLine
from rltop.models.gpu import Gpu, GpuSample
from rltop.models.run import RunInfo

if TYPE_CHECKING:
    from tests.monitor.alerts.conftest import Told


def sample(at: float, *utils: float, state: str = "ok") -> GpuSample:
    gpus = [Gpu.model_validate({"index": n, "util": util, "state": state}) for n, util in enumerate(utils)]
    return GpuSample(at=at, backend="test", gpus=tuple(gpus))


def test_a_crash_is_told_in_the_last_words_of_the_log(told: Told) -> None:
    told.step(loss=0.1)
    told.tell(Ended(status="crashed", message="RuntimeError: NCCL timeout"))
    for _ in range(5):
        told.tick(status="crashed")
    (alert,) = told.alerts("crash")
    assert alert.severity == "critical"
    assert alert.message == "crashed: RuntimeError: NCCL timeout"


def test_a_run_that_finished_has_not_crashed(told: Told) -> None:
    told.step(loss=0.1)
    told.tell(Ended(status="finished"))
    told.tick(status="finished")
    assert told.alerts("crash") == []
    assert told.watch("crash").watched


def test_a_resume_clears_a_crash(told: Told) -> None:
    told.step(loss=0.1)
    told.tell(Ended(status="crashed"))
    told.tick(status="crashed")
    told.step(loss=0.1)
    told.tick()
    assert told.alerts("crash")[0].cleared_step is not None


def test_out_of_memory_is_critical_at_once_and_is_told_once(told: Told) -> None:
    told.step(loss=0.1)
    told.tell(LogLine(text="torch.OutOfMemoryError: CUDA out of memory", topic="oom"))
    for _ in range(5):
        told.tick()
    (alert,) = told.alerts("oom")
    assert alert.severity == "critical"
    assert "CUDA out of memory" in alert.message


@pytest.mark.parametrize(("topic", "severity"), [("billing", "critical"), ("capacity", "warning")])
def test_a_pause_by_the_provider_lasts_until_the_next_step(told: Told, topic: str, severity: str) -> None:
    told.step(loss=0.1)
    told.tell(LogLine.model_validate({"text": "paused", "topic": topic}))
    for _ in range(3):
        told.tick()
    (alert,) = told.alerts("provider_pause")
    assert (alert.severity, alert.cleared_step) == (severity, None)
    told.step(loss=0.1)
    assert told.alerts("provider_pause")[0].cleared_step == 2


def test_lines_on_other_matters_raise_nothing(told: Told) -> None:
    told.tell(LogLine(text="out of memory was a good book"), LogLine(text="saved", topic="checkpoint"))
    told.tick()
    told.step(loss=0.1)
    assert told.engine.alerts == ()


def test_gpus_that_are_idle_for_longer_than_a_step_are_told(told: Told) -> None:
    told.steps("duration_s", [90.0] * 5)
    for at in range(0, 200, 5):
        told.tell(sample(float(at), 3.0, 0.0))
        told.tick()
        if at <= 90:
            assert told.alerts("gpu_idle") == []
    (alert,) = told.alerts("gpu_idle")
    assert alert.severity == "critical"


def test_one_busy_gpu_is_enough(told: Told) -> None:
    for at in range(0, 600, 5):
        told.tell(sample(float(at), 0.0, 80.0))
        told.tick()
    assert told.alerts("gpu_idle") == []


def test_looking_twice_at_one_reading_of_busy_gpus_clears_nothing(told: Told) -> None:
    for at in range(0, 100, 5):
        told.tell(sample(float(at), 0.0))
        told.tick()
    told.tell(sample(100.0, 90.0))
    for _ in range(50):
        told.tick()
    assert told.alerts("gpu_idle")[0].cleared_step is None
    for at in range(101, 120):
        told.tell(sample(float(at), 90.0))
        told.tick()
    assert told.alerts("gpu_idle")[0].cleared_step is not None


def test_gpus_of_a_machine_that_does_not_train_are_not_watched(told_with: Callable[..., Told]) -> None:
    run = told_with(info=RunInfo(platform="tinker", first_step=1))
    for at in range(0, 600, 5):
        run.tell(sample(float(at), 0.0))
        run.tick()
    assert run.alerts("gpu_idle") == []


def test_a_lost_gpu_is_critical(told: Told) -> None:
    told.tell(sample(0.0, 90.0, 90.0))
    told.tick()
    assert told.alerts("gpu_lost") == []
    told.tell(sample(1.0, 90.0))
    told.tick()
    assert [alert.severity for alert in told.alerts("gpu_lost")] == ["critical"]


def test_gpus_that_are_not_read_are_not_watched(told: Told) -> None:
    told.step(loss=0.1)
    told.tick()
    for rule in ("gpu_idle", "gpu_lost", "gpu_throttled"):
        assert told.watch(rule).why == "no GPU readings"


def test_a_clip_ratio_that_lies_is_told_with_the_reason(told: Told) -> None:
    told.steps("clip_ratio", [0.5] * 4, clip_reliable=False, clip_why="of the longest in the batch")
    (alert,) = told.alerts("metric_unreliable")
    assert "of the longest in the batch" in alert.message


def test_gpus_throttled_for_over_a_minute_are_told(told: Told) -> None:
    for at in range(0, 80, 10):
        told.tell(sample(float(at), 90.0, state="throttled"))
        told.tick()
        if at <= 60:
            assert told.alerts("gpu_throttled") == []
    assert [alert.severity for alert in told.alerts("gpu_throttled")] == ["warning"]
