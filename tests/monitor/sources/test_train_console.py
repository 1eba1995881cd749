from datetime import datetime
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from rltop.models.event import Ended, Event, LogLine
from rltop.models.step import Step
from rltop.monitor.source import Line, Probe
from rltop.monitor.sources.train_console import FORMAT, TrainConsoleParser

LINES = [
    '  "max_completion_length": 512',
    "2025-07-26 02:35:21,221 - __main__ - INFO - Epoch 1/2, Step 0, Loss: 0.0017",
    "2025-07-26 02:35:23,900 - __main__ - INFO - Epoch 1/2, Step 10, Loss: -0.0083",
    "2025-07-26 02:35:26,000 - __main__ - INFO - Epoch 1 completed, Average Loss: -0.0019",
    "2025-07-26 02:35:27,000 - __main__ - INFO - Saved checkpoint to out/checkpoint-epoch-1",
    "2025-07-26 02:35:28,000 - __main__ - INFO - Epoch 2/2, Step 0, Loss: nan",
    "2025-07-26 02:35:30,000 - __main__ - INFO - training completed successfully!",
    "2025-07-26 02:35:30,100 - __main__ - INFO - training completed successfully!",
]


def events_of(lines: list[str]) -> list[Event]:
    parser = TrainConsoleParser()
    events = [event for n, text in enumerate(lines, 1) for event in parser.feed(Line(text, None, n))]
    return [*events, *parser.flush()]


def test_epochs_are_joined_and_times_taken() -> None:
    events = events_of(LINES)
    steps = [event for event in events if isinstance(event, Step)]
    assert [(step.step, step.loss) for step in steps] == [(0, 0.0017), (10, -0.0083), (20, None)]
    assert steps[0].ended_at == datetime(2025, 7, 26, 2, 35, 21).timestamp() + 0.221
    assert [event.topic for event in events if isinstance(event, LogLine)] == ["checkpoint"]
    assert [event.status for event in events if isinstance(event, Ended)] == ["finished"]


def test_steps_of_a_total_tell_the_total() -> None:
    events = events_of(["Step 3/100 | Loss: 0.5 | Grad Norm: 1.5 | Response length mean: 300"])
    (step,) = [event for event in events if isinstance(event, Step)]
    assert (step.step, step.loss, step.grad_norm, step.response_length_mean) == (3, 0.5, 1.5, 300)


def test_it_is_recognised_by_three_such_lines_only() -> None:
    def score(head: str) -> float:
        return FORMAT.score(Probe(path=Path("x"), is_dir=False, head=head))

    assert score("\n".join([*LINES, LINES[2]])) > 0.25
    assert score("\n".join(LINES)) == 0, "two, and one whose loss is no number"
    assert score("  Step 0:\n    correct: 0.0\n" * 5) == 0, "a trajectory's steps"
    assert score("Step 1 of the proof: we take") == 0


def test_the_real_console(shared_data: Path) -> None:
    (source,) = FORMAT.open(shared_data / "trl" / "console-bluebook" / "train.log")
    events = [*source.poll(0.0), *source.close()]
    steps = [event for event in events if isinstance(event, Step)]
    assert [step.step for step in steps] == list(range(0, 4500, 10))
    assert (steps[0].loss, steps[1].loss, steps[-1].loss) == (0.0017, -0.0083, -0.0010)
    assert all(step.duration_s is None and step.response_length_mean is None for step in steps)
    assert round((steps[-1].ended_at or 0) - (steps[0].ended_at or 0), 3) == 1189.942
    assert [event.status for event in events if isinstance(event, Ended)] == ["finished"]


@given(st.text(max_size=30), st.integers(0, 80))
def test_no_mutated_line_makes_it_raise(insert: str, position: int) -> None:
    text = LINES[1]
    events_of([text[:position] + insert + text[position + 2 :], *LINES])
