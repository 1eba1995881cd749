"""Step lines, whole, cut, glued, prefixed and coloured."""

import math
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rltop.models.event import Event
from rltop.models.step import Step
from rltop.monitor.source import Line
from rltop.monitor.sources.verl import stepline
from rltop.monitor.sources.verl.console import ConsoleParser
from rltop.monitor.state import RunState

Read = Callable[..., list[Event]]
Fold = Callable[..., RunState]

BODY = "actor/pg_loss:-0.25 - response_length/mean:100.5 - timing_s/gen:7.0 - timing_s/step:12.5"
VALUES = {
    "actor/pg_loss": -0.25,
    "response_length/mean": 100.5,
    "timing_s/gen": 7.0,
    "timing_s/step": 12.5,
}


def steps(events: list[Event]) -> list[Step]:
    return [event for event in events if isinstance(event, Step)]


@pytest.mark.parametrize(
    "line",
    [
        f"step:3 - {BODY}",
        f"(TaskRunner pid=12) step:3 - {BODY}",
        f"\x1b[36m(TaskRunnerV1 pid=12)\x1b[0m step:3 - {BODY}",
        f"\x1b[2m\x1b[36m(main_task pid=12)\x1b[0m step:3 - {BODY}",
        f"[36m(TaskRunner pid=12)[0m step:3 - {BODY}",
        f"(TaskRunner pid=12, ip=10.0.0.7) step:3 - {BODY}",
        f"(abWorkerDict_0:0 WorkerDict pid=12) step:3 - {BODY}",
        f"some chatter without a line end step:3 - {BODY}",
        f"step:3 - {BODY}(TaskRunner pid=12) INFO:2026-01-02 03:04:05,678:saved",
        f"step:3 - {BODY}\rTraining Progress:  1%|  | 3/300 [00:37<1:01:00, 12.5s/it]",
        f"step:3 - {BODY}/usr/lib/python3/x.py:48: UserWarning: No device id: using 0",
    ],
)
def test_a_step_line_is_found_wherever_it_stands_in_a_line(read: Read, line: str) -> None:
    (step, *_) = steps(read(line))
    assert (step.step, step.raw, step.duration_s) == (3, VALUES, 12.5)


def test_the_global_step_inside_a_line_is_not_another_step(read: Read) -> None:
    told = steps(read(f"step:3 - training/global_step:3 - training/epoch:0 - {BODY}"))
    assert [step.step for step in told] == [3]


def test_every_form_of_number_is_read() -> None:
    body = (
        "a/np:np.float64(0.25) - a/int:np.int64(2) - a/nan:np.float64(nan) - a/inf:inf - a/ninf:-inf - "
        "a/true:True - a/false:False - a/small:1e-06 - a/neg:-0.0 - lr(1e-3):0.5"
    )
    values = stepline.metrics(1, body).values
    assert math.isnan(values.pop("a/nan"))
    assert values == {
        "a/np": 0.25,
        "a/int": 2.0,
        "a/inf": math.inf,
        "a/ninf": -math.inf,
        "a/true": 1.0,
        "a/false": 0.0,
        "a/small": 1e-06,
        "a/neg": 0.0,
        "lr(1e-3)": 0.5,
    }


def test_a_key_may_hold_colons_parentheses_and_the_separator() -> None:
    body = "val-core/set:one/acc/mean@1:0.5 - val-core/two - parts/acc/mean@1:0.25 - timing_s/step:2.0"
    read = stepline.metrics(1, body)
    assert read.values == {
        "val-core/set:one/acc/mean@1": 0.5,
        "val-core/two - parts/acc/mean@1": 0.25,
        "timing_s/step": 2.0,
    }
    assert read.bad == 0


def test_a_piece_that_is_no_metric_is_counted_and_named() -> None:
    parser = ConsoleParser()
    list(parser.feed(Line("step:7 - actor/pg_loss:0.1 - oops:what - timing_s/step:3.0", None, 41)))
    assert parser.bad_lines == 1
    assert parser.first_bad.startswith("line 41: step 7")


@pytest.mark.parametrize("width", [40, 61, 80, 97])
def test_a_hard_wrapped_paste_gives_the_same_numbers_as_the_whole_line(read: Read, width: int) -> None:
    whole = f"(TaskRunner pid=12) step:3 - {BODY} - critic/score/mean:0.123456789 - perf/throughput:1234.5"
    cut = "\n".join(whole[at : at + width] for at in range(0, len(whole), width))
    told = steps(read(cut + "\n(WorkerDict pid=9) done\n"))
    assert told[-1].raw == steps(read(whole))[-1].raw
    assert {step.step for step in told} == {3}


def test_a_whole_line_is_told_at_once_and_not_only_when_the_next_one_comes() -> None:
    parser = ConsoleParser()
    assert steps(list(parser.feed(Line(f"step:3 - {BODY}", None, 1))))


def test_a_cut_line_waits_for_its_rest_and_flush_gives_what_there_is() -> None:
    parser = ConsoleParser()
    assert not steps(list(parser.feed(Line(f"step:3 - {BODY} - response_length/cl", None, 1))))
    assert steps(list(parser.flush()))[0].raw == VALUES


def test_what_follows_a_step_line_is_not_taken_for_its_rest(read: Read) -> None:
    told = steps(read(f"step:3 - {BODY}\nepoch 0, step 4\n12345\nstep:4 - {BODY}"))
    assert [(step.step, step.raw) for step in told] == [(3, VALUES), (4, VALUES)]


def test_a_last_line_that_grew_replaces_what_was_read_of_it(fold: Fold) -> None:
    parser = ConsoleParser()
    first = list(parser.feed(Line("step:3 - actor/pg_loss:0.5 - timing_s/step:12", None, 9)))
    again = list(parser.feed(Line("step:3 - actor/pg_loss:0.5 - timing_s/step:12.75", None, 9)))
    assert steps(first)[0].duration_s == 12
    assert (steps(again)[0].duration_s, steps(again)[0].attempt) == (12.75, 0)


def test_a_log_that_holds_every_line_twice_has_every_step_once(fold: Fold) -> None:
    lines = [f"step:{n} - {BODY[:-4]}{n}.5" for n in range(1, 6)]
    state = fold("\n".join(line for line in lines for _ in range(2)))
    assert (list(state.history.steps), state.attempt) == ([1, 2, 3, 4, 5], 0)


def test_printed_validation_metrics_are_no_steps(fold: Fold) -> None:
    state = fold(
        "(TaskRunner pid=1) (\"Initial validation metrics: {'val-core/a/acc/mean@1': \"\n"
        "(TaskRunner pid=1)  \"np.float64(0.5), 'val-aux/num_turns/min': np.int64(2)}\")\n"
        "(TaskRunner pid=1) step:0 - val-core/a/acc/mean@1:np.float64(0.5)\n"
    )
    assert (len(state.history), len(state.history.evals), state.ended) == (0, 1, None)


def test_several_lines_of_one_step_are_one_step_and_leave_it_open(fold: Fold, read: Read) -> None:
    text = (
        "(FullyAsyncTrainer pid=1) step:4 - fully_async/rollouter/active_time:5.0\n"
        "(FullyAsyncTrainer pid=1) step:4 - fully_async/count/current_param_version:4 - actor/pg_loss:0.1"
        " - timing_s/gen:3.0 - timing_s/step:9.0\n"
        "(FullyAsyncTrainer pid=1) step:4 - val-core/a/acc/mean@1:0.5\n"
    )
    assert not any(step.complete for step in steps(read(text))[:2])
    state = fold(text)
    assert (len(state.history), len(state.history.evals)) == (1, 1)
    row = state.history.row(0)
    assert (row.raw("fully_async/rollouter/active_time"), row.get("duration_s")) == (5.0, 9.0)
    assert row.raw("val-core/a/acc/mean@1") == 0.5


@given(
    st.dictionaries(
        st.from_regex(r"[a-z_]{1,6}(/[a-z_@:\"\\]{1,6}){0,2}", fullmatch=True),
        st.one_of(st.floats(), st.integers(-(10**20), 10**20)),
        max_size=8,
    ),
    st.sampled_from(("{}", "np.float64({})", "np.int32({})")),
)
def test_a_line_is_read_alike_in_one_go_and_piece_by_piece(values: dict[str, float], form: str) -> None:
    body = " - ".join(f"{key}:{form.format(repr(value))}" for key, value in values.items())
    read = stepline.metrics(1, body)
    assert read.bad == 0
    assert {key: repr(value) for key, value in read.values.items()} == {
        key: repr(float(value)) for key, value in values.items()
    }


def test_a_line_of_separators_takes_no_longer_than_its_length() -> None:
    read = stepline.metrics(3, "a:1.0 - " + "b - " * 100_000 + "c:2.0")
    assert read.values["a"] == 1.0
    assert max(map(len, read.values)) < 2 * stepline.LONGEST_KEY
    assert read.bad > 100


def test_a_number_of_a_hundred_thousand_digits_is_passed_over_at_once() -> None:
    read = stepline.metrics(3, "a:1.0 - b:" + "1" * 100_000 + "x - c:2.0")
    assert read.values == {"a": 1.0, "c": 2.0}
