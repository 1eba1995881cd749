import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import to_json

from rltop.models.event import SourceStatus
from rltop.monitor.reduce import reduce
from rltop.monitor.source import Probe, Source
from rltop.monitor.sources import trl
from rltop.monitor.sources.document import BREAKS_OFF, document_of
from rltop.monitor.sources.json_rows import FORMAT, JsonRowsSource, rows_of
from rltop.monitor.sources.trl_state import TrainerStateSource
from rltop.monitor.state import RunState

ROWS = [{"step": n, "mean_reward": n / 4, "loss": 0.5, "note": "x"} for n in (1, 2, 3)]
LATER = 1e12
"""Long after any file was written."""


def state_of(source: Source, state: RunState | None = None, now: float = LATER) -> RunState:
    state = state or RunState()
    for event in source.poll(now):
        state = reduce(state, event)
    return state


def score(document: object, indent: int | None = None) -> float:
    text = to_json(document, indent=indent).decode()
    return FORMAT.score(Probe(path=Path("x.json"), is_dir=False, head=text))


@pytest.mark.parametrize(
    "document", [ROWS, {"config": {"lr": 1}, "log": ROWS}, {"a": {"names": [1], "log": ROWS}}]
)
def test_rows_are_read_as_those_of_a_jsonl(document: object, tmp_path: Path) -> None:
    path = tmp_path / "history.json"
    path.write_bytes(to_json(document, indent=1))
    state = state_of(JsonRowsSource(path))
    assert list(state.history.steps) == [1, 2, 3]
    assert [state.history.get("reward_mean", i) for i in range(3)] == [0.25, 0.5, 0.75]
    assert "taken by their names: reward_mean = mean_reward, loss = loss" in state.info.notes
    assert score(document) == score(document, 1) == 0.19


def test_a_document_written_anew_tells_its_new_rows(tmp_path: Path) -> None:
    path = tmp_path / "history.json"
    path.write_bytes(to_json(ROWS[:2]))
    source = JsonRowsSource(path)
    state = state_of(source)
    assert source.poll(LATER) == []
    path.write_bytes(to_json(ROWS))
    state = state_of(source, state)
    assert (list(state.history.steps), state.attempt) == ([1, 2, 3], 0)
    other = [{**row, "loss": 0.25} for row in ROWS[:1]]
    path.write_bytes(to_json(other))
    state = state_of(source, state)
    assert (state.history.steps[-1], state.attempt, state.history.get("loss", 3)) == (1, 1, 0.25)


def test_a_document_that_breaks_off_is_read_when_nobody_is_writing_it(tmp_path: Path) -> None:
    path = tmp_path / "history.json"
    path.write_bytes(to_json(ROWS)[:-12])
    os.utime(path, (1000.0, 1000.0))
    source = JsonRowsSource(path)
    (told,) = source.poll(1030.0)
    assert isinstance(told, SourceStatus)
    assert told.state == "waiting"
    state = state_of(source, now=1100.0)
    assert list(state.history.steps) == [1, 2]
    (status,) = state.sources.values()
    assert (status.state, status.bad_lines, status.first_bad) == ("reading", 1, BREAKS_OFF)


def test_a_trainer_state_that_breaks_off_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    path = tmp_path / "trainer_state.json"
    rows = [{"epoch": n / 10, "step": n, "loss": 0.5, "reward": n / 4} for n in (1, 2, 3)]
    path.write_bytes(to_json({"global_step": 3, "log_history": rows, "max_steps": 9})[:-35])
    state = state_of(TrainerStateSource(path))
    assert list(state.history.steps) == [1, 2]
    assert state.info.framework == "trl"


def test_rows_of_a_trainer_are_left_to_it() -> None:
    def both(*rows: dict[str, object]) -> tuple[float, float]:
        probe = Probe(path=Path("x"), is_dir=False, head=to_json(rows).decode())
        return trl.FORMAT.score(probe), FORMAT.score(probe)

    trainer, own = both({"loss": 0.5, "epoch": 0.5, "learning_rate": 1e-6, "step": 5})
    assert trainer > own
    trainer, own = both({"loss": 0.5, "epoch": 1, "step": 5, "grad_norm": 1.0})
    assert own > trainer


def test_other_documents_are_none_of_it() -> None:
    assert score([{"name": "x", "loss": 0.5}]) == 0
    assert score({"log": [{"name": "x"}]}) == 0
    assert score([{"step": 1, "text": "x"}]) < 0.1
    assert score([1, 2]) == score({"step": 1}) == score([]) == 0
    assert FORMAT.score(Probe(path=Path("x"), is_dir=True)) == 0
    assert rows_of({"a": 1}) is None
    assert rows_of("x") is None


@given(st.integers(0, 400))
def test_every_cut_is_survived(at: int) -> None:
    data = to_json({"config": {"lr": 1}, "log": ROWS})
    value, whole = document_of(data[:at])
    assert whole == (at >= len(data))
    told = rows_of(value) or []
    assert told == ROWS[: len(told)]
