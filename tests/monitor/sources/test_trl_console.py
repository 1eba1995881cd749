from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rltop.models.event import Ended, Event, Progress, Restart
from rltop.models.step import Eval, Step
from rltop.monitor.reduce import reduce
from rltop.monitor.source import Line, Probe
from rltop.monitor.sources.trl import FORMAT
from rltop.monitor.sources.trl_console import TrlConsoleParser
from rltop.monitor.state import RunState


def row(tokens: float | str, length: float = 100.0, extra: str = "") -> str:
    return (
        f"{{'loss': -0.0, 'grad_norm': nan, 'learning_rate': 1e-06, 'num_tokens': {tokens!r}, "
        f"'completions/mean_length': {length}, 'completions/max_length': 250.0, "
        f"'completions/clipped_ratio': 0.125, 'reward': 0.5, 'kl': 0.001{extra}}}"
    )


def bar(step: int, total: int = 20, clock: str = "04:24") -> str:
    return f"{step * 100 // total:3d}%|██▌       | {step}/{total} [{clock}<13:02, 52.17s/it]"


def events_of(lines: Iterable[str], flush: bool = True) -> list[Event]:
    parser = TrlConsoleParser()
    events = [event for n, text in enumerate(lines, 1) for event in parser.feed(Line(text, None, n))]
    if flush:
        events.extend(parser.flush())
    return events


def state_of(events: Iterable[Event]) -> RunState:
    state = RunState()
    for event in events:
        state = reduce(state, event)
    return state


def steps_of(events: Iterable[Event]) -> list[int]:
    return [event.step for event in events if isinstance(event, Step)]


def test_a_row_under_its_bar_is_the_bars_step() -> None:
    lines = [bar(0), "\r" + bar(1) + "\r" + row(1000.0), bar(1), "\r" + bar(2), row(2200.0), bar(2)]
    events = events_of(lines, flush=False)
    assert steps_of(events) == [1, 2]
    state = state_of(events)
    assert state.info.framework == "trl"
    assert state.info.algorithm == "rl"
    assert state.info.total_steps == 20
    assert [state.history.get("total_tokens", i) for i in (0, 1)] == [1000, 1200]
    assert state.history.get("response_length_mean", 0) == 100
    assert state.history.get("response_length_max", 0) == 250
    assert state.history.get("clip_ratio", 0) == 0.125
    assert state.history.get("reward_mean", 0) == 0.5
    assert state.history.get("grad_norm", 0) is None, "nan is unknown"
    assert state.progress == Progress(step=2, total_steps=20, elapsed_s=264.0)


def test_rows_that_a_buffer_held_back_are_counted_evenly() -> None:
    lines = [bar(n) for n in range(8)] + [row(1000.0 * n) for n in range(1, 7)] + [bar(7), bar(8)]
    assert steps_of(events_of(lines[:-2], flush=False)) == []
    assert steps_of(events_of(lines, flush=False)) == [1, 2, 3, 4, 5, 6]


def test_a_row_for_ten_steps_is_told_as_ten_steps_once_that_is_sure() -> None:
    lines = [bar(0, 500)]
    for n in (10, 20, 30):
        lines += [bar(n, 500), row(float(1000 * n)), bar(n, 500)]
    state = state_of(events_of(lines))
    assert list(state.history.steps) == [10, *range(11, 31)] or list(state.history.steps) == [
        10,
        20,
        *range(21, 31),
    ]
    last = state.history.row(len(state.history) - 1)
    assert last.get("total_tokens") == 1000
    assert last.raw("num_tokens") == 30_000
    assert any("one row for 10 steps" in note for note in state.info.notes)


def test_a_log_that_has_only_its_bar_says_where_the_rows_may_be() -> None:
    silent = [bar(0), *("\r" + bar(n) for n in range(1, 13))]
    (note,) = state_of(events_of(silent)).info.notes
    assert "stands at step 12" in note
    assert "PYTHONUNBUFFERED" in note
    summary = "{'train_runtime': 60.0, 'train_loss': 0.5, 'epoch': 1.0}"
    for spoken in ([*silent, row(1000.0), bar(12)], [bar(0)], [*silent, summary]):
        assert not [note for note in state_of(events_of(spoken)).info.notes if "PYTHONUNBUFFERED" in note]


def test_without_any_bar_rows_are_counted() -> None:
    assert steps_of(events_of([row(100.0), row(220.0), row(300.0)], flush=False)) == [1, 2, 3]


def test_a_resumed_run_starts_where_its_bar_does() -> None:
    lines = [
        bar(0, 400),
        bar(101, 400),
        row(500_000.0),
        bar(101, 400),
        bar(102, 400),
        row(501_000.0),
        bar(102, 400),
    ]
    state = state_of(events_of(lines))
    assert list(state.history.steps) == [101, 102]
    assert state.history.get("total_tokens", 0) is None, "the counter counts from before the log"
    assert state.history.get("total_tokens", 1) == 1000


def test_rows_left_out_of_the_log_do_not_move_the_later_ones() -> None:
    lines = [bar(0, 50), *(row(1000.0 * n) for n in range(1, 11)), bar(10, 50)]
    lines += [row(11_000.0), row(12_000.0), row(48_000.0), row(49_000.0), row(50_000.0), bar(50, 50)]
    state = state_of(events_of(lines))
    assert list(state.history.steps) == [*range(1, 13), 48, 49, 50]
    assert state.history.get("total_tokens", 12) is None
    assert state.history.get("total_tokens", 14) == 1000


def test_numbers_printed_as_strings_are_read_but_coarse_tokens_not_subtracted() -> None:
    line = (
        "{'loss': '0.1234', 'num_tokens': '1.121e+07', 'reward': '0.5', 'step_time': '12.5', 'epoch': '0.1'}"
    )
    state = state_of(events_of([line, line.replace("1.121", "1.122")]))
    assert state.history.get("loss", 0) == 0.1234
    assert state.history.get("duration_s", 1) == 12.5
    assert state.history.get("total_tokens", 1) is None
    assert state.history.row(0).raw("num_tokens_printed") == 1.121e07


def test_a_row_cut_over_two_lines_with_a_bar_in_between_is_mended() -> None:
    whole = row(1000.0)
    parser = TrlConsoleParser()
    events: list[Event] = []
    for n, text in enumerate([whole[:60] + "\r" + bar(3), whole[60:]], 1):
        events.extend(parser.feed(Line(text, None, n)))
    events.extend(parser.flush())
    assert len(steps_of(events)) == 1
    assert parser.bad_lines == 0


def test_a_row_whose_end_never_comes_is_counted() -> None:
    parser = TrlConsoleParser()
    for n, text in enumerate([row(1.0)[:50], row(2.0), row(3.0)], 1):
        list(parser.feed(Line(text, None, n)))
    assert parser.bad_lines == 1
    assert parser.first_bad.startswith("line 2: ")


def test_an_evaluation_and_the_summary_are_no_steps() -> None:
    lines = [
        row(1000.0),
        "{'eval_loss': 0.2, 'eval_runtime': 30.5, 'eval_completions/mean_length': 90.0, 'eval_reward': 0.75}",
        "{'train_runtime': 798.1488, 'train_samples_per_second': 0.251, 'train_loss': 1e-06, 'epoch': 1.52}",
    ]
    events = events_of(lines)
    assert steps_of(events) == [1]
    (evaluation,) = [event for event in events if isinstance(event, Eval)]
    assert (evaluation.step, evaluation.duration_s, evaluation.response_length_mean) == (1, 30.5, 90.0)
    assert evaluation.scores["reward"] == 0.75
    assert [event.status for event in events if isinstance(event, Ended)] == ["finished"]


def test_a_second_training_in_the_same_log_is_another_attempt() -> None:
    over = "{'train_runtime': 10.0, 'train_loss': 0.1}"
    lines = [bar(0), row(1000.0), bar(1), over, bar(0, 50), row(900.0), bar(1, 50)]
    events = events_of(lines)
    assert [event.from_step for event in events if isinstance(event, Restart)] == [1]
    state = state_of(events)
    assert [*zip(state.history.steps, state.history.attempts, strict=True)] == [(1, 0), (1, 1)]
    assert state.info.total_steps == 50
    assert state.ended is None
    assert state.history.get("total_tokens", 1) == 900


def test_bars_of_other_things_are_not_the_trainings() -> None:
    lines = [
        "Loading checkpoint shards: 100%|███| 2/2 [00:01<00:00,  1.03it/s]",
        bar(0),
        bar(1),
        row(5.0),
        bar(3, 7),
    ]
    state = state_of(events_of(lines))
    assert state.info.total_steps == 20
    assert list(state.history.steps) == [1]


def test_the_header_tells_size_machine_and_model() -> None:
    lines = [
        ">   --model-name unsloth/Qwen3-4B-Base \\",
        ">   --lora-rank 64 \\",
        "   \\\\   /|    NVIDIA GeForce RTX 4090 D. Num GPUs = 1. Max memory: 23.546 GB. Platform: Linux.",
        "max_prompt_length=202, max_completion_length=3894",
        "==((====))==  Unsloth - 2x faster free finetuning | Num GPUs used = 1",
        "   \\\\   /|    Num examples = 12,709 | Num Epochs = 1 | Total steps = 20",
        "\\        /    Data Parallel GPUs = 1 | Total batch size (4 x 8 x 1) = 32",
        row(4000.0),
    ]
    state = state_of(events_of(lines))
    info = state.info
    assert (info.model, info.lora_rank, info.gpus, info.gpu_type) == (
        "unsloth/Qwen3-4B-Base",
        64,
        1,
        "NVIDIA GeForce RTX 4090 D",
    )
    assert (info.total_steps, info.max_tokens, info.max_prompt_tokens) == (20, 3894, 202)
    assert state.history.get("sampled_tokens", 0) == 3200
    assert state.history.get("prefill_tokens", 0) == 800
    assert state.history.get("prompt_length_mean", 0) == 25


def test_what_a_tracker_prints_at_the_end_is_no_step() -> None:
    lines = [
        row(10.0),
        "wandb:        train/loss 0.5",
        "wandb: Run summary:",
        "{'not': 'a row'}",
        "{'answer': 3}",
    ]
    assert steps_of(events_of(lines)) == [1]


def test_the_real_unsloth_console(shared_data: Path) -> None:
    (source,) = FORMAT.open(shared_data / "trl" / "unsloth-console" / "train.log")
    state = state_of([*source.poll(0.0), *source.close()])
    told = [*zip(state.history.steps, state.history.attempts, strict=True)]
    assert told == [(n, 0) for n in range(1, 21)] + [(n, 1) for n in (*range(1, 25), 48, 49, 50)]
    assert state.info.total_steps == 50
    assert state.history.get("response_length_mean", 0) == 773.53125
    assert state.history.get("sampled_tokens", 0) == 773.53125 * 32
    assert state.history.get("clip_ratio", 0) == 0.03125
    assert state.history.get("reward_mean", 0) == -3.3125
    assert state.history.get("grad_norm", 0) is None
    assert state.history.get("reward_mean", 46) == -4.875, "the last row is cut over two lines"
    assert state.history.get("duration_s", 0) is None
    assert state.progress is not None
    assert (state.progress.step, state.progress.elapsed_s) == (50, 798.0)
    assert state.ended is not None
    assert state.ended.status == "finished"
    assert all(status.bad_lines == 0 for status in state.sources.values())


def test_a_console_is_recognised_by_its_rows() -> None:
    def score(head: str) -> float:
        return FORMAT.score(Probe(path=Path("x"), is_dir=False, head=head))

    assert score(row(1.0)) > 0.5
    assert 0.2 < score("***** Running training *****\n  Num examples = 5") < 0.6
    assert score("{'answer': 3}") == 0
    assert score("'actor': {'optim': {'lr': 1e-06, 'weight_decay': 0.01}}") == 0, "a configuration"
    assert score("step:1 - actor/loss:0.1") == 0
    assert score('{"step": 1, "loss": 0.5}\n') == 0


WHOLE = "\n".join(
    [
        bar(0),
        bar(1),
        row(1000.0),
        bar(2),
        row("1.2e+04"),
        "{'eval_loss': 0.1}",
        bar(3),
        "{'train_runtime': 5.0}",
    ]
)


@given(
    st.lists(
        st.tuples(st.integers(0, len(WHOLE)), st.text(max_size=3), st.integers(0, 9)), min_size=1, max_size=8
    )
)
def test_no_mutated_log_makes_it_raise(edits: list[tuple[int, str, int]]) -> None:
    text = WHOLE
    for position, insert, cut in edits:
        text = text[:position] + insert + text[position + cut :]
    for event in events_of(text.split("\n")):
        assert not isinstance(event, Step) or event.step >= 0


@pytest.mark.parametrize("junk", ["{'loss': " * 3000, "{'loss': 1, 'x': " + "[" * 20_000, "0%|" * 5000])
def test_hostile_lines_take_bounded_time(junk: str) -> None:
    assert steps_of(events_of([junk, row(1.0), row(2.0)])) != []


def test_one_line_may_hold_the_bars_way_from_row_to_row() -> None:
    """As a file has it: the bar's pictures are separated by carriage returns alone."""
    way = "".join("\r" + bar(step, 60) for step in range(20))
    lines = ["\r" + bar(0, 60), way + "\r" + bar(20, 60) + "\r", row(1000.0)]
    for start in (20, 40):
        way = "".join("\r" + bar(step, 60) for step in range(start, start + 21))
        lines += ["", way + "\r  \r", row(1000.0 * (1 + start / 20))]
    events = events_of([*lines, "", "\r" + bar(60, 60)])
    assert [event.step for event in events if isinstance(event, Step) and event.raw] == [20, 40, 60]
    assert steps_of(events) == list(range(1, 61))


def test_epochs_decide_between_spacings_that_both_fit_the_bar() -> None:
    """Ten rows at step 510 may be 51 steps apart, or 50 with the bar ahead: 1500 steps are 3 epochs."""
    rows = [row(100.0 * n, extra=f", 'epoch': {n / 10:.2f}") for n in range(1, 11)]
    state = state_of(events_of([bar(0, 1500), *rows, bar(510, 1500)]))
    assert state.history.steps[-1] == 500
    assert any("one row for 50 steps" in note for note in state.info.notes)


def test_no_row_is_ahead_of_the_bar() -> None:
    rows = [row(1000.0 * n) for n in range(1, 9)]
    lines = [bar(0, 100), *rows[:3], bar(30, 100), *rows[3:6], bar(60, 100), *rows[6:], bar(62, 100)]
    assert steps_of(events_of(lines, flush=False))[-1] == 62


def test_the_summary_of_a_training_without_rows_is_its_row() -> None:
    summary = "{'train_runtime': 940.5, 'reward': 0.75, 'completion_length': 120.0, 'epoch': 0.01}"
    events = events_of([bar(0, 6), *("\r" + bar(step, 6) for step in range(1, 7)), summary, bar(6, 6)])
    state = state_of(events)
    assert state.steps_done == 6
    assert state.history.get("reward_mean", 5) == 0.75
    assert state.shown_s == 940.5
    assert [event.status for event in events if isinstance(event, Ended)] == ["finished"]


def test_a_log_that_begins_with_a_resume_has_only_its_own_steps() -> None:
    lines = [bar(0, 600), "\r" + bar(531, 600), row(5000.0), bar(532, 600), row(6000.0), bar(533, 600)]
    state = state_of(events_of(lines))
    assert list(state.history.steps) == [531, 532, 533]
    assert state.info.total_steps == 600


def test_rows_of_a_resumed_run_that_come_at_once_are_spaced_by_their_epochs() -> None:
    rows = [row(1000.0 * n, extra=f", 'epoch': {1 + n * 0.01:.2f}") for n in range(1, 6)]
    state = state_of(events_of([bar(0, 3000), *rows, bar(1055, 3000)]))
    assert list(state.history.steps)[-1] == 1050
    assert any("one row for 10 steps" in note for note in state.info.notes)


def test_a_bar_that_begins_anew_is_the_run_resumed() -> None:
    lines = [bar(0), *(line for step in range(1, 9) for line in (row(1000.0 * step), bar(step)))]
    lines += ["Killed", bar(0), "\r" + bar(6), row(6000.0), bar(6), "\r" + bar(7), row(7000.0), bar(7)]
    events = events_of(lines)
    assert [(event.from_step, event.attempt) for event in events if isinstance(event, Restart)] == [(6, 1)]
    assert [event.step for event in events if isinstance(event, Step) and event.attempt] == [6, 7]


def test_another_training_in_the_same_log_is_told_by_the_rows_beside_its_bar() -> None:
    lines = [bar(0), row(1000.0), bar(1), row(2000.0), bar(2), "Killed", bar(0, 50)]
    lines += [bar(1, 50), row(100.0), bar(1, 50), bar(2, 50), row(200.0), bar(2, 50), bar(3, 50)]
    events = events_of(lines)
    state = state_of(events)
    assert state.info.total_steps == 50
    assert [event.step for event in events if isinstance(event, Step) and event.attempt] == [1, 2]


def test_the_bar_of_an_evaluation_is_no_other_training() -> None:
    evaluation = [bar(step, 7) for step in range(8)]
    lines = [bar(0), row(1000.0), *evaluation, "{'eval_loss': 0.5}", bar(1), row(2000.0), *evaluation, bar(2)]
    events = events_of(lines)
    assert not [event for event in events if isinstance(event, Restart)]
    assert state_of(events).info.total_steps == 20


def test_a_row_that_is_printed_again_counts_once() -> None:
    lines = [bar(0), row(1000.0), row(1000.0), bar(1), row(2000.0), bar(2)]
    assert steps_of(events_of(line.replace("nan", "1.0") for line in lines)) == [1, 2]


def test_rows_of_ppo_and_rloo_are_training() -> None:
    text = (
        "{'eps': 3, 'objective/kl': 0.5, 'objective/scores': 0.75, 'loss/policy_avg': -0.25, "
        "'policy/entropy_avg': 0.9, 'lr': 3e-06, 'episode': 64, 'epoch': 0.01}"
    )
    assert FORMAT.score(Probe(path=Path("x"), is_dir=False, head=text)) == 0.7
    state = state_of(events_of([text, text.replace("0.75", "1.0")]))
    assert state.info.algorithm == "rl"
    assert [state.history.get("reward_mean", i) for i in (0, 1)] == [0.75, 1.0]
    assert (state.history.get("loss", 0), state.history.get("kl", 0)) == (-0.25, 0.5)


def test_rows_that_say_their_step_are_that_step() -> None:
    lines = [
        '{"loss": 0.5, "grad_norm": 1.0, "learning_rate": 1e-05, "epoch": 0.07, "step": 10}',
        '{"step": 20, "loss": 0.4, "grad_norm": 1.0, "learning_rate": 1e-05, "epoch": 0.14}',
        '{"eval_loss": 0.3, "eval_runtime": 13.5, "epoch": 0.14, "step": 20}',
        '{"loss": 0.4, "grad_norm": 1.0, "learning_rate": 1e-05, "epoch": 0.14, "step": 15}',
        '{"train_runtime": 60.5, "train_loss": 0.4, "epoch": 0.2, "step": 21}',
    ]
    assert FORMAT.score(Probe(path=Path("x"), is_dir=False, head=lines[0])) >= 0.5
    events = events_of(lines)
    assert [event.step for event in events if isinstance(event, Step) and event.raw] == [10, 20, 15]
    assert [event.step for event in events if isinstance(event, Eval)] == [20]
    assert [event.from_step for event in events if isinstance(event, Restart)] == [15]
    assert state_of(events).shown_s == 60.5


def test_rows_without_a_bar_are_said_to_be_counted() -> None:
    assert any("counted as one step" in note for note in state_of(events_of([row(1.0), row(2.0)])).info.notes)
    barred = state_of(events_of([row(1.0), bar(0), bar(1), row(2.0), bar(2)]))
    assert not any("counted as one step" in note for note in barred.info.notes)


def test_a_rows_time_is_the_bars_even_where_rows_come_long_after_it() -> None:
    way = "".join("\r" + bar(step, 4, f"00:{10 * step:02d}") for step in range(5))
    rows = [row(1000.0 * n, extra=f", 'epoch': {n / 4}") for n in range(1, 5)]
    state = state_of(events_of([way, *rows, "{'train_runtime': 41.5, 'epoch': 1.0}"]))
    assert [state.history.get("duration_s", i) for i in range(4)] == [10, 10, 10, 10]
    timed = row(1000.0, extra=", 'step_time': 7.5")
    state = state_of(events_of([bar(0), bar(1, clock="00:10"), timed, bar(1, clock="00:10")]))
    assert state.history.get("duration_s", 0) == 7.5
