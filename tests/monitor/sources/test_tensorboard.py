import struct
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_core import to_json

from rltop.models.event import Ended, Event, Restart, SourceStatus
from rltop.models.step import Eval, Step
from rltop.monitor.fleet.beside import logs_below
from rltop.monitor.reduce import reduce
from rltop.monitor.source import Probe
from rltop.monitor.sources.tensorboard import FORMAT, TensorBoardSource
from rltop.monitor.sources.tfevents import EventReader, masked_crc
from rltop.monitor.state import RunState


def varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    out.append(number)
    return bytes(out)


def sized(number: int, payload: bytes) -> bytes:
    """A length-delimited field."""
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def frame(message: bytes) -> bytes:
    length = struct.pack("<Q", len(message))
    return length + struct.pack("<I", masked_crc(length)) + message + struct.pack("<I", masked_crc(message))


def event(step: int, value: bytes, at: float = 1000.0) -> bytes:
    told = b"\x10" + varint(step & 0xFFFFFFFFFFFFFFFF) if step else b""
    return frame(b"\x09" + struct.pack("<d", at) + told + sized(5, sized(1, value)))


def scalar(step: int, tag: str, number: float, at: float = 1000.0) -> bytes:
    """As TF1, torch and tensorboardX write it."""
    return event(step, sized(1, tag.encode()) + b"\x15" + struct.pack("<f", number), at)


def tensor(step: int, tag: str, body: bytes) -> bytes:
    """As TF2 writes it."""
    metadata = sized(9, sized(1, sized(1, b"scalars")))
    return event(step, sized(1, tag.encode()) + metadata + sized(8, body))


def text(tag: str, words: str) -> bytes:
    return event(0, sized(1, tag.encode()) + sized(8, b"\x08\x07" + sized(8, words.encode())))


VERSION = frame(b"\x09" + struct.pack("<d", 999.0) + sized(3, b"brain.Event:2"))


def trl_step(step: int, **more: float) -> bytes:
    values = {
        "loss": 0.5,
        "completions/mean_length": 64.0,
        "num_tokens": 100.0 * step,
        "step_time": 3.0,
        **more,
    }
    at = 1000.0 + 10 * step
    return b"".join(scalar(step, f"train/{name}", value, at) for name, value in (values | more).items())


def groups_of(data: bytes, sizes: Iterable[int] = ()) -> list[tuple[int, dict[str, float]]]:
    reader = EventReader()
    found = [(g.step, g.values) for part in cut(data, sizes) for g in reader.feed(part)]
    if reader.open is not None:
        found.append((reader.open.step, reader.open.values))
    return found


def cut(data: bytes, sizes: Iterable[int]) -> Iterator[bytes]:
    for size in sizes:
        yield data[:size]
        data = data[size:]
    yield data


def state_of(events: Iterable[Event]) -> RunState:
    state = RunState()
    for one in events:
        state = reduce(state, one)
    return state


def read(path: Path) -> list[Event]:
    source = TensorBoardSource(path)
    events = source.poll(0.0)
    while source.more:
        events += source.poll(0.0)
    return [*events, *source.close()]


def test_scalars_are_grouped_by_step() -> None:
    data = (
        VERSION + scalar(0, "a", 0.5) + scalar(0, "b", 1.5) + scalar(300, "a", 2.5) + scalar(300, "b", -1.0)
    )
    assert groups_of(data) == [(0, {"a": 0.5, "b": 1.5}), (300, {"a": 2.5, "b": -1.0})]


def test_the_checksum_is_castagnoli_masked() -> None:
    # The check value of CRC-32C for these digits is E3069283.
    crc = 0xE3069283
    assert masked_crc(b"123456789") == (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


@given(st.lists(st.integers(0, 40), max_size=40))
def test_it_does_not_matter_how_the_bytes_are_cut(sizes: list[int]) -> None:
    data = VERSION + b"".join(scalar(step, tag, step) for step in (1, 2, 130, 131) for tag in ("a", "bb"))
    assert groups_of(data, sizes) == groups_of(data)


TAGS = ("actor/loss", "actor/kl", "perf/mfu", "time/step", "reward", "val/score")
steps_told = st.lists(
    st.tuples(
        st.sampled_from((1, 1, 1, 1, 2, 120, 16_300)),  # how far on; longer numbers are written longer
        st.sampled_from((TAGS[:5], TAGS[:5], TAGS[:5], TAGS, TAGS[1:5], TAGS[4::-1])),
    ),
    max_size=30,
)


@given(steps_told, st.lists(st.integers(0, 400), max_size=10))
def test_steps_read_whole_hold_what_their_records_hold(
    told: list[tuple[int, tuple[str, ...]]], sizes: list[int]
) -> None:
    data, step, expected = VERSION, 0, list[tuple[int, dict[str, float]]]()
    for index, (on, tags) in enumerate(told):
        step += on
        values = {tag: index + place / 8 for place, tag in enumerate(tags)}
        data += b"".join(scalar(step, tag, value, 1000.0 + index) for tag, value in values.items())
        expected.append((step, values))
    reader = EventReader()
    groups = [group for part in cut(data, sizes) for group in reader.feed(part)]
    if reader.open is not None:
        groups.append(reader.open)
    assert [(group.step, group.values) for group in groups] == expected
    assert [group.at for group in groups] == [1000.0 + index for index in range(len(told))]
    assert reader.records == 1 + sum(len(tags) for _, tags in told)
    assert reader.bad_records == 0


def test_a_damaged_first_record_of_a_step_is_left_out_of_it() -> None:
    rows = [b"".join(scalar(step, tag, step) for tag in TAGS) for step in range(1, 8)]
    damaged = bytearray(rows[5])
    damaged[12 + 10] ^= 0x40  # in its step
    reader = EventReader()
    list(reader.feed(VERSION + b"".join(rows[:5]) + bytes(damaged) + rows[6]))
    assert reader.bad_records == 1


def test_a_very_long_record_is_waited_for_without_copying_it_at_each_piece() -> None:
    picture = frame(
        b"\x09" + struct.pack("<d", 1.0) + sized(5, sized(1, sized(1, b"a") + sized(4, bytes(3_000_000))))
    )
    reader = EventReader()
    data = VERSION + picture + scalar(1, "a", 0.5)
    for start in range(0, len(data), 100):
        list(reader.feed(data[start : start + 100]))
    assert reader.open is not None


def test_tensors_of_tf2_are_scalars_too() -> None:
    data = VERSION + b"".join(
        (
            tensor(1, "packed", b"\x08\x01" + sized(5, struct.pack("<f", 0.5))),
            tensor(1, "content", b"\x08\x01" + sized(4, struct.pack("<f", 1.5))),
            tensor(1, "double", b"\x08\x02" + sized(6, struct.pack("<d", 2.5))),
            tensor(1, "long", b"\x08\x09" + sized(10, varint((-7) & 0xFFFFFFFFFFFFFFFF))),
            tensor(1, "int", b"\x08\x03" + sized(4, struct.pack("<i", -3))),
            tensor(1, "vector", b"\x08\x01" + sized(4, struct.pack("<ff", 1.0, 2.0))),
        )
    )
    assert groups_of(data) == [(1, {"packed": 0.5, "content": 1.5, "double": 2.5, "long": -7, "int": -3})]


def test_values_beside_a_number_do_not_hide_it() -> None:
    # proto3 writes fields in any order: the value before the tag.
    odd = event(4, b"\x15" + struct.pack("<f", 0.25) + sized(1, b"late"))
    assert groups_of(VERSION + odd + scalar(4, "late", 0.5)) == [(4, {"late": 0.5})]


def test_a_damaged_tag_is_noticed_and_left_out() -> None:
    good = scalar(1, "train/loss", 0.5)
    damaged = bytearray(scalar(1, "train/loss", 0.7))
    damaged[damaged.index(b"loss")] ^= 1
    reader = EventReader()
    list(reader.feed(VERSION + good + bytes(damaged) + scalar(1, "train/kl", 0.1)))
    assert reader.bad_records == 1
    assert reader.open is not None
    assert reader.open.values == {"train/loss": 0.5, "train/kl": pytest.approx(0.1)}


def test_reading_goes_on_behind_a_damaged_length() -> None:
    damaged = bytearray(scalar(2, "a", 1.0))
    damaged[0] ^= 0xFF
    data = VERSION + scalar(1, "a", 0.5) + bytes(damaged) + b"\0" * 500 + scalar(3, "a", 1.5)
    reader = EventReader()
    assert [group.step for group in reader.feed(data)] == [1]
    assert reader.open is not None
    assert reader.open.step == 3
    assert reader.bad_records >= 1


@given(
    st.lists(st.tuples(st.integers(0, 400), st.binary(max_size=4), st.integers(0, 6)), min_size=1, max_size=6)
)
def test_no_mutated_file_makes_it_raise(edits: list[tuple[int, bytes, int]]) -> None:
    data = VERSION + trl_step(1) + trl_step(2) + text("args/text_summary", "{}")
    for position, insert, gone in edits:
        data = data[:position] + insert + data[position + gone :]
    groups_of(data)


@given(st.binary(max_size=200))
def test_messages_of_junk_are_counted_not_raised(junk: bytes) -> None:
    groups_of(VERSION + frame(junk) + frame(b"\x09" + struct.pack("<d", 1.0) + sized(5, junk)))


def test_a_step_is_told_when_the_next_one_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "events.out.tfevents.1.host"
    path.write_bytes(VERSION + trl_step(1))
    source = TensorBoardSource(tmp_path)
    now = path.stat().st_mtime
    assert [type(e) for e in source.poll(now)] == [SourceStatus]
    with path.open("ab") as file:
        file.write(trl_step(2)[:-5])
    assert [e.step for e in source.poll(now + 1) if isinstance(e, Step)] == [1]
    with path.open("ab") as file:
        file.write(trl_step(2)[-5:])
    assert [e for e in source.poll(now + 2) if isinstance(e, Step)] == []
    quiet = source.poll(now + 100)
    assert [e.step for e in quiet if isinstance(e, Step)] == [2]
    assert [e for e in source.close() if isinstance(e, Step)] == []


def test_trl_tags_give_trl_steps(tmp_path: Path) -> None:
    args = to_json(
        {"max_completion_length": 512, "num_generations": 8, "max_steps": 50, "beta": 0.1}
    ).decode()
    data = VERSION + text("args/text_summary", args) + trl_step(1) + trl_step(2)
    data += scalar(2, "eval/reward", 0.75, 1021.0) + scalar(2, "train/train_runtime", 30.0, 1022.0)
    (tmp_path / "events.out.tfevents.1").write_bytes(data)
    events = read(tmp_path)
    state = state_of(events)
    info = state.info
    assert (info.framework, info.max_tokens, info.group_size, info.total_steps) == ("trl", 512, 8, 50)
    assert list(state.history.steps) == [1, 2]
    assert state.history.get("response_length_mean", 0) == 64
    assert state.history.get("duration_s", 0) == 3
    assert state.history.get("ended_at", 0) == 1010
    assert state.history.get("total_tokens", 1) == 100
    assert state.history.row(1).raw("train/loss") == 0.5
    assert [(e.step, e.scores) for e in events if isinstance(e, Eval)] == [(2, {"reward": 0.75})]
    assert [e.status for e in events if isinstance(e, Ended)] == ["finished"]


def test_a_file_written_after_a_resume_goes_back(tmp_path: Path) -> None:
    (tmp_path / "events.out.tfevents.1").write_bytes(VERSION + trl_step(1) + trl_step(2) + trl_step(3))
    (tmp_path / "events.out.tfevents.2").write_bytes(VERSION + trl_step(3) + trl_step(4))
    events = read(tmp_path)
    assert [(e.step, e.attempt) for e in events if isinstance(e, Step)] == [
        (1, 0),
        (2, 0),
        (3, 0),
        (3, 1),
        (4, 1),
    ]
    assert [e.from_step for e in events if isinstance(e, Restart)] == [3]


def test_files_of_other_processes_join_the_steps(tmp_path: Path) -> None:
    trained = b"".join(scalar(n, "train/lr-pg_0", 1e-6) + scalar(n, "train/loss", n) for n in (0, 1, 2))
    rolled = b"".join(
        scalar(n, "rollout/raw_reward", n / 2) + scalar(n, "rollout/response_len/mean", 100 + n)
        for n in (0, 1, 2)
    )
    (tmp_path / "events.out.tfevents.1").write_bytes(VERSION + trained)
    (tmp_path / "events.out.tfevents.2").write_bytes(VERSION + rolled)
    events = read(tmp_path)
    state = state_of(events)
    assert state.info.framework == "slime"
    assert [(e.step, e.attempt) for e in events if isinstance(e, Step)] == [(0, 0), (1, 0), (2, 0)]
    assert [state.history.get("reward_mean", i) for i in range(3)] == [0, 0.5, 1]
    assert [state.history.get("response_length_mean", i) for i in range(3)] == [100, 101, 102]


def test_tags_of_nobody_are_taken_by_name(tmp_path: Path) -> None:
    data = VERSION + b"".join(scalar(n, "mean_reward", 0.5) + scalar(n, "x", 1.0) for n in range(3))
    (tmp_path / "events.out.tfevents.1").write_bytes(data)
    state = state_of(read(tmp_path))
    assert state.info.framework == "unknown"
    assert list(state.history.steps) == [0, 1, 2]
    assert state.history.get("reward_mean", 2) == 0.5
    assert any("reward_mean = mean_reward" in note for note in state.info.notes)


def test_a_long_file_is_read_in_several_polls(tmp_path: Path) -> None:
    (tmp_path / "events.out.tfevents.1").write_bytes(VERSION + b"".join(trl_step(n) for n in range(1, 4000)))
    source = TensorBoardSource(tmp_path, poll_bytes=200_000)
    events = source.poll(0.0)
    assert source.more
    assert 0 < len(events) < 3999
    while source.more:
        events += source.poll(0.0)
    assert [e.step for e in [*events, *source.close()] if isinstance(e, Step)] == list(range(1, 4000))


def test_an_empty_folder_waits(tmp_path: Path) -> None:
    (status,) = TensorBoardSource(tmp_path / "not-there").poll(0.0)
    assert isinstance(status, SourceStatus)
    assert status.state == "waiting"


def test_files_and_folders_are_recognised_by_content(tmp_path: Path) -> None:
    assert FORMAT.score(Probe(path=tmp_path, is_dir=False, magic=VERSION[:64])) > 0.9
    assert FORMAT.score(Probe(path=tmp_path, is_dir=False, magic=b"{'loss': 1}")) == 0
    assert FORMAT.score(Probe(path=tmp_path, is_dir=True, names=("events.out.tfevents.1",))) > 0.5
    assert FORMAT.score(Probe(path=tmp_path, is_dir=True, names=("a",))) == 0


def test_the_real_trl_run(shared_data: Path) -> None:
    state = state_of(read(shared_data / "tensorboard" / "wordle-trl"))
    get = state.history.get
    assert list(state.history.steps) == list(range(1, 637))
    info = state.info
    assert (info.framework, info.max_tokens, info.group_size, info.total_steps) == ("trl", 16, 4, 1500)
    assert get("response_length_mean", 635) == 8.875
    assert get("clip_ratio", 635) == 0.125
    assert get("total_tokens", 635) == 3119
    assert get("duration_s", 635) == pytest.approx(3.5895145)
    assert get("ended_at", 635) == pytest.approx(1767729787.723404)
    assert all(status.bad_lines == 0 for status in state.sources.values())


REAL_VERL = {"format-v0.3.0.post1-direct": 4, "format-v0.7.1-direct": 4, "format-v0.9.1-ray": 8}


@pytest.mark.parametrize("name", REAL_VERL)
def test_the_real_verl_runs_say_what_their_consoles_say(name: str, shared_data: Path) -> None:
    state = state_of(read(shared_data / "verl" / name / "tensorboard"))
    steps = REAL_VERL[name]
    assert state.info.framework == "verl"
    assert state.info.gpus == 8
    assert list(state.history.steps) == list(range(1, steps + 1))
    assert state.history.evals[0].step == 0
    assert state.history.evals[0].scores == {"reward/mean@1": pytest.approx(0.3412)}
    length, tokens = {4: (464.5185852050781, 291_798), 8: (467.95330810546875, 293_556)}[steps]
    assert state.history.get("response_length_mean", 0) == length
    assert state.history.get("total_tokens", 0) == tokens
    assert sum(state.history.row(0).phases().values()) <= (state.history.get("duration_s", 0) or 0)


def test_of_trainings_that_began_anew_in_one_folder_the_newest_is_read(tmp_path: Path) -> None:
    for seconds, steps in ((1000, 3), (2000, 2), (3000, 4)):
        data = VERSION + b"".join(trl_step(n, loss=float(seconds)) for n in range(1, steps + 1))
        (tmp_path / f"events.out.tfevents.{seconds}.host.1.0").write_bytes(data)
    (tmp_path / "events.out.tfevents.3600.host.2.0").write_bytes(VERSION + trl_step(4) + trl_step(5))
    for seconds in (1001, 3002):
        other = b"".join(scalar(n, "other/tag", float(seconds)) for n in (1, 2))
        (tmp_path / f"events.out.tfevents.{seconds}.host.9.0").write_bytes(VERSION + other)
    events = read(tmp_path)
    steps = [event for event in events if isinstance(event, Step)]
    assert [(step.step, step.attempt) for step in steps] == [(1, 0), (2, 0), (3, 0), (4, 0), (4, 1), (5, 1)]
    assert {step.loss for step in steps} == {3000.0, 0.5}
    assert steps[0].raw["other/tag"] == 3002.0
    (notes,) = {status.notes for status in events if isinstance(status, SourceStatus) and status.notes}
    assert "3 event files of earlier trainings" in notes[0]


def test_a_file_that_comes_while_we_watch_is_the_same_run_begun_again(tmp_path: Path) -> None:
    (tmp_path / "events.out.tfevents.1").write_bytes(VERSION + trl_step(1) + trl_step(2))
    source = TensorBoardSource(tmp_path)
    source.poll(0.0)
    (tmp_path / "events.out.tfevents.2").write_bytes(VERSION + trl_step(1) + trl_step(2))
    assert [event.from_step for event in source.poll(1.0) if isinstance(event, Restart)] == [1]


def test_the_total_follows_from_epochs(tmp_path: Path) -> None:
    args = to_json({"max_steps": -1, "num_train_epochs": 3}).decode()
    data = VERSION + text("args/text_summary", args) + trl_step(10, epoch=0.25) + trl_step(20, epoch=0.5)
    (tmp_path / "events.out.tfevents.1").write_bytes(data)
    info = state_of(read(tmp_path)).info
    assert info.total_steps == 120
    assert any("num_train_epochs = 3" in note for note in info.notes)


def test_tags_of_transformers_own_trainer_are_trls(tmp_path: Path) -> None:
    tags = ("train/loss", "train/grad_norm", "train/learning_rate", "train/epoch")
    data = VERSION + b"".join(scalar(n, tag, 0.5) for n in (10, 20) for tag in tags)
    (tmp_path / "events.out.tfevents.1").write_bytes(data + scalar(20, "eval/loss", 0.75))
    events = read(tmp_path)
    state = state_of(events)
    assert state.info.framework == "trl"
    assert list(state.history.steps) == list(range(1, 21))
    assert [event.scores for event in events if isinstance(event, Eval)] == [{"loss": 0.75}]


def test_the_first_row_of_a_resumed_run_is_one_step(tmp_path: Path) -> None:
    (tmp_path / "events.out.tfevents.1").write_bytes(VERSION + trl_step(1210) + trl_step(1220))
    assert next(step.step for step in read(tmp_path) if isinstance(step, Step)) == 1210


def test_tags_of_the_first_ppo_trainers_are_trls(tmp_path: Path) -> None:
    values = {
        "ppo/loss/total": 0.25,
        "ppo/loss/value": 0.5,
        "ppo/mean_scores": 0.75,
        "env/reward_mean": 0.75,
        "objective/kl": 1.5,
        "tokens/responses_len_mean": 55.0,
        "tokens/queries_len_mean": 20.0,
    }
    data = VERSION + b"".join(scalar(n, tag, value) for n in (0, 1) for tag, value in values.items())
    (tmp_path / "events.out.tfevents.1").write_bytes(data)
    state = state_of(read(tmp_path))
    assert (state.info.framework, state.info.algorithm, state.info.first_step) == ("trl", "ppo", 0)
    assert (list(state.history.steps), state.attempt) == ([0, 1], 0)
    get = state.history.get
    assert (get("reward_mean", 1), get("response_length_mean", 1), get("kl", 1)) == (0.75, 55, 1.5)


def test_a_folder_of_event_files_has_no_other_logs_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "events.out.tfevents.1").write_bytes(VERSION + trl_step(1) + trl_step(2))
    assert logs_below(tmp_path, FORMAT.reads) == []
    assert logs_below(tmp_path, ()) == [tmp_path / "events.out.tfevents.1"]
