"""What idle and busy GPUs come to, in hours, kilowatt-hours and dollars."""

from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rltop.models.gpu import Gpu, GpuSample, GpuState
from rltop.models.run import RunInfo
from rltop.models.settings import Settings
from rltop.models.step import PhaseName, Step
from rltop.models.value import Quantiles
from rltop.monitor.money.book import Book
from rltop.monitor.pipeline import Pipeline
from rltop.monitor.reduce import reduce
from rltop.monitor.state import RunState
from rltop.monitor.telemetry.dollars import GpuTally, use_of

START = 1_700_000_000.0
HOUR_S = 3600.0


def sample(
    at_s: float, *utils: float | None, host: str = "n", backend: str = "nvml", **more: object
) -> GpuSample:
    """GPUs of one host, `at_s` after the start; `more` holds for each of them."""
    gpus = tuple(
        Gpu.model_validate({"index": index, "util": util, **more}) for index, util in enumerate(utils)
    )
    return GpuSample(at=START + at_s, host=host, backend=backend, gpus=gpus)


def tally(samples: Iterable[GpuSample]) -> GpuTally:
    """As the fold makes it."""
    state = RunState()
    for each in samples:
        state = reduce(state, each)
    return state.gpu_tally


def test_an_hour_of_one_idle_gpu_of_two_is_one_idle_gpu_hour() -> None:
    use = use_of(tally(sample(at_s, 0, 95) for at_s in range(0, 3601, 30)), gpus=2, usd_per_gpu_hour=3.0)
    assert use.watched_gpu_hours == pytest.approx(2.0)
    assert (use.idle_gpu_hours, use.idle_usd) == (pytest.approx(1.0), pytest.approx(3.0))


def test_a_lost_gpu_is_paid_for_and_does_nothing() -> None:
    lost: GpuState = "lost"
    use = use_of(tally(sample(at_s, None, state=lost) for at_s in (0, 60)), gpus=1)
    assert use.idle_gpu_hours == pytest.approx(60 / HOUR_S)


def test_what_does_not_tell_whether_it_is_busy_counts_as_neither() -> None:
    use = use_of(tally(sample(at_s, None) for at_s in (0, 60)), gpus=1, usd_per_gpu_hour=3.0)
    assert (use.watched_gpu_hours, use.idle_gpu_hours, use.idle_usd) == (0.0, None, None)


def test_a_gap_in_the_readings_is_neither_busy_nor_idle() -> None:
    sums = tally([sample(0, 0), sample(30, 0), sample(30 + 600, 0), sample(660, 0)])
    assert sums.watched_s == sums.idle_s == 60.0


def test_a_reading_told_again_because_nothing_newer_came_adds_nothing() -> None:
    first, second = sample(0, 0), sample(2, 0)
    stale = second.model_copy(update={"note": "stale 9 s: no answer", "stale_s": 9.0})
    assert tally([first, second, stale, stale]) == tally([first, second])


def test_the_rest_of_the_run_is_taken_to_go_as_it_has_gone_so_far() -> None:
    samples = [sample(at_s, 0 if at_s % 40 == 0 else 90, power_w=500.0) for at_s in range(0, 3601, 10)]
    use = use_of(
        tally(samples), gpus=1, usd_per_gpu_hour=4.0, usd_per_kwh=0.2,
        remaining_s=Quantiles(p10=HOUR_S, p50=2 * HOUR_S, p90=4 * HOUR_S),
    )  # fmt: skip
    assert use.idle_gpu_hours == pytest.approx(0.25)
    assert use.idle_gpu_hours_at_end is not None
    assert use.idle_usd_at_end is not None
    assert use.energy_usd_at_end is not None
    assert use.idle_gpu_hours_at_end.p50 == pytest.approx(0.75)
    assert use.idle_usd_at_end.p90 == pytest.approx(5.0)
    assert use.energy_usd_at_end.p10 == pytest.approx(2 * 0.5 * 0.2)


def test_energy_is_the_counters_difference() -> None:
    samples = [sample(at_s, 90, energy_j=1e6 + 700.0 * at_s, power_w=1.0) for at_s in range(0, 3601, 60)]
    use = use_of(tally(samples), gpus=1, usd_per_kwh=0.10)
    assert (use.energy_kwh, use.energy_usd) == (pytest.approx(0.7), pytest.approx(0.07))


def test_a_counter_that_is_slower_than_the_readings_is_not_helped_out_by_the_power() -> None:
    samples = [
        sample(at_s, 90, energy_j=1e6 + 15_000.0 * (at_s // 30), power_w=500.0) for at_s in range(0, 61, 5)
    ]
    assert tally(samples).energy_j == 30_000.0


def test_where_the_counter_starts_anew_or_is_missing_power_fills_in() -> None:
    samples = [sample(0, 90, energy_j=9e9, power_w=400.0), sample(60, 90, energy_j=5.0, power_w=600.0)]
    assert tally(samples).energy_j == pytest.approx(500.0 * 60)
    assert tally([sample(0, 90, power_w=400.0), sample(60, 90, power_w=600.0)]).energy_j == pytest.approx(
        30_000
    )


def test_without_power_or_a_price_there_is_no_energy_and_there_are_no_dollars() -> None:
    use = use_of(tally([sample(0, 90), sample(60, 90)]), gpus=1)
    assert (use.energy_kwh, use.energy_usd, use.idle_usd, use.energy_kwh_at_end) == (None, None, None, None)


def test_the_hosts_of_a_run_add_up() -> None:
    both = [sample(at_s, 0, 0, host=host) for at_s in (0, 60) for host in ("a", "b")]
    assert tally(both).idle_s == 4 * 60.0


def test_tensor_activity_is_averaged_over_the_time_watched() -> None:
    shares = [(0, 0.0), (10, 80.0), (40, 20.0)]
    use = use_of(tally(sample(at_s, 99, tensor_active=share) for at_s, share in shares), gpus=1)
    assert use.tensor_share == pytest.approx((0.8 * 10 + 0.2 * 30) / 40)


def test_what_wandb_notes_of_a_host_that_is_read_at_first_hand_is_passed_over() -> None:
    state = RunState()
    for each in (sample(0, 90, power_w=5.0), sample(15, 10, backend="wandb")):
        state = reduce(state, each)
    assert state.gpus["n"].backend == "nvml"
    state = reduce(state, sample(90, 10, backend="wandb"))
    assert state.gpus["n"].backend == "wandb", "the other one has stopped"


@pytest.mark.parametrize("tracker", ["wandb", "swanlab", "trackio", "mlflow"])
def test_gpus_that_a_tracker_noted_without_a_host_are_those_that_are_read_at_first_hand(tracker: str) -> None:
    state = RunState()
    for each in (
        sample(0, 90, host="localhost", backend=tracker),
        sample(5, 90, host="n"),
        sample(10, 90, host="localhost", backend=tracker),
    ):
        state = reduce(state, each)
    assert list(state.gpus) == ["n"], "counted once"


@settings(max_examples=50, deadline=None)
@given(
    st.lists(
        st.tuples(st.floats(0, 1e6), st.lists(st.one_of(st.none(), st.floats(0, 100)), max_size=4)),
        max_size=30,
    )
)
def test_idle_time_is_never_more_than_what_was_watched(looks: list[tuple[float, list[float | None]]]) -> None:
    sums = tally(sample(at_s, *utils) for at_s, utils in looks)
    assert 0 <= sums.idle_s <= sums.watched_s + 1e-6


PHASES: dict[PhaseName, float] = {"update": 40.0, "generate": 58.0, "weight_sync": 2.0}
INFO = RunInfo(framework="verl", platform="self-hosted", gpus=2, gpu_type="H100", total_steps=10)


def played(info: RunInfo, steps: int = 4) -> Pipeline:
    """A run of 100 s a step: 60 s of generation at 40 % busy, 40 s of updates at 99 %."""
    pipeline = Pipeline(Settings(usd_per_gpu_hour=2.0, usd_per_kwh=0.1), Book.load())
    pipeline.feed(info, START)
    for step in range(1, steps + 1):
        for at_s in range(0, 100, 5):
            utils = (40.0, 40.0) if at_s < 60 else (99.0, 5.0)
            now = (step - 1) * 100 + at_s
            pipeline.feed(sample(now, *utils, tensor_active=at_s / 2), START + now)
        ended_at = START + step * 100
        pipeline.feed(Step(step=step, ended_at=ended_at, duration_s=100.0, phases=PHASES), ended_at)
    return pipeline


def test_a_frame_tells_what_the_gpus_did_in_each_phase_of_the_last_step() -> None:
    use = played(INFO).frame(START + 400).gpu_use
    assert use is not None
    assert use.phase_step == 4
    names = [(phase.name, phase.seconds) for phase in use.phases]
    assert names == [("generate", 58.0), ("update", 40.0), ("weight_sync", 2.0)]
    generate, update, _ = use.phases
    assert generate.util == pytest.approx(40.0)
    assert update.util == pytest.approx(52.0)
    assert (generate.tensor_active or 0) < (update.tensor_active or 0)


def test_a_frame_prices_idle_gpus_so_far_and_at_the_end() -> None:
    frame = played(INFO).frame(START + 400)
    use, remaining_s = frame.gpu_use, frame.projection.remaining_s
    assert use is not None
    assert remaining_s is not None
    assert use.gpus == 2
    assert use.idle_gpu_hours == pytest.approx(4 * 40 / HOUR_S)
    assert use.idle_usd == pytest.approx(2.0 * 4 * 40 / HOUR_S)
    assert use.idle_usd_at_end is not None
    watched_s = 400 - 5
    per_s = 2.0 * 4 * 40 / HOUR_S / watched_s
    assert use.idle_usd_at_end.p50 == pytest.approx(per_s * (watched_s + remaining_s.p50))


def test_gpus_beside_a_run_on_tinker_are_not_its_own() -> None:
    assert played(INFO.model_copy(update={"platform": "tinker"})).frame(START + 400).gpu_use is None


def test_a_run_without_gpus_has_no_use_of_them() -> None:
    assert played(INFO, steps=0).frame(START).gpu_use is None


def test_a_step_that_was_not_watched_from_end_to_end_has_no_phases() -> None:
    pipeline = Pipeline(Settings(), Book.load())
    pipeline.feed(INFO, START)
    for at_s in (60, 80, 100):
        pipeline.feed(sample(at_s, 50), START + at_s)
    step = Step(step=1, ended_at=START + 100, duration_s=100.0, phases={"generate": 60.0, "update": 40.0})
    pipeline.feed(step, START + 100)
    use = pipeline.frame(START + 101).gpu_use
    assert use is not None
    assert use.phases == ()
