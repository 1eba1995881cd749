from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import to_json

from rltop.models.event import Ended, Event, Progress, Restart, SourceStatus
from rltop.models.step import Eval, Step
from rltop.monitor.reduce import reduce
from rltop.monitor.source import Line, Probe
from rltop.monitor.sources.trl import FORMAT
from rltop.monitor.sources.trl_jsonl import TrlJsonlParser, seconds_of
from rltop.monitor.sources.trl_state import TrainerStateSource
from rltop.monitor.state import RunState


def logged(step: int, **more: float) -> dict[str, float]:
    return {
        "step": step,
        "loss": 0.5,
        "num_tokens": 100.0 * step,
        "completions/mean_length": 50.0,
        "step_time": 3.0,
    } | more


def document(rows: list[dict[str, float]], **more: object) -> bytes:
    return to_json(
        {"log_history": rows, "max_steps": 10, "global_step": len(rows), "save_steps": 5, **more}, indent=2
    )


def state_of(events: Iterable[Event]) -> RunState:
    state = RunState()
    for event in events:
        state = reduce(state, event)
    return state


def test_a_save_brings_only_the_new_rows(tmp_path: Path) -> None:
    path = tmp_path / "trainer_state.json"
    path.write_bytes(document([logged(1), logged(2)]))
    source = TrainerStateSource(path)
    first = source.poll(0.0)
    assert [e.step for e in first if isinstance(e, Step)] == [1, 2]
    assert source.poll(1.0) == []
    path.write_bytes(document([logged(1), logged(2), logged(3, reward=1.5)]))
    second = source.poll(2.0)
    assert [e.step for e in second if isinstance(e, Step)] == [3]
    state = state_of([*first, *second])
    assert (state.info.total_steps, state.info.save_every, state.info.framework) == (10, 5, "trl")
    assert [state.history.get("total_tokens", i) for i in range(3)] == [100, 100, 100]
    assert state.history.get("reward_mean", 2) == 1.5
    assert state.history.get("duration_s", 2) == 3.0


def test_a_document_under_way_is_waited_for(tmp_path: Path) -> None:
    path = tmp_path / "trainer_state.json"
    source = TrainerStateSource(path)
    assert [e.state for e in source.poll(0.0) if isinstance(e, SourceStatus)] == ["waiting"]
    whole = document([logged(1)])
    path.write_bytes(whole[:-20])
    assert [type(e) for e in source.poll(1.0)] == [SourceStatus]
    path.write_bytes(whole)
    assert [e.step for e in source.poll(2.0) if isinstance(e, Step)] == [1]


def test_rows_for_several_steps_are_told_as_several(tmp_path: Path) -> None:
    path = tmp_path / "trainer_state.json"
    path.write_bytes(document([logged(1), logged(10), logged(20)], global_step=20, max_steps=100))
    state = state_of(TrainerStateSource(path).poll(0.0))
    assert list(state.history.steps) == list(range(1, 21))
    assert sum(state.history.get("duration_s", i) or 0 for i in range(20)) == 60.0
    assert sum(state.history.get("total_tokens", i) or 0 for i in range(20)) == 2000
    assert state.history.row(14).raw("loss") != 0.5
    assert state.history.row(19).raw("loss") == 0.5


def test_evaluations_and_the_end_are_told_once(tmp_path: Path) -> None:
    path = tmp_path / "trainer_state.json"
    rows = [logged(1), {"step": 1, "eval_reward": 0.5, "eval_runtime": 7.0}]
    path.write_bytes(document(rows))
    source = TrainerStateSource(path)
    events = source.poll(0.0)
    rows += [*(logged(n) for n in range(2, 11)), {"step": 10, "train_runtime": 99.0}]
    path.write_bytes(document(rows, global_step=10))
    events += source.poll(1.0)
    path.write_bytes(document(rows, global_step=10, epoch=3))
    events += source.poll(2.0)
    assert [(e.step, e.duration_s, e.scores) for e in events if isinstance(e, Eval)] == [
        (1, 7.0, {"reward": 0.5})
    ]
    assert [e.status for e in events if isinstance(e, Ended)] == ["finished"]
    assert [e.step for e in events if isinstance(e, Step)] == list(range(1, 11))


def test_a_run_at_its_last_step_is_finished(tmp_path: Path) -> None:
    path = tmp_path / "trainer_state.json"
    path.write_bytes(document([logged(n) for n in range(1, 11)], global_step=10))
    assert [e.status for e in TrainerStateSource(path).poll(0.0) if isinstance(e, Ended)] == ["finished"]


def test_of_a_folder_the_newest_checkpoint_is_followed(tmp_path: Path) -> None:
    for steps in (2, 9, 10):
        folder = tmp_path / f"checkpoint-{steps}"
        folder.mkdir()
        (folder / "trainer_state.json").write_bytes(document([logged(n) for n in range(1, steps + 1)]))
    (tmp_path / "checkpoint-11").mkdir()  # being written: its state comes last
    names = tuple(sorted(path.name for path in tmp_path.iterdir()))
    assert FORMAT.score(Probe(path=tmp_path, is_dir=True, names=names)) > 0.5
    source, _ = FORMAT.open(tmp_path)
    assert [e.step for e in source.poll(0.0) if isinstance(e, Step)] == list(range(1, 11))
    (tmp_path / "checkpoint-11" / "trainer_state.json").write_bytes(
        document([logged(n) for n in range(1, 12)])
    )
    assert [e.step for e in source.poll(1.0) if isinstance(e, Step)] == [11]


def test_preference_and_supervised_training_are_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "trainer_state.json"
    for extra, algorithm in (
        ({"rewards/chosen": 0.1}, "dpo"),
        ({"mean_token_accuracy": 0.1}, "sft"),
        ({"completions/mean_length": 5.0}, "rl"),
        ({}, None),
    ):
        path.write_bytes(document([{"step": 1, "loss": 0.5, **extra}]))
        assert state_of(TrainerStateSource(path).poll(0.0)).info.algorithm == algorithm


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["step", "loss", "a"]), inner)
    ),
    max_leaves=12,
)


@given(JUNK, JUNK)
def test_no_document_makes_it_raise(
    tmp_path_factory: pytest.TempPathFactory, rows: object, total: object
) -> None:
    path = tmp_path_factory.mktemp("s") / "trainer_state.json"
    path.write_bytes(to_json({"log_history": [rows] if isinstance(rows, dict) else rows, "max_steps": total}))
    TrainerStateSource(path).poll(0.0)


def test_the_real_trainer_state(shared_data: Path) -> None:
    path = shared_data / "trl" / "wordle-400" / "trainer_state.json"
    source, _ = FORMAT.open(path)
    state = state_of([*source.poll(0.0), *source.close()])
    assert list(state.history.steps) == list(range(1, 401))
    assert state.info.total_steps == 400
    assert state.history.get("response_length_mean", 0) == 280.6875
    assert state.history.get("clip_ratio", 2) == 0.125
    assert state.history.get("duration_s", 0) == 39.7295560981147
    assert state.history.get("reward_mean", 399) == 0.11249998211860657
    assert sum(state.history.get("total_tokens", i) or 0 for i in range(400)) == 4_488_810
    assert state.history.get("sampled_tokens", 0) is None
    assert state.ended is not None


def swift(step: int, total: int = 100, **more: float | str) -> str:
    fields = {
        "loss": 0.1,
        "reward": 0.5,
        "completions/mean_length": 80.0,
        "global_step/max_steps": f"{step}/{total}",
        "elapsed_time": f"1h {step}m 3s",
        "memory(GiB)": 40.1,
        "train_speed(s/it)": 12.5,
        **more,
    }
    return to_json(fields).decode()


def test_ms_swift_rows_are_read() -> None:
    parser = TrlJsonlParser()
    lines = [swift(1), swift(5), '{"last_model_checkpoint": "x", "best_metric": null}', "", "no json"]
    events = [event for n, text in enumerate(lines, 1) for event in parser.feed(Line(text, 5.0, n))]
    state = state_of(events)
    assert list(state.history.steps) == [1, 2, 3, 4, 5]
    assert state.info.total_steps == 100
    assert state.history.get("response_length_mean", 0) == 80
    assert [e.elapsed_s for e in events if isinstance(e, Progress)] == [3663.0, 3903.0]
    assert parser.bad_lines == 1
    assert parser.first_bad == "line 5: not a JSON object"


def test_ms_swift_going_back_is_a_restart() -> None:
    parser = TrlJsonlParser()
    events = [
        event
        for n, text in enumerate([swift(1), swift(2), swift(2, elapsed_time="3s")], 1)
        for event in parser.feed(Line(text, None, n))
    ]
    assert [e.from_step for e in events if isinstance(e, Restart)] == [2]


def test_spans_of_ms_swift() -> None:
    assert seconds_of("1d 2h 3m 4s") == 93_784
    assert seconds_of("45s") == 45
    assert seconds_of("soon") is None
    assert seconds_of(None) is None


def test_each_file_is_recognised_by_its_content() -> None:
    def score(head: str) -> float:
        return FORMAT.score(Probe(path=Path("x"), is_dir=False, head=head))

    assert score(document([logged(1)]).decode()) > 0.8
    assert score(swift(1)) > 0.8
    assert score('{"step": 1, "data": {"actor/loss": 0.5}}') == 0
    assert FORMAT.score(Probe(path=Path("x"), is_dir=True, names=("a.txt",))) == 0


@given(st.text(max_size=40), st.integers(0, 200))
def test_no_mutated_row_makes_ms_swift_raise(insert: str, position: int) -> None:
    text = swift(3)
    list(TrlJsonlParser().feed(Line(text[:position] + insert + text[position + 3 :], None, 1)))


def rows_of(texts: Iterable[str]) -> tuple[RunState, list[Event]]:
    parser = TrlJsonlParser()
    events = [event for n, text in enumerate(texts, 1) for event in parser.feed(Line(text, None, n))]
    return state_of(events), events


def factory(step: int, elapsed: str, total: int = 30, **more: object) -> str:
    fields = {"current_steps": step, "total_steps": total, "percentage": 1.5, "elapsed_time": elapsed, **more}
    return to_json(fields).decode()


def test_llama_factory_rows_are_read() -> None:
    state, events = rows_of(
        [
            factory(10, "0:02:10", loss=0.7, lr=1e-5, accuracy=0.5, total_tokens=5000),
            factory(20, "1:02:10", loss=0.6, lr=1e-5, accuracy=0.6, total_tokens=9000),
            factory(20, "1:02:40", eval_loss=0.65),
            factory(30, "1 day, 0:00:10", loss=0.5, lr=0.0, accuracy=0.7, total_tokens=14000),
            factory(30, "1 day, 0:00:12"),
        ]
    )
    assert (state.info.total_steps, state.steps_done, state.shown_s) == (30, 30, 86_412)
    assert state.history.get("lr", 0) == 1e-5
    assert [state.history.get("total_tokens", i) for i in (9, 19, 29)] == [500, 400, 500]
    assert "written by LLaMA-Factory" in state.info.notes
    assert [event.status for event in events if isinstance(event, Ended)] == ["finished"]
    assert [event.scores for event in events if isinstance(event, Eval)] == [{"loss": 0.65}]


def test_rows_of_two_processes_are_one_run_and_a_resumed_one_is_two() -> None:
    state, events = rows_of(
        [
            factory(10, "0:10:00", loss=0.7),
            factory(10, "0:10:01", loss=0.7),
            factory(20, "0:20:00", loss=0.6),
            factory(30, "0:30:00", loss=0.5),
            factory(20, "0:20:12", loss=0.6),
            factory(20, "0:09:00", loss=0.6),
        ]
    )
    assert [event.from_step for event in events if isinstance(event, Restart)] == [20]
    assert any("several processes" in note for note in state.info.notes)
    assert state.shown_s == 1800 + 540


def test_rows_of_a_callback_are_the_trainers_rows() -> None:
    text = "\n".join(
        to_json(logged(step, grad_norm=1.0, learning_rate=1e-6, epoch=0.1)).decode() for step in (5, 10)
    )
    assert FORMAT.score(Probe(path=Path("x"), is_dir=False, head=text)) > 0.4
    state, _ = rows_of(text.splitlines())
    assert list(state.history.steps) == list(range(1, 11))
    assert state.history.get("total_tokens", 9) == 100
    other = '{"step": 1, "loss": 0.5, "tokens": 3}'
    assert FORMAT.score(Probe(path=Path("x"), is_dir=False, head=other)) == 0


def test_the_first_row_of_a_resumed_run_stands_for_itself() -> None:
    rows = [to_json(logged(step)).decode() for step in (1010, 1020)]
    assert list(rows_of(rows)[0].history.steps) == [1010, *range(1011, 1021)]


def test_times_in_rows_are_taken() -> None:
    rows = [
        to_json({**logged(1), "timestamp": 1.8e9}),
        to_json({**logged(2), "timestamp": "2026-01-02T03:04:05"}),
    ]
    state, _ = rows_of(row.decode() for row in rows)
    assert state.history.get("ended_at", 0) == 1.8e9
    assert state.history.get("ended_at", 1) == datetime(2026, 1, 2, 3, 4, 5).timestamp()


def test_a_log_history_alone_is_a_whole_training(tmp_path: Path) -> None:
    path = tmp_path / "logs.json"
    rows = [logged(10), logged(20), {"step": 20, "eval_loss": 0.4}, {"step": 24, "train_runtime": 60.0}]
    path.write_bytes(to_json(rows))
    assert FORMAT.score(Probe(path=path, is_dir=False, head=path.read_text())) > 0.8
    state = state_of(FORMAT.open(path)[0].poll(0.0))
    assert (state.steps_done, len(state.history.evals), state.shown_s) == (20, 1, 60)
    assert state.ended is not None
    assert FORMAT.score(Probe(path=path, is_dir=False, head='[{"step": "fold the paper"}]')) == 0


def test_the_summary_stands_for_the_steps_after_the_last_row(tmp_path: Path) -> None:
    path = tmp_path / "trainer_state.json"
    rest = {"step": 26, "train_runtime": 80.0, "reward": 0.75, "completions/mean_length": 40.0}
    path.write_bytes(document([logged(10), logged(20), rest], max_steps=26, global_step=26))
    state = state_of(TrainerStateSource(path).poll(0.0))
    assert state.steps_done == 26
    assert [state.history.get("reward_mean", i) for i in (19, 20, 25)] == [None, 0.75, 0.75]


def test_a_run_is_called_as_its_folder_and_its_model_is_found_beside_it(tmp_path: Path) -> None:
    folder = tmp_path / "my-run" / "checkpoint-5"
    folder.mkdir(parents=True)
    (folder / "trainer_state.json").write_bytes(document([logged(1)]))
    (folder / "adapter_config.json").write_text('{"base_model_name_or_path": "org/base-7b", "r": 16}')
    for target in (folder / "trainer_state.json", folder, folder.parent):
        info = state_of(event for source in FORMAT.open(target) for event in source.poll(0.0)).info
        assert (info.name, info.model, info.lora_rank) == ("my-run", "org/base-7b", 16)


def test_the_rows_of_a_run_folder_come_before_its_state_and_say_what_is_trained(tmp_path: Path) -> None:
    (tmp_path / "trainer_state.json").write_bytes(document([logged(1)]))
    (tmp_path / "logging.jsonl").write_text(swift(1) + "\n" + swift(2) + "\n")
    args = {
        "swift_version": "4.0",
        "rlhf_type": "grpo",
        "model": "org/base-7b",
        "global_world_size": 8,
        "max_completion_length": 512,
        "num_generations": 4,
        "train_type": "full",
        "hub_token": "hf_secret",
    }
    (tmp_path / "args.json").write_bytes(to_json(args))
    names = ("args.json", "logging.jsonl", "trainer_state.json")
    assert FORMAT.score(Probe(path=tmp_path, is_dir=True, names=names)) > 0.7
    state = state_of(event for source in FORMAT.open(tmp_path) for event in source.poll(0.0))
    info = state.info
    assert list(state.history.steps) == [1, 2]
    assert (info.model, info.gpus, info.max_tokens, info.group_size) == ("org/base-7b", 8, 512, 4)
    assert info.lora_rank == 0
    assert "hub_token" not in info.config


def test_steps_take_what_the_trainings_clock_went_on_in_them() -> None:
    state, _ = rows_of(
        [
            factory(10, "0:10:00", loss=0.7),
            factory(20, "0:15:00", loss=0.6),
            factory(20, "0:16:00", eval_loss=0.6),
            factory(30, "0:25:00", loss=0.5),
            factory(20, "0:09:00", loss=0.5),
            factory(30, "0:09:01", loss=0.5),
        ]
    )
    get = state.history.get
    assert [get("duration_s", i) for i in (0, 9, 10, 19, 20, 29)] == [60, 60, 30, 30, 60, 60]
    assert get("duration_s", 30) is None
    assert get("duration_s", 31) is None, "a second says nothing of ten steps"
