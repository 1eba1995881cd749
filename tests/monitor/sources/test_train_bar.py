from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rltop.models.event import Ended, Event, Progress, Restart
from rltop.models.run import RunInfo
from rltop.models.step import Step
from rltop.monitor.reduce import reduce
from rltop.monitor.source import Line, Probe
from rltop.monitor.sources import train_bar, train_console
from rltop.monitor.sources.train_bar import TrainBarParser
from rltop.monitor.state import RunState


def bar(label: str, step: int, total: int, clock: str, numbers: str = ", loss=0.5") -> str:
    return f"\r{label}{step * 100 // total:>4}%|###   | {step}/{total} [{clock}<01:00,  2.00s/it{numbers}]"


def events_of(*lines: str) -> list[Event]:
    parser = TrainBarParser()
    events = [event for n, text in enumerate(lines, 1) for event in parser.feed(Line(text, None, n))]
    return [*events, *parser.flush()]


def steps_of(*lines: str) -> list[int]:
    return [event.step for event in events_of(*lines) if isinstance(event, Step)]


def info_of(*lines: str) -> RunInfo:
    state = RunState()
    for event in events_of(*lines):
        state = reduce(state, event)
    return state.info


def score_of(*lines: str) -> float:
    return train_bar.FORMAT.score(Probe(path=Path("x"), is_dir=False, head="\n".join(lines)))


def test_a_step_is_read_from_every_picture() -> None:
    lines = [bar("Training: ", n, 9, f"00:{2 * n:02}", f", loss={n}.5, reward=0.25") for n in range(4)]
    events = events_of("".join(lines))
    steps = [event for event in events if isinstance(event, Step)]
    assert [(one.step, one.loss, one.reward_mean) for one in steps] == [
        (1, 1.5, 0.25),
        (2, 2.5, 0.25),
        (3, 3.5, 0.25),
    ]
    assert [one.duration_s for one in steps] == [None, 2, 2]
    assert [e.elapsed_s for e in events if isinstance(e, Progress)] == [2, 4, 6]
    assert info_of("".join(lines)).total_steps == 9


def test_a_clock_of_whole_seconds_is_read_over_as_many_steps_as_it_takes() -> None:
    lines = [bar("", n, 90, f"00:0{n // 4}") for n in range(1, 17)]
    took = [event.duration_s for event in events_of(*lines) if isinstance(event, Step)]
    assert [one for one in took if one is not None] == [2 / 7, 0.25]


def test_epochs_with_a_number_are_laid_end_to_end_and_evaluations_left_out() -> None:
    lines = [
        bar(f"Epoch {epoch}/2:", n, 3, f"00:0{n}") + bar("Evaluating:", n, 3, "00:09", ", loss=9.0")
        for epoch in (1, 2)
        for n in (1, 2, 3)
    ]
    assert steps_of(*lines) == [1, 2, 3, 4, 5, 6]
    assert info_of(*lines).total_steps == 6
    events = events_of(*lines)
    assert [e.elapsed_s for e in events if isinstance(e, Progress)] == [1, 2, 3, 4, 5, 6]
    assert [e.status for e in events if isinstance(e, Ended)] == ["finished"]
    assert not [e for e in events if isinstance(e, Restart)]


def test_epochs_may_count_from_nought_without_an_end() -> None:
    lines = [bar(f"Epoch {epoch}:", 5, 5, "00:09") for epoch in (0, 1)]
    assert steps_of(*lines) == [5, 10]
    assert info_of(*lines).total_steps is None


def test_rounds_without_a_number_are_joined() -> None:
    lines = [bar("", n, 2, f"00:0{n}") for _ in range(3) for n in (1, 2)]
    assert steps_of(*lines) == [1, 2, 3, 4, 5, 6]
    assert info_of(*lines).notes == (train_bar.ANEW,)
    last = [bar("", 2, 2, clock) for clock in ("00:09", "00:08")]
    assert steps_of(*last) == [2, 4]


def test_a_bar_of_epochs_counts_them_once() -> None:
    assert steps_of(*(bar(f"Epoch {n}/9:", n, 9, f"00:0{n}") for n in (1, 2, 3))) == [1, 2, 3]
    assert steps_of(*(bar(f"Epoch {n + 1}/9:", n, 9, f"00:0{n}") for n in (1, 2, 3))) == [1, 2, 3]


def test_going_back_within_a_bar_is_a_restart() -> None:
    lines = [bar("run:", n, 9, f"00:0{n}") for n in (4, 5, 6, 2, 3)]
    events = events_of(*lines)
    assert [(e.from_step, e.attempt) for e in events if isinstance(e, Restart)] == [(2, 1)]
    assert [e.elapsed_s for e in events if isinstance(e, Progress)] == [4, 5, 6, 8, 9]


def test_torchtune_is_read_by_its_configuration() -> None:
    lines = [
        "epochs: 2",
        *(
            bar(f"{e}|{(e - 1) * 4 + n}|Loss: 0.{n}:", n, 4, f"00:0{n}", "")
            for e in (1, 2)
            for n in (1, 2, 3, 4)
        ),
    ]
    assert steps_of(*lines) == list(range(1, 9))
    assert info_of(*lines).total_steps == 8
    assert [e.loss for e in events_of(*lines) if isinstance(e, Step)][:2] == [0.1, 0.2]
    assert score_of(*lines) == 0.2


def test_openrlhf_of_before_its_dicts_is_read_by_the_outer_bar() -> None:
    inner = bar("Train epoch [1/1]:", 1, 2, "00:01", ", pg=0.5, ret=0.25")
    numbers = ", policy_loss=0.5, kl=0.25, reward=0.75, response_length=164, total_length=200"
    lines = [
        bar("Episode [1/2]:", 0, 5, "00:00", "").replace("2.00s/it", "?it/s"),
        *(inner + bar(f"Episode [{e}/2]:", n, 5, f"00:0{n}", numbers) for e in (1, 2) for n in (4, 5)),
    ]
    steps = [event for event in events_of(*lines) if isinstance(event, Step)]
    assert [one.step for one in steps] == [4, 5, 9, 10]
    assert (steps[0].loss, steps[0].kl, steps[0].reward_mean) == (0.5, 0.25, 0.75)
    assert steps[0].response_length_mean == 164
    assert (info_of(*lines).framework, info_of(*lines).total_steps) == ("openrlhf", 10)


@pytest.mark.parametrize(
    "line",
    [
        bar("Loading checkpoint shards:", 1, 4, "00:01", ", loss=0.5"),
        bar("Rollout:", 1, 4, "00:01", ", reward=0.5"),
        bar("Training:", 1, 4, "00:01", ""),
        bar("Training:", 1, 4, "00:01", ", v_num=3"),
        bar("Training", 1, 4, "00:01"),
        bar("Training:", 5, 4, "00:01"),
        "50%|###| 1/2",
    ],
)
def test_other_bars_are_none(line: str) -> None:
    assert steps_of(line) == []
    assert score_of(line, line.replace("1/4", "2/4")) == 0


def test_a_traceback_ends_it() -> None:
    crash = ["Traceback (most recent call last):", '  File "x.py", line 1, in <module>', "ValueError: no"]
    lines = [bar("Training:", 1, 4, "00:01"), *crash]
    assert [e.status for e in events_of(*lines) if isinstance(e, Ended)] == ["crashed"]


def test_lines_that_tell_their_step_are_left_to_the_other_format() -> None:
    lines = [f"Step {n}/9 | loss: 0.5" + bar("Training:", n, 9, "00:01") for n in range(1, 5)]
    probe = Probe(path=Path("x"), is_dir=False, head="\n".join(lines))
    assert train_console.FORMAT.score(probe) > train_bar.FORMAT.score(probe) > 0
    assert train_bar.FORMAT.score(Probe(path=Path("x"), is_dir=True)) == 0


@given(st.text(alphabet="0123456789%|#[]/<:,= \rEpoch.loss", max_size=120), st.integers(0, 60))
def test_no_line_makes_it_raise(noise: str, at: int) -> None:
    line = bar("Epoch 1/2:", 1, 4, "00:01")
    events_of(line[:at] + noise + line[at:], line, noise)
