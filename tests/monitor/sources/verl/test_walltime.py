"""What a logged step time includes, by the version and by the phases themselves."""

from collections.abc import Callable

import pytest

from rltop.monitor.sources.verl.barclock import BarClock
from rltop.monitor.sources.verl.bars import Bar
from rltop.monitor.sources.verl.walltime import WallTime
from rltop.monitor.state import RunState

Fold = Callable[..., RunState]
PLAIN = {"timing_s/gen": 60.0, "timing_s/update_actor": 39.0, "timing_s/step": 100.0}


def step(seconds: float, **apart: float) -> dict[str, float]:
    return {**PLAIN, "timing_s/step": seconds, **{f"timing_s/{name}": s for name, s in apart.items()}}


@pytest.mark.parametrize(
    ("version", "logged", "wall"),
    [
        ("<=0.4.1", step(150.0, testing=40.0, save_checkpoint=10.0), 150.0),
        ("0.5", step(150.0, testing=40.0, save_checkpoint=10.0), 150.0),
        ("0.6-0.7.0", step(100.0, testing=40.0, save_checkpoint=10.0), 150.0),
        ("0.7.1-0.8", step(110.0, testing=40.0, save_checkpoint=10.0), 150.0),
        ("0.9", step(110.0, testing=40.0, save_checkpoint=10.0), 150.0),
    ],
)
def test_each_version_comes_to_the_same_wall_time(
    version: str, logged: dict[str, float], wall: float
) -> None:
    duration, phases = WallTime().of(logged, version)
    assert duration == wall
    assert (phases["eval"], phases["checkpoint"]) == (40.0, 10.0)
    assert sum(phases.values()) <= wall


@pytest.mark.parametrize("version", ["<=0.4.1", "0.5", "0.6-0.7.0", "0.7.1-0.8", "0.9", None])
@pytest.mark.parametrize(
    ("logged", "wall"),
    [
        (step(150.0, testing=40.0, save_checkpoint=10.0), 150.0),
        (step(110.0, testing=40.0, save_checkpoint=10.0), 150.0),
        (step(100.0, testing=40.0, save_checkpoint=10.0), 150.0),
    ],
)
def test_the_phases_beat_the_version(version: str | None, logged: dict[str, float], wall: float) -> None:
    clock = WallTime()
    clock.of(PLAIN, version)
    assert clock.of(logged, version)[0] == wall


def test_work_that_no_phase_names_is_learnt_from_ordinary_steps() -> None:
    clock = WallTime()
    clock.of({**PLAIN, "timing_s/step": 140.0}, "0.6-0.7.0")
    assert clock.of(step(140.0, testing=40.0), "0.6-0.7.0")[0] == 180.0
    assert clock.of(step(180.0, testing=40.0), "0.6-0.7.0")[0] == 180.0


def test_profiling_around_the_step_counts() -> None:
    assert WallTime().of(step(100.0, start_profile=3.0, stop_profile=4.0), "0.6-0.7.0")[0] == 107.0


def test_phases_that_overlap_are_left_out_rather_than_counted_twice() -> None:
    duration, phases = WallTime().of(step(100.0, some_wrapper=99.0), "0.9")
    assert (duration, phases) == (100.0, {"generate": 60.0, "update": 39.0})


def test_a_step_without_any_time_has_none() -> None:
    assert WallTime().of({"actor/pg_loss": 0.5}, "0.9") == (None, {})
    assert WallTime().of({"timing_s/testing": 0.5}, "0.9")[0] is None


def bar(step: int, elapsed: float) -> Bar:
    return Bar(step, 100, elapsed, False)


def test_the_bar_is_only_held_against_the_steps_that_it_covers() -> None:
    clock = BarClock()
    clock.step(10.0, 0.0)
    assert clock.correct(bar(1, 500.0)) == 0.0  # where the bar began is not known
    clock.step(10.0, 0.0)
    clock.step(10.0, 0.0)
    assert clock.correct(bar(4, 900.0)) == 0.0  # one step was not told
    clock.step(10.0, 0.0)
    assert clock.correct(bar(5, 950.0)) == 40.0


def test_small_leaks_add_up_to_a_correction() -> None:
    clock = BarClock()
    clock.correct(bar(0, 0.0))
    added = 0.0
    for done in range(1, 101):
        clock.step(4.5, 0.0)
        added += clock.correct(bar(done, float(done * 5)))
    assert 100 * 4.5 + added == pytest.approx(500, abs=1.5)


def test_a_bar_that_goes_back_starts_anew() -> None:
    clock = BarClock()
    clock.correct(bar(9, 900.0))
    assert clock.correct(bar(5, 0.0)) == 0.0
    clock.step(10.0, 0.0)
    assert clock.correct(bar(6, 12.0)) == 2.0


def bars(steps: range, seconds: float = 60.0, total: int = 100) -> str:
    return "\n".join(
        f"(TaskRunner pid=7) Training Progress:  1%|▏ | {n}/{total} "
        f"[{int(n * seconds) // 60:02d}:{int(n * seconds) % 60:02d}<10:00, {seconds}s/it]"
        for n in steps
    )


def test_a_run_that_prints_no_metrics_has_the_steps_and_times_of_its_bar(fold: Fold) -> None:
    config = (
        "(TaskRunner pid=7) {'trainer': {'logger': ['wandb'],\n(TaskRunner pid=7)              'nnodes': 1}}"
    )
    state = fold(f"{config}\n{bars(range(4))}")
    assert list(state.history.steps) == [1, 2, 3]
    assert [state.history.get("duration_s", at) for at in range(3)] == [60, 60, 60]
    assert state.info.total_steps == 100
    assert any("no metrics are printed" in note for note in state.info.notes)


def test_a_bar_that_is_ahead_of_the_metrics_tells_no_steps(fold: Fold) -> None:
    lines = "\n".join(
        f"(TaskRunner pid=7) step:{n} - actor/pg_loss:0.1 - timing_s/gen:20.0 - timing_s/step:60.0"
        for n in range(1, 7)
    )
    state = fold(f"{bars(range(7))}\n{lines}")
    assert list(state.history.steps) == [1, 2, 3, 4, 5, 6]
    assert state.attempt == 0
    assert not state.info.notes


def test_metrics_printed_late_are_those_of_the_steps_that_the_bar_told(fold: Fold) -> None:
    line = "(TaskRunner pid=7) step:{} - actor/pg_loss:0.1 - timing_s/gen:20.0 - timing_s/step:59.5"
    state = fold(f"{bars(range(30))}\n{line.format(29)}\n{line.format(30)}")
    assert list(state.history.steps) == list(range(1, 31))
    assert state.attempt == 0
    assert state.history.get("loss", 28) == 0.1
