"""`[keys]` in rltop.toml: the user's word on what a raw key is."""

import json
from pathlib import Path

import pytest

from rltop.models.settings import Settings, SettingsError
from rltop.monitor.check import report
from rltop.monitor.clock import FakeClock
from rltop.monitor.config import load
from rltop.monitor.frame import Frame
from rltop.monitor.money.book import Book
from rltop.monitor.pipeline import Pipeline
from rltop.monitor.session import Session
from rltop.monitor.target import open_target


def look(path: Path, settings: Settings) -> Frame:
    return Session(open_target(path), Pipeline(settings, Book.load()), FakeClock()).read_all()


def log(path: Path, **keys: float) -> Path:
    path.write_text("".join(json.dumps({"step": step, **keys}) + "\n" for step in range(4)))
    return path


def settings(path: Path, text: str) -> Settings:
    path.write_text(text)
    return Settings.model_validate(load((path,)))


def test_a_key_that_the_user_names_fills_the_quantity(tmp_path: Path) -> None:
    own = settings(tmp_path / "rltop.toml", '[keys]\nresponse_length_mean = "my/len"\n')
    frame = look(log(tmp_path / "a.jsonl", **{"my/len": 512.0, "my/r": 0.5}), own)
    assert frame.state.history.get("response_length_mean", 3) == 512.0
    assert frame.state.history.row(3).raw("my/len") == 512.0


def test_a_factor_brings_a_key_to_our_unit(tmp_path: Path) -> None:
    own = settings(tmp_path / "rltop.toml", '[keys]\nduration_s = { key = "step_ms", factor = 0.001 }\n')
    frame = look(log(tmp_path / "a.jsonl", step_ms=2500.0), own)
    assert frame.state.history.get("duration_s", 0) == 2.5


def test_the_users_key_beats_the_table_of_the_framework(tmp_path: Path) -> None:
    own = settings(tmp_path / "rltop.toml", '[keys]\nreward_mean = "acc"\n')
    frame = look(log(tmp_path / "a.jsonl", reward_mean=0.9, acc=0.25), own)
    assert frame.state.history.get("reward_mean", 0) == 0.25


def test_a_key_that_a_step_does_not_have_changes_nothing(tmp_path: Path) -> None:
    own = settings(tmp_path / "rltop.toml", '[keys]\nreward_mean = "gone"\n')
    frame = look(log(tmp_path / "a.jsonl", reward_mean=0.9), own)
    assert frame.state.history.get("reward_mean", 0) == 0.9


def test_a_clip_ratio_of_the_users_is_taken_at_its_word(tmp_path: Path) -> None:
    own = settings(tmp_path / "rltop.toml", '[keys]\nclip_ratio = "cut"\n')
    health = look(log(tmp_path / "a.jsonl", cut=0.125), own).health
    assert health.clip_ratio.last == 0.125
    assert health.clip_ratio.reliable


def test_a_quantity_that_does_not_exist_names_line_and_choices(tmp_path: Path) -> None:
    with pytest.raises(
        SettingsError, match=r"line 2: keys\.length: no such quantity; known are .*reward_mean"
    ):
        settings(tmp_path / "rltop.toml", '[keys]\nlength = "my/len"\n')


def test_a_telling_name_is_suggested_and_not_assumed(tmp_path: Path) -> None:
    frame = look(log(tmp_path / "a.jsonl", **{"my/len": 512.0, "loss": 0.5}), Settings())
    assert frame.state.history.get("response_length_mean", 0) is None
    assert any('[keys] response_length_mean = "my/len"' in note for note in report(frame).input.notes)


def test_a_rate_and_a_total_are_no_lengths(tmp_path: Path) -> None:
    frame = look(log(tmp_path / "a.jsonl", tokens_per_second_per_gpu=900.0, total_tokens=9e6), Settings())
    assert not any("[keys] response_length" in note for note in report(frame).input.notes)


def test_nothing_is_suggested_for_what_was_recognised(tmp_path: Path) -> None:
    frame = look(log(tmp_path / "a.jsonl", response_length_mean=512.0, other_len=3.0), Settings())
    assert not any("[keys]" in note for note in report(frame).input.notes)


@pytest.mark.parametrize(
    ("said", "note"),
    [
        ('reward_mean = "gone"', "[keys] reward_mean: the log has no number named gone"),
        ('clip_ratio = "cut"', "[keys] clip_ratio: cut times 1 is 12.5, but has to be from 0 to 1"),
        (
            'response_length_mean = "below"',
            "[keys] response_length_mean: below times 1 is -2.00, but has to be 0 or more",
        ),
        (
            'loss = { key = "cut", factor = 1e308 }',
            "[keys] loss: cut times 1e+308 is –, but has to be a finite number",
        ),
        ('reward_mean = "below"', None),
        ('clip_ratio = { key = "cut", factor = 0.01 }', None),
    ],
)
def test_a_key_that_the_user_names_in_vain_is_told(tmp_path: Path, said: str, note: str | None) -> None:
    own = settings(tmp_path / "rltop.toml", f"[keys]\n{said}\n")
    frame = look(log(tmp_path / "a.jsonl", cut=12.5, below=-2.0), own)
    told = [one for one in report(frame).input.notes if one.startswith("[keys]")]
    assert told == ([] if note is None else [note])
    field = next(iter(own.keys))
    assert (frame.state.history.get(field, 0) is None) == (note is not None)


def test_a_quantity_that_the_user_has_named_is_not_asked_for_again(tmp_path: Path) -> None:
    own = settings(tmp_path / "rltop.toml", '[keys]\nresponse_length_mean = "gone"\n')
    notes = report(look(log(tmp_path / "a.jsonl", **{"my/len": 512.0}), own)).input.notes
    assert not any("was recognised" in note and "length" in note for note in notes)
