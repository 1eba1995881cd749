from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import to_json

from rltop.models.event import Ended, Event, LogLine, Progress
from rltop.models.gpu import GpuSample
from rltop.models.step import Eval, Step
from rltop.monitor.reduce import reduce
from rltop.monitor.source import Probe
from rltop.monitor.sources.wandb_local import FORMAT, WandbSource
from rltop.monitor.sources.wandb_log import BLOCK, WandbLog
from rltop.monitor.sources.wandb_records import row_of
from rltop.monitor.state import RunState

from .wandb_file import HEADER, ended, history, item, log_of, run, sized, varint


def trl_row(step: int, **more: float) -> bytes:
    values: dict[str | tuple[str, ...], object] = {
        "_step": step * 2,
        "_timestamp": 1.79e9 + step,
        "_runtime": 10.0 * step,
        "train/global_step": step,
        "train/loss": 0.5,
        "train/completions/mean_length": 64.0,
        "train/num_tokens": 100 * step,
    }
    return history({**values, **more})


def read(path: Path) -> list[Event]:
    (source,) = FORMAT.open(path)
    return [*source.poll(0.0), *source.close()]


def state_of(events: Iterable[Event]) -> RunState:
    state = RunState()
    for event in events:
        state = reduce(state, event)
    return state


@given(
    st.lists(st.integers(0, 100_000), min_size=1, max_size=6), st.lists(st.integers(1, 50_000), max_size=8)
)
def test_records_come_back_however_long_and_however_cut(lengths: list[int], cuts: list[int]) -> None:
    records = [bytes([index % 251 + 1]) * length for index, length in enumerate(lengths)]
    data = log_of(records)
    log = WandbLog()
    found: list[bytes] = []
    for size in cuts:
        found += log.feed(data[:size])
        data = data[size:]
    found += log.feed(data)
    assert found == records
    assert log.bad_records == 0


def test_a_damaged_chunk_costs_its_record_alone() -> None:
    data = bytearray(log_of([b"one", b"two", b"three"]))
    data[data.index(b"two")] ^= 1
    log = WandbLog()
    assert list(log.feed(bytes(data))) == [b"one", b"three"]
    assert log.bad_records == 1


def test_a_damaged_length_costs_the_block_alone() -> None:
    records = [b"a" * 1000] * 100
    data = bytearray(log_of(records))
    data[len(HEADER) + 4] = 0xFF
    data[len(HEADER) + 5] = 0xFF
    log = WandbLog()
    left = list(log.feed(bytes(data)))
    assert 60 <= len(left) < 100
    assert log.bad_records == 1


ROW: dict[str | tuple[str, ...], object] = {"a": 1, "b/c": -0.5e-7, "_step": 3}


@pytest.mark.parametrize("old", [False, True])
def test_a_plain_row_is_read(old: bool) -> None:
    assert row_of(b"".join(sized(1, item(key, value, old)) for key, value in ROW.items())) == ROW


def test_rows_that_are_not_plain_are_read_field_by_field() -> None:
    odd: dict[str | tuple[str, ...], object] = {
        "x": 1.5,
        ("deep", "er", "key"): 2,
        "ünï/ çode": 3,
        "k" * 150: 4,
        'quo"ted': 5,
        "flag": True,
        "text": 'a "string" \x82 with\n12',
        "hist": {"bins": [1, 2]},
        "huge": b"1" + b"0" * 400,
        "nan": float("nan"),
        "inf": float("-inf"),
    }
    row = row_of(b"".join(sized(1, item(key, value)) for key, value in odd.items()))
    assert row.pop("nan") != 0
    assert row == {
        "x": 1.5,
        "deep.er.key": 2,
        "ünï/ çode": 3,
        "k" * 150: 4,
        'quo"ted': 5,
        "flag": 1,
        "huge": float("inf"),
        "inf": float("-inf"),
    }


KEYS = st.text(min_size=1, max_size=40)


@given(st.dictionaries(KEYS, st.floats() | st.integers(-(2**60), 2**60), max_size=8))
def test_both_ways_of_reading_agree(values: dict[str, float]) -> None:
    payload = b"".join(sized(1, item(key, value)) for key, value in values.items())
    row = row_of(payload)
    assert {key: repr(float(value)) for key, value in row.items()} == {
        key: repr(float(value)) for key, value in values.items()
    }


def test_a_trl_run_is_read_with_its_own_step(tmp_path: Path) -> None:
    records = [
        run({"max_completion_length": 512, "num_generations": 8, "max_steps": 3, "nested": {"a": 1}}),
        trl_row(1),
        history({"_step": 3, "profiling/Time taken: X": 0.5}),
        trl_row(2, **{"train/loss": float("nan")}),
        b"\x08\x03" + sized(3, b"summary is not looked at"),
        trl_row(3),
        history({"_step": 9, "train/global_step": 3, "eval/reward": 0.75}),
        ended(0),
    ]
    path = tmp_path / "run-abc.wandb"
    path.write_bytes(log_of(records))
    events = read(path)
    state = state_of(events)
    info = state.info
    assert (info.name, info.framework, info.max_tokens, info.total_steps) == ("my run", "trl", 512, 3)
    assert info.started_at == 1_790_000_000
    assert info.config["nested.a"] == 1
    assert list(state.history.steps) == [1, 2, 3]
    assert [state.history.get("loss", i) for i in range(3)] == [0.5, None, 0.5]
    assert state.history.get("total_tokens", 2) == 100
    assert state.history.get("ended_at", 0) == 1.79e9 + 1
    assert state.history.row(0).raw("train/loss") == 0.5
    assert [(e.step, e.scores) for e in events if isinstance(e, Eval)] == [(3, {"reward": 0.75})]
    assert [e.status for e in events if isinstance(e, Ended)] == ["finished"]
    assert [e for e in events if isinstance(e, LogLine)] == []
    assert state.progress == Progress(step=3, elapsed_s=30.0)


def test_verl_rows_are_read_as_verl_logs_them(tmp_path: Path) -> None:
    config = {
        "trainer": {"n_gpus_per_node": 8, "nnodes": 2, "total_training_steps": 400},
        "data": {"max_response_length": 1024},
    }
    values: dict[str | tuple[str, ...], object] = {
        "_step": 1,
        "_timestamp": 1.79e9,
        "timing_s/step": 40.0,
        "timing_s/gen": 20.0,
        "response_length/mean": 300.0,
        "response_length/max": 900.0,
        "response_length/clip_ratio": 0.25,
        "actor/pg_loss": 0.1,
        "critic/score/mean": 0.5,
    }
    path = tmp_path / "run-abc.wandb"
    path.write_bytes(log_of([run(config), history(values), ended(0)]))
    events = read(path)
    state = state_of(events)
    assert (state.info.framework, state.info.gpus, state.info.total_steps) == ("verl", 16, 400)
    assert state.history.get("reward_mean", 0) == 0.5
    assert state.history.get("duration_s", 0) == 40
    assert state.history.row(0).phase("generate") == 20
    warnings = [e.text for e in events if isinstance(e, LogLine)]
    assert len(warnings) == 1
    assert "step 1 of 400" in warnings[0]


def test_parts_of_a_step_in_several_rows_are_joined(tmp_path: Path) -> None:
    rows = [
        history({"_step": 3 * n + at, "_timestamp": 1.79e9, **part})
        for n in range(3)
        for at, part in enumerate(
            (
                {"rollout/step": n, "rollout/response_len/mean": 100.0 + n, "rollout/raw_reward": 0.5},
                {"train/step": n, "train/loss": 0.25, "train/lr-pg_0": 1e-6},
            )
        )
    ]
    config = {
        "num_rollout": 9,
        "rollout_batch_size": 4,
        "n_samples_per_prompt": 8,
        "use_kl_loss": False,
        "colocate": True,
    }
    path = tmp_path / "run-abc.wandb"
    path.write_bytes(log_of([run(config), *rows]))
    state = state_of(read(path))
    assert (state.info.framework, state.info.total_steps, state.info.groups) == ("slime", 9, 4)
    assert state.info.reference_pass is None
    assert list(state.history.steps) == [0, 1, 2]
    assert state.history.get("response_length_mean", 2) == 102
    assert state.history.get("loss", 2) == 0.25


def test_gpus_are_sampled(tmp_path: Path) -> None:
    environment = (
        sized(18, b"NVIDIA H100")
        + b"\x98\x01\x02"
        + sized(24, sized(1, b"NVIDIA H100") + b"\x10" + varint(80 * 10**9))
    )
    stats = sized(2, b"\x08" + varint(1_790_000_000)) + b"".join(
        sized(3, sized(1, key.encode()) + sized(16, to_json(value)))
        for key, value in {
            "gpu.0.gpu": 90.0,
            "gpu.0.powerWatts": 650.5,
            "gpu.0.memoryAllocatedBytes": 40e9,
            "gpu.0.temp": 60,
            "cpu": 5.0,
        }.items()
    )
    path = tmp_path / "run-abc.wandb"
    path.write_bytes(log_of([b"\x08\x02" + sized(26, environment), b"\x08\x03" + sized(7, stats)]))
    events = read(path)
    (sample,) = [e for e in events if isinstance(e, GpuSample)]
    assert sample.at == 1_790_000_000
    (gpu,) = sample.gpus
    assert (gpu.index, gpu.name, gpu.util, gpu.power_w, gpu.mem_used_gb, gpu.mem_total_gb, gpu.temp_c) == (
        0,
        "NVIDIA H100",
        90,
        650.5,
        40,
        80,
        60,
    )
    assert state_of(events).info.gpu_type == "NVIDIA H100"
    assert state_of(events).info.gpus is None


def test_a_crash_is_told_with_its_exit_code(tmp_path: Path) -> None:
    path = tmp_path / "run-abc.wandb"
    said = b"\x10\x00" + sized(3, b"Traceback (most recent call last):\nValueError: no\nnext")
    path.write_bytes(log_of([trl_row(1), trl_row(2), b"\x08\x03" + sized(13, said), ended(1)]))
    events = read(path)
    assert [e.status for e in events if isinstance(e, Ended)] == ["crashed"]
    assert any("ValueError: no" in e.text for e in events if isinstance(e, LogLine))


def test_a_live_file_is_followed_over_torn_records(tmp_path: Path) -> None:
    data = log_of([trl_row(n) for n in range(1, 700)])
    assert len(data) > 3 * BLOCK
    path = tmp_path / "run-abc.wandb"
    path.write_bytes(b"")
    source = WandbSource(path)
    told: list[int] = []
    for start in range(0, len(data), 9_999):
        with path.open("ab") as file:
            file.write(data[start : start + 9_999])
        told += [e.step for e in source.poll(1.0) if isinstance(e, Step)]
    assert told == list(range(1, 700))


def test_a_folder_leads_to_its_latest_run(tmp_path: Path) -> None:
    folder = tmp_path / "wandb" / "offline-run-1-abc"
    folder.mkdir(parents=True)
    (folder / "run-abc.wandb").write_bytes(log_of([trl_row(1), trl_row(2)]))
    (tmp_path / "wandb" / "latest-run").symlink_to(folder.name)
    for target in (folder, tmp_path / "wandb", tmp_path):
        names = tuple(sorted(path.name for path in target.iterdir()))
        assert FORMAT.score(Probe(path=target, is_dir=True, names=names)) > 0.5
        assert len([e for e in read(target) if isinstance(e, Step)]) == 2
    assert FORMAT.score(Probe(path=folder, is_dir=False, magic=HEADER)) == 1
    assert FORMAT.score(Probe(path=folder, is_dir=False, magic=b"{")) == 0


EDIT = st.tuples(st.integers(0, 900), st.binary(max_size=4), st.integers(0, 6))


@given(st.lists(EDIT, min_size=1, max_size=6), st.booleans())
def test_no_mutated_file_makes_it_raise(
    tmp_path_factory: pytest.TempPathFactory, edits: list[tuple[int, bytes, int]], framed: bool
) -> None:
    record = trl_row(2)
    data = log_of([run({"a": 1}), trl_row(1), record, ended(1)])
    for position, insert, gone in edits:
        if framed:
            record = record[:position] + insert + record[position + gone :]
        else:
            data = data[:position] + insert + data[position + gone :]
    path = tmp_path_factory.mktemp("w") / "run-x.wandb"
    path.write_bytes(log_of([trl_row(1), record, trl_row(3)]) if framed else data)
    read(path)


def test_the_machine_of_an_old_client_is_read_beside_its_log(tmp_path: Path) -> None:
    log = tmp_path / "run-abc.wandb"
    log.write_bytes(log_of([run({}), trl_row(1)]))
    (tmp_path / "files").mkdir()
    metadata = tmp_path / "files" / "wandb-metadata.json"
    sources = FORMAT.open(tmp_path)
    assert state_of(event for source in sources for event in source.poll(0.0)).info.gpu_type is None
    metadata.write_text('{"gpu": "NVIDIA A100-SXM4-80GB", "gpu_count": 8, "host": "node-1"')
    assert state_of(event for source in sources for event in source.poll(1.0)).info.gpu_type is None
    metadata.write_text('{"gpu": "NVIDIA A100-SXM4-80GB", "gpu_count": 8, "host": "node-1"}')
    info = state_of(event for source in sources for event in source.poll(2.0)).info
    assert info.gpu_type == "NVIDIA A100-SXM4-80GB"
    assert info.notes == (
        "W&B saw 8 × NVIDIA A100-SXM4-80GB on the host that logs; other hosts are not in its log",
    )
    assert [event for source in sources for event in source.poll(3.0)] == []


def test_a_run_whose_first_row_is_yet_to_come_is_known_by_its_configuration(tmp_path: Path) -> None:
    log = tmp_path / "run-abc.wandb"
    config = {
        "per_device_train_batch_size": 4,
        "num_train_epochs": 3,
        "logging_steps": 1,
        "save_strategy": "steps",
        "num_generations": 8,
        "max_completion_length": 512,
    }
    log.write_bytes(log_of([run({**config, "max_steps": 40})]))
    info = state_of(read(log)).info
    assert (info.framework, info.total_steps, info.max_tokens, info.group_size) == ("trl", 40, 512, 8)


def test_a_total_that_follows_from_epochs_is_not_held_against_a_run(tmp_path: Path) -> None:
    log = tmp_path / "run-abc.wandb"
    rows = [trl_row(step, **{"train/epoch": step / 299.75}) for step in (10, 20, 897)]
    log.write_bytes(log_of([run({"num_train_epochs": 3, "max_steps": -1}), *rows, ended(0)]))
    state = state_of(read(log))
    assert state.info.total_steps == 899
    assert state.ended is not None
    assert state.ended.message == "W&B exit code 0"
