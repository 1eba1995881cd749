"""The figures of real runs, as their logs add up."""

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from rltop.models.event import Ended, Event, Restart, SourceStatus, Totals
from rltop.models.run import RunInfo
from rltop.models.step import Eval, Step

ReadRun = Callable[[Path], list[Event]]


class Run:
    """The events of a run, sorted by kind."""

    def __init__(self, events: Iterable[Event]) -> None:
        self.events = list(events)
        self.steps = [event for event in self.events if isinstance(event, Step)]
        self.evals = [event for event in self.events if isinstance(event, Eval)]
        self.info = RunInfo()
        for event in self.events:
            if isinstance(event, RunInfo):
                self.info = self.info.merged(event)

    def total(self, name: str) -> float:
        return sum(getattr(step, name) or 0.0 for step in self.steps)

    def count(self, kind: type) -> int:
        return sum(isinstance(event, kind) for event in self.events)


@pytest.fixture
def run(shared_data: Path, read_run: ReadRun) -> Callable[[str], Run]:
    return lambda name: Run(read_run(shared_data / "tinker" / name))


def test_arithmetic(run: Callable[[str], Run]) -> None:
    found = run("arithmetic-100")
    assert [step.step for step in found.steps] == list(range(100))
    assert (found.info.total_steps, found.info.framework_version) == (100, "0.1")
    assert found.total("sampled_tokens") == 199_917
    assert found.total("prefill_tokens") == 1_120_000
    assert found.total("trained_tokens") == 1_279_917
    assert found.total("duration_s") == pytest.approx(1047.583, abs=0.001)
    assert found.evals == []  # the cadence came round, but there was nothing to evaluate
    assert all("eval" not in step.phases for step in found.steps)
    assert found.count(Ended) == 1
    assert found.info.session_id == "39aa5eb2-e234-5a95-ab68-896e4cac8c45"


def test_distillation_whose_responses_grow_to_the_cap(run: Callable[[str], Run]) -> None:
    found = run("distill-length-blowup")
    assert len(found.steps) == 35
    assert found.total("sampled_tokens") == 14_895_755
    assert found.total("scored_tokens") == 14_895_755 + found.total("prefill_tokens") + 35 * 128
    assert found.info.total_steps == 29_354
    assert found.info.algorithm == "distill"
    assert found.steps[-1].response_length_mean == 4096
    assert found.steps[-1].clip_ratio is None  # no config: the cap is not known
    assert found.count(Ended) == 0


def test_a_rubric_run_with_its_evaluations(run: Callable[[str], Run]) -> None:
    found = run("math-rubric-57")
    assert (len(found.steps), found.info.total_steps) == (57, 57)
    assert found.total("sampled_tokens") == 91_366_402
    assert [item.step for item in found.evals] == list(range(0, 57, 5))
    assert found.evals[0].sampled_tokens == 312_706
    assert found.evals[0].duration_s == pytest.approx(215.446, abs=0.001)
    assert found.evals[0].scores["pass_rate"] == pytest.approx(0.59256, abs=1e-5)
    first = found.steps[0]
    assert first.duration_s == pytest.approx(485.556, abs=0.001)
    assert sum(first.phases.values()) <= (first.duration_s or 0.0)
    assert "checkpoint" in found.steps[4].phases
    assert "weight_sync" in found.steps[5].phases
    assert (found.info.groups, found.info.group_size, found.info.max_tokens) == (16, 32, 8192)


def test_a_run_that_was_stopped(run: Callable[[str], Run]) -> None:
    found = run("math-rubric-7")
    assert (len(found.steps), found.info.total_steps) == (7, 57)
    assert found.count(Ended) == 0
    assert found.info.session_id == "3a07bc0d-512d-5b0d-9c07-c13d5e0307ef"
    assert all(not status.bad_lines for status in found.events if isinstance(status, SourceStatus))


def test_a_hand_written_loop(run: Callable[[str], Run]) -> None:
    found = run("custom-loop-111")
    assert [step.step for step in found.steps] == list(range(101))
    assert [item.step for item in found.evals] == list(range(10, 101, 10))
    assert found.evals[0].scores == {"pass_at_1": 0.35, "format_rate": 0.95}
    assert found.evals[0].episodes == 20
    assert found.count(Restart) == 0
    assert found.total("duration_s") == pytest.approx(26_544.3)
    assert found.total("sampled_tokens") == 0
    assert (found.info.model, found.info.max_tokens) == ("Qwen/Qwen3-4B-Instruct-2507", 8192)
    assert found.info.total_steps == 200
    assert found.info.notes
    assert found.count(Ended) == 0


def test_supervised_steps_add_up_to_the_wall_time_of_their_spans(run: Callable[[str], Run]) -> None:
    found = run("sft-2244")
    assert (len(found.steps), found.info.total_steps) == (2244, 2244)
    assert found.total("trained_tokens") == 4_726_669
    # The ends of the spans in timing_spans.jsonl add up to 2404.83 s.
    assert found.total("duration_s") == pytest.approx(2404.83, rel=0.001)
    assert len(found.evals) == 45
    assert found.evals[1].duration_s == pytest.approx(7.81, abs=0.01)
    assert all(sum(step.phases.values()) <= (step.duration_s or 0.0) * 1.001 for step in found.steps)
    assert found.info.algorithm == "sft"
    assert found.count(Ended) == 1


def test_a_priced_run_that_was_resumed_after_its_end(run: Callable[[str], Run]) -> None:
    found = run("format-061-sync-priced")
    assert [(step.step, step.attempt) for step in found.steps] == [(step, 0) for step in range(12)]
    assert found.total("logged_usd") == pytest.approx(0.01321684)
    assert found.total("trained_tokens") == 17_816
    (totals,) = [event for event in found.events if isinstance(event, Totals)]
    assert totals.spent_usd == pytest.approx(0.01321684)
    assert [item.step for item in found.evals] == [0, 5, 10, 12]
    kinds = [type(event) for event in found.events if isinstance(event, Ended | Restart)]
    assert kinds == [Ended, Restart]
    assert all((step.clip_ratio, step.clip_reliable) == (1.0, True) for step in found.steps)
    assert found.steps[0].response_length_max == 24


def test_an_asynchronous_run(run: Callable[[str], Run]) -> None:
    found = run("format-061-async")
    assert [step.step for step in found.steps] == list(range(10))
    assert [item.step for item in found.evals] == [0, 5, 10]
    assert found.evals[0].duration_s == pytest.approx(16.62, abs=0.01)
    assert found.total("sampled_tokens") == 3840
    assert found.count(Restart) == 0
    assert found.count(Ended) == 1


def test_the_oldest_version(run: Callable[[str], Run]) -> None:
    found = run("format-010-sync")
    assert (len(found.steps), len(found.evals)) == (8, 2)
    assert found.steps[0].trained_tokens == 384 + 1116 - 16
    assert found.steps[0].clip_why == "the mean length equals the cap"
