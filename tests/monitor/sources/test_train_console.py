from datetime import datetime
from pathlib import Path
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rltop.models.event import Ended, Event, LogLine, Restart
from rltop.models.run import RunInfo
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


def steps_of(*lines: str) -> list[Step]:
    return [event for event in events_of(list(lines)) if isinstance(event, Step)]


@pytest.mark.parametrize(
    "line",
    [
        "Step 7/20 | loss=0.25 | reward=0.5",
        "[run-a]   7/20 | loss=0.2500 | reward=0.500 | acc=12.5%",
        "2026-01-02 03:04:05 7/20 | loss: 0.25 | reward: 0.5",
        "[STEP    7]  loss=0.25  reward=0.5  epoch=0.01",
        "[step 7/20] loss=0.25 reward=0.5",
        "step=7 loss=0.25 reward=0.5 note=fine",
        "step 7: loss 0.25, reward 0.5, time 130.20ms",
        "Iter 7 - Loss: 0.25 - Reward: 0.5",
        "step 7 loss 0.25 reward 0.5 lr 1e-5",
        "Update 7 of 20: policy loss: 0.25, mean reward: 0.5",
        "Epoch:[1/1](7/20), Reward: 0.5000, KL_ref: 0.0002, Actor Loss: 0.2500, Avg Response Len: 297.00",
        "Epoch 1, Batch 7/20: Loss: 0.25, Reward: 0.5",
        "Step 7: {'loss': 0.25, 'reward': 0.5}",
        "noise\rStep 7/20 | loss=0.25 | reward=0.5",
        "[7/20] loss=0.25 reward=0.5",
        "Step: 7 Loss: 0.25 Reward: 0.5",
        "*** Step 7 *** loss=0.25 reward=0.5",
        "[lib] 2026-01-02 03:04:05,678 - root - INFO - step:  7  loss:  0.25  reward:  0.5  mem: 10GiB(12%)",
        " iteration        7/      20 | consumed samples:  2,560 | lm loss: 2.5E-01 | mean reward: 5.0E-01 |",
        "Rollout 7: mean reward 0.5, policy loss 0.25",
        "Batch 7/20 - Loss: 0.25 - Reward: 0.5",
        'INFO trainer: {"step": 7, "loss": 0.25, "reward": 0.5, "note": "fine"}',
        '[2026-01-02 03:04:05] metrics_tag: {"step": 7, "metrics": {"loss": 0.25, "reward": {"mean": 0.5}}}',
    ],
)
def test_the_place_and_its_numbers_are_read_in_many_hands(line: str) -> None:
    (step,) = steps_of(line)
    assert (step.step, step.loss, step.reward_mean) == (7, 0.25, 0.5)


@pytest.mark.parametrize(
    "line",
    [
        "We go step 7 further: reward",
        "Step 7 of the proof, where x: y",
        "7/20 files | loss",
        "Downloading 7/20 [00:01<00:03, 3.1it/s]",
        "Loaded 7/20 shards: size 12",
        "global_step: 7",
        'INFO {"step": 7, "loss": 0.25',
        'INFO {"step": true, "loss": 0.25}',
        'POST {"message": "step 7", "n": 1}',
    ],
)
def test_prose_and_bars_are_no_places(line: str) -> None:
    assert steps_of(line) == []


def test_units_are_heeded_and_unknown_ones_left_out() -> None:
    (step,) = steps_of("step 7: loss 0.25, mfu 12.50%, step time 130.0ms, tokens/sec: 1.2k, eta: 00:12:05")
    assert (step.mfu_logged, step.duration_s, step.tokens_per_s) == (0.125, 0.13, None)
    assert step.raw == {"loss": 0.25, "mfu": 12.5, "step time": 130.0}
    (step,) = steps_of("iteration 7/20 | elapsed time per iteration (ms): 1234.5 | loss: 1,234.5")
    assert (step.duration_s, step.loss) == (1.2345, 1234.5)


def test_places_within_epochs_are_joined_by_the_length_of_an_epoch() -> None:
    lines = [f"Epoch:[{epoch}/2]({step}/30), loss: 0.5" for epoch in (1, 2) for step in (10, 20, 30)]
    events = events_of(lines)
    steps = [event.step for event in events if isinstance(event, Step)]
    assert steps == [10, 20, 30, 40, 50, 60]
    totals = [event.total_steps for event in events if isinstance(event, RunInfo) and event.total_steps]
    assert totals == [60]
    assert [event.status for event in events if isinstance(event, Ended)] == ["finished"]
    tail = [f"Epoch: [1][{step}/30]  Loss 0.5 (0.6)" for step in (10, 20)]
    assert [step.step for step in steps_of("Epoch: [0][29/30]  Loss 0.5", *tail)] == [29, 40, 50]


def test_steps_of_each_epoch_make_the_total_once_they_are_seen_to_begin_anew() -> None:
    events = events_of([f"Epoch {epoch}/3, Step {step}/4, Loss: 0.5" for epoch in (1, 2) for step in (2, 4)])
    assert [event.step for event in events if isinstance(event, Step)] == [2, 4, 6, 8]
    totals = [event.total_steps for event in events if isinstance(event, RunInfo) and event.total_steps]
    assert totals == [4, 12]


def test_steps_done_again_after_a_restart_are_another_attempt() -> None:
    events = events_of([f"Step {step}/9 | loss=0.5" for step in (1, 2, 3, 4, 5, 2, 3)])
    assert [(e.from_step, e.attempt) for e in events if isinstance(e, Restart)] == [(2, 1)]
    assert [e.attempt for e in events if isinstance(e, Step)] == [0, 0, 0, 0, 0, 1, 1]
    several_ranks = events_of([f"Step {step}/9 | loss=0.5" for step in (1, 1, 2, 1, 2, 3, 2)])
    assert not [e for e in several_ranks if isinstance(e, Restart)]


def test_the_header_names_the_model_and_where_the_run_is_billed() -> None:
    lines = [
        "Connecting to Tinker...",
        "[a] 7473 examples | model=Org/Model-8B seed=42",
        "[a]  1/2 | loss=1.0",
    ]
    infos = [event for event in events_of(lines) if isinstance(event, RunInfo)]
    assert {info.model for info in infos} >= {"Org/Model-8B"}
    assert {info.platform for info in infos} >= {"tinker"}


def test_the_program_s_own_end_is_a_crash_and_generated_code_s_is_not() -> None:
    def ends(path: str) -> list[str]:
        lines = [
            "Step 1/9 | loss=0.5",
            "Traceback (most recent call last):",
            f'  File "{path}", line 88, in <module>',
            "    state = client.save()",
            "TypeError: save() missing 1 required positional argument",
        ]
        return [event.message for event in events_of(lines) if isinstance(event, Ended)]

    assert ends("/home/user/tooluse.py") == ["TypeError: save() missing 1 required positional argument"]
    assert ends("/tmp/tmp3k/solution.py") == []


def test_it_is_recognised_by_three_such_lines_only() -> None:
    def score(head: str) -> float:
        return FORMAT.score(Probe(path=Path("x"), is_dir=False, head=head))

    assert score("\n".join([*LINES, LINES[2]])) > 0.25
    assert score("\n".join(LINES)) == 0, "two, and one whose loss is no number"
    assert score("  Step 0:\n    correct: 0.0\n" * 5) == 0, "a trajectory's steps"
    acted = [f"Step {n}: action=look reward=0.0 done=false" for n in (1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2)]
    assert score("\n".join(acted)) == 0, "an agent's steps"
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


def test_a_line_that_is_no_row_of_numbers_takes_no_time_however_long_it_is() -> None:
    began = process_time()
    steps = steps_of("Epoch 1/2, Step 1, Loss: 0.5", f"Epoch 1/2, Step 2, Loss: 0.4, nan{'a' * 400_000}")
    assert [step.raw["Loss"] for step in steps] == [0.5, 0.4]
    assert process_time() - began < 1.0
