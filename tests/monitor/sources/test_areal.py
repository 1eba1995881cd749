from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from rltop.models.event import Ended, Event, Restart
from rltop.models.run import RunInfo
from rltop.models.step import Step
from rltop.monitor.source import Line, Probe
from rltop.monitor.sources.areal import FORMAT, ArealParser


def step_lines(step: int, total: int = 20) -> list[str]:
    stamp = f"\x1b[33m(AReaL)\x1b[0m 20260412-23:18:{step:02d}.500 StatsLogger INFO: "
    return [
        f"{stamp}Epoch 1/2 Step {step}/10 Train step {step}/{total} done.",
        f"{stamp}Stats (1/1):",
        f"{stamp}",
        "╒═══════════════════════════╤════════════╤════════════════════════════╤════════════╕",
        "│ ppo_actor/task_reward/avg │ 5.0000e-01 │ timeperf/rollout           │ 3.0000e+01 │",
        "├───────────────────────────┼────────────┼────────────────────────────┼────────────┤",
        "│ ppo_actor/prompt_len/avg  │ 1.0000e+02 │ timeperf/train_step        │ 2.0000e+01 │",
        "├───────────────────────────┼────────────┼────────────────────────────┼────────────┤",
        "│ ppo_actor/seq_len/avg     │ 3.5000e+02 │ ppo_actor/update/grad_norm │ 2.5000e-01 │",
        "├───────────────────────────┼────────────┼────────────────────────────┼────────────┤",
        "│ timeperf/train_step/inner │ 1.9000e+01 │                            │            │",
        "╘═══════════════════════════╧════════════╧════════════════════════════╧════════════╛",
    ]


def events_of(lines: Iterable[str]) -> list[Event]:
    parser = ArealParser()
    events = [event for n, text in enumerate(lines, 1) for event in parser.feed(Line(text, None, n))]
    return [*events, *parser.flush()]


def test_tables_belong_to_the_step_before_them() -> None:
    events = events_of([*step_lines(1), *step_lines(2)])
    steps = [event for event in events if isinstance(event, Step)]
    assert [step.step for step in steps] == [1, 2]
    first = steps[0]
    assert (first.reward_mean, first.response_length_mean, first.prompt_length_mean) == (0.5, 250, 100)
    assert (first.duration_s, first.phases) == (50, {"generate": 30, "update": 20})
    assert first.grad_norm == 0.25
    assert first.ended_at == datetime(2026, 4, 12, 23, 18, 1).timestamp() + 0.5
    assert {event.total_steps for event in events if isinstance(event, RunInfo)} >= {20}


def test_steps_done_again_are_another_attempt_and_the_end_is_told() -> None:
    lines = [*step_lines(1), *step_lines(2), *step_lines(2), "Training completes! Total time elapsed 12.00."]
    events = events_of(lines)
    assert [(e.from_step, e.attempt) for e in events if isinstance(e, Restart)] == [(2, 1)]
    assert [e.status for e in events if isinstance(e, Ended)] == ["finished"]


def test_it_is_recognised_by_what_it_says_of_a_step() -> None:
    def score(*lines: str) -> float:
        return FORMAT.score(Probe(path=Path("x"), is_dir=False, head="\n".join(lines)))

    assert score(*step_lines(1)) > 0.8
    assert score("Epoch 1/2 Step 3/10", "│ a │ 1 │") == 0


@given(st.lists(st.text(alphabet="│╘ ab/1.e+-", max_size=30), max_size=20))
def test_anything_is_borne(lines: list[str]) -> None:
    events_of([step_lines(1)[0], *lines])
