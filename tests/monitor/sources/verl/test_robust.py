"""Nothing in a log may raise, and where a log is cut must not matter."""

import functools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rltop.models.event import Event
from rltop.monitor.reduce import reduce
from rltop.monitor.source import Line
from rltop.monitor.sources.verl import hydra, overrides, stepline
from rltop.monitor.sources.verl.console import ConsoleParser
from rltop.monitor.sources.verl.filelogger import FileLoggerParser
from rltop.monitor.sources.verl.steps import gpus_of
from rltop.monitor.state import RunState

SAMPLE = """\
+ python3 -m verl.trainer.main_ppo data.train_batch_size=64 'a.b=[1]'
(TaskRunner pid=7) {'actor_rollout_ref': {'actor': {'use_kl_loss': True},
(WorkerDict pid=9) Traceback (most recent call last):
(TaskRunner pid=7)                        'model': {'path': 'Org/M'},
(WorkerDict pid=9)   File "/x/a.py", line 1, in f
(TaskRunner pid=7)                        'rollout': {'n': 4}},
(TaskRunner pid=7)  'trainer': {'n_gpus_per_node': 8, 'nnodes': 1}}
(WorkerDict pid=9) ValueError: x\x1b[32m [repeated 3x across cluster]\x1b[0m
(TaskRunner pid=7) Size of train dataloader: 3, Size of val dataloader: 1
(TaskRunner pid=7) \rTraining Progress:   0%|          | 0/3 [00:00<?, ?it/s]
(TaskRunner pid=7) step:0 - val-core/a/acc/mean@1:np.float64(0.5)
\x1b[36m(TaskRunner pid=7)\x1b[0m step:1 - actor/pg_loss:np.float64(nan) - timing_s/step:9.5
(TaskRunner pid=7) \rTraining Progress:  33%|###       | 1/3 [00:12<00:24, 12.0s/it]
(TaskRunner pid=7) step:2 - actor/pg_loss:0.25 - response_length/me
an:10.5 - timing_s/gen:3.0 - timing_s/st
ep:8.5 - perf/throughput:2.0
(TaskRunner pid=7) Setting global step to 1
(TaskRunner pid=7) step:2 - actor/pg_loss:0.25 - timing_s/gen:3.0 - timing_s/step:8.75
Error executing job with overrides: ['data.train_batch_size=64']
Traceback (most recent call last):
  File "/x/main_ppo.py", line 40, in main
ray.exceptions.RayTaskError(ValueError): ray::TaskRunner.run()
ValueError: sequence too long

Set the environment variable HYDRA_FULL_ERROR=1 for a complete stack trace.
(raylet) A worker died or was killed while executing a task
"""
LINES: list[str] = [*SAMPLE.split("\n")]
PIECES = st.sampled_from(
    [
        *(
            "step:",
            "step:1 - ",
            " - ",
            "a/b:",
            "np.float64(",
            ")",
            "(TaskRunner pid=1) ",
            "nan",
            "-1e999",
            "0.5",
        ),
        *("{'", "': {'", "'}", "'", '"', ":", "\\", "\r", "\x00", "\x1b[", "\x1b[31m", "٣", "9" * 5000),
        *(
            "Training Progress:  1%|#| 1/2 [00:01<",
            "00:01, 1it/s]",
            "Epoch 1/2:  1%|#| 1/2 [00:01<00:02, 1it/s]",
        ),
        *("Traceback (most recent call last):", "Error executing job with overrides: [", "global step to 9"),
        *("verl.trainer python ", "Total training steps: ", "step:999999999999999999999999 - a/b:1"),
    ]
)


def feed(lines: list[str], parser: ConsoleParser | FileLoggerParser) -> list[Event]:
    return [event for n, text in enumerate(lines, 1) for event in parser.feed(Line(text, None, n))]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.one_of(st.text(max_size=80), st.lists(PIECES, max_size=12).map("".join)), max_size=12))
def test_no_text_makes_the_parsers_raise(lines: list[str]) -> None:
    for parser in (ConsoleParser(), FileLoggerParser()):
        events = [*feed(lines, parser), *parser.flush(), *parser.restart(), *parser.flush()]
        functools.reduce(reduce, events, RunState())


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_no_damage_to_a_log_makes_the_parser_raise(data: st.DataObject) -> None:
    lines = list(LINES)
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(lines) - 1))
        cut = data.draw(st.integers(0, len(lines[at])))
        keep = data.draw(st.integers(0, len(lines[at])))
        lines[at] = lines[at][:cut] + data.draw(st.one_of(PIECES, st.text(max_size=5))) + lines[at][keep:]
    parser = ConsoleParser()
    functools.reduce(reduce, [*feed(lines, parser), *parser.flush()], RunState())


@given(st.text(max_size=300))
def test_no_configuration_makes_the_readers_raise(text: str) -> None:
    hydra.resolved(hydra.read_yaml(text))
    overrides.from_command(text)
    overrides.from_list(text)
    stepline.metrics(1, text)


def whole() -> list[Event]:
    parser = ConsoleParser()
    return [*feed(LINES, parser), *parser.flush()]


@given(st.integers(0, len(LINES)))
def test_a_log_fed_in_two_parts_gives_the_same_events(cut: int) -> None:
    parser = ConsoleParser()
    events: list[Event] = []
    for part in (range(cut), range(cut, len(LINES))):
        for index in part:
            events.extend(parser.feed(Line(LINES[index], None, index + 1)))
    assert str([*events, *parser.flush()]) == str(whole())


def test_what_was_flushed_is_not_told_again() -> None:
    parser = ConsoleParser()
    feed(LINES, parser)
    list(parser.flush())
    assert list(parser.flush()) == []


def test_the_sample_tells_what_it_is_meant_to() -> None:
    kinds = {event.kind for event in whole()}
    assert {"run", "step", "eval", "progress", "restart", "log", "ended"} <= kinds


@pytest.mark.parametrize("each", [1e-300, 5e-324])
def test_a_throughput_of_next_to_nothing_tells_no_gpus(each: float) -> None:
    values = {"perf/total_num_tokens": 1e300, "perf/time_per_step": 1e-20, "perf/throughput": each}
    assert gpus_of(values) is None
