"""Whatever a file holds, reading it never raises."""

import json
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rltop.models.event import Event
from rltop.monitor.reduce import reduce
from rltop.monitor.source import Line
from rltop.monitor.sources.tinker import FORMAT
from rltop.monitor.sources.tinker.checkpoints import CheckpointParser
from rltop.monitor.sources.tinker.config import info_of
from rltop.monitor.sources.tinker.logs import LogParser
from rltop.monitor.sources.tinker.metrics import MetricsParser
from rltop.monitor.sources.tinker.recognise import rows_of, rows_score
from rltop.monitor.state import RunState

KEYS = st.sampled_from(
    [
        "step",
        "progress",
        "progress/batch",
        "progress/done_frac",
        "env/all/total_ac_tokens",
        "env/all/total_ob_tokens",
        "env/all/total_episodes",
        "env/all/turns_per_episode",
        "env/all/by_group/frac_mixed",
        "test/env/all/reward/total",
        "eval/x",
        "tokens/cumulative/sampled",
        "tokens/discarded/sampled",
        "num_tokens",
        "num_pairs",
        "teacher_kl",
        "mean_reward",
        "time/total",
        "time/train",
        "time/sample_s",
        "time/run_evals",
        "name",
        "batch",
        "state_path",
        "steps",
    ]
)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.integers(0, 9)
VALUES = SCALARS | st.lists(SCALARS, max_size=2) | st.dictionaries(KEYS, SCALARS, max_size=2)
ROWS = st.lists(st.dictionaries(KEYS | st.text(max_size=10), VALUES, max_size=8), max_size=10)


@given(ROWS)
@settings(max_examples=60, deadline=None)
def test_any_objects_can_be_read_and_folded(rows: list[dict[str, object]]) -> None:
    parser, state = MetricsParser(), RunState()
    lines = [Line(json.dumps(row), None, number) for number, row in enumerate(rows, 1)]
    events: list[Event] = []
    for line in lines:
        events.extend(parser.feed(line))
    events.extend(parser.restart())
    for line in lines:
        events.extend(parser.feed(line))
    for event in events:
        state = reduce(state, event)
    assert state.revision == len(events)


@given(st.lists(st.text(max_size=60) | st.just("Traceback (most recent call last):"), max_size=10))
@pytest.mark.parametrize("make", [MetricsParser, CheckpointParser, LogParser])
def test_any_text_can_be_read(make: Callable[[], MetricsParser], texts: list[str]) -> None:
    parser = make()
    for number, text in enumerate(texts, 1):
        list(parser.feed(Line(text, 1.0, number)))
    list(parser.flush())
    assert parser.bad_lines <= len(texts)


@settings(max_examples=50, deadline=None)
@given(
    st.dictionaries(
        KEYS | st.sampled_from(["dataset_builder", "dataset_configs", "max_tokens", "max_steps"]), VALUES
    )
)
def test_any_config_can_be_read(config: dict[str, object]) -> None:
    assert info_of(config).framework == "tinker"


@given(st.text(max_size=100), ROWS)
@settings(max_examples=30, deadline=None)
def test_any_head_can_be_scored(text: str, rows: list[dict[str, object]]) -> None:
    head = "\n".join([text, *(json.dumps(row) for row in rows)])
    assert 0.0 <= rows_score(rows_of(head), Path("nowhere")) <= 1.0


@given(st.binary(max_size=300), st.binary(max_size=300))
@settings(max_examples=30, deadline=None)
def test_any_bytes_in_any_file_of_a_run_can_be_read(first: bytes, second: bytes) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "iteration_000000").mkdir()
        row = b'{"step": 0, "env/all/total_ac_tokens": 4, "env/all/reward/total": 1}\n'
        (folder / "metrics.jsonl").write_bytes(row + first + b"\n" + second)
        (folder / "metrics.jsonl.pre_resume_000001").write_bytes(second + row)
        for path in (
            "config.json",
            "checkpoints.jsonl",
            "logs.log",
            "iteration_000000/train_rollout_summaries.jsonl",
        ):
            (folder / path).write_bytes(second + first)
        (source,) = FORMAT.open(folder)
        events = source.poll(1.0) + source.close()
    assert any(event.kind == "step" for event in events)
