"""What carries a log's lines is taken off; what is theirs stays."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rltop.models.step import Step
from rltop.monitor.lines import BOM, Lines
from rltop.monitor.source import Chunk, Line
from rltop.monitor.sources.tinker import FORMAT
from rltop.monitor.target import open_target, probe
from rltop.monitor.wrapping import Wrapping, bare_text

ZULU = "2026-08-15T05:04:17.029054704Z"
AT = datetime(2026, 8, 15, 5, 4, 17, tzinfo=UTC).timestamp() + 0.029054
LOG = [
    "\x1b[36m(TaskRunner pid=7)\x1b[0m {'data': {'max_response_length': 64},",
    "  indented",
    "",
    "step:1 - critic/score/mean:0.5",
    "{'loss': 0.5}",
]
CARRIERS: dict[str, Callable[[str], str]] = {
    "kubectl --timestamps": lambda line: f"{ZULU} {line}",
    "containerd": lambda line: f"{ZULU} stdout F {line}",
    "kubectl --prefix": lambda line: f"[pod/job-0-abc/main] {line}",
    "both": lambda line: f"[pod/job-0-abc/main] {ZULU} {line}",
    "compose": lambda line: f"trainer-1  | {line}",
    "srun --label": lambda line: f"12: {line}",
    "torchrun --tee": lambda line: f"[default0]:{line}",
    "ts": lambda line: f"Nov  9 22:00:01 {line}",
    "journalctl": lambda line: f"Nov 29 22:00:01 node-1 python[123]: {line}",
    "ts with a date": lambda line: f"[2026-11-29 22:00:01] {line}",
    "docker": lambda line: json.dumps({"log": line + "\n", "stream": "stdout", "time": ZULU}),
    "loguru": lambda line: json.dumps({"timestamp": "2026-08-15T05:04:17.029+00:00", "message": line}),
}


def bare(texts: list[str], at: float | None = None) -> list[Line]:
    wrapping = Wrapping()
    return list(wrapping.unwrapped(Line(text, at, n) for n, text in enumerate(texts, 1)))


@pytest.mark.parametrize("name", CARRIERS)
def test_each_carrier_is_taken_off(name: str) -> None:
    carried = [CARRIERS[name](line) for line in LOG]
    assert [line.text for line in bare(carried)] == LOG
    assert bare_text("\n".join(carried)) == "\n".join(LOG)
    assert bare_text("\n".join(carried[3:]), like="\n".join(carried)) == "\n".join(LOG[3:])


def test_a_log_that_nothing_carries_stays_and_is_not_looked_at_again() -> None:
    wrapping = Wrapping()
    lines = [Line(text, None, n) for n, text in enumerate(LOG * 3, 1)]
    assert list(wrapping.unwrapped(lines)) == lines
    assert wrapping.plain


def test_the_time_of_the_carrier_is_that_of_the_line() -> None:
    lines = bare([CARRIERS["containerd"](line) for line in LOG])
    assert [line.at for line in lines] == [pytest.approx(AT)] * 5
    seen_later = bare([CARRIERS["docker"](line) for line in LOG], at=AT + 60)
    assert [line.at for line in seen_later] == [pytest.approx(AT)] * 5


def test_a_time_of_another_zone_does_not_beat_the_arrival() -> None:
    arrival = datetime(2026, 11, 29, 14, 0, 1).timestamp()
    lines = bare([CARRIERS["ts with a date"](line) for line in LOG], at=arrival)
    assert {line.at for line in lines} == {arrival}


def test_long_lines_that_kubernetes_cut_are_joined() -> None:
    parts = [f"{ZULU} stdout P step:1 - a:0.", f"{ZULU} stdout P 5 - b:", f"{ZULU} stdout F 0.25"]
    assert [line.text for line in bare([*parts, f"{ZULU} stdout F next"])] == [
        "step:1 - a:0.5 - b:0.25",
        "next",
    ]


@pytest.mark.parametrize("key", ["step", "global_step", "epoch"])
def test_rows_with_a_step_are_no_carried_lines(key: str) -> None:
    rows = [json.dumps({key: n, "message": "fine", "time": ZULU, "loss": 0.5}) for n in range(5)]
    assert [line.text for line in bare(rows)] == rows


def test_times_of_some_lines_only_are_their_own() -> None:
    mixed = ["2026-11-29 22:00:01 - INFO - Step 1/9", "Traceback (most recent call last):", "  File", *LOG]
    assert [line.text for line in bare(mixed)] == mixed


def test_a_log_that_comes_line_by_line_is_learnt_from_as_it_comes() -> None:
    wrapping = Wrapping()
    told = [
        line.text
        for n, text in enumerate(LOG, 1)
        for line in wrapping.unwrapped([Line(f"0: {text}", None, n)])
    ]
    assert told[3:] == LOG[3:]
    assert not wrapping.plain


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_what_powershell_wrote_is_read(tmp_path: Path, codec: str, shared_data: Path) -> None:
    text = (shared_data / "verl" / "config-interleaved" / "console.log").read_text(errors="replace")
    plain, wide = tmp_path / "plain.log", tmp_path / "wide.log"
    plain.write_text(text)
    wide.write_bytes(("\ufeff" + text).encode(codec, "replace"))
    assert probe(wide).head[:1000] == probe(plain).head[:1000]
    told = [[event for source in open_target(path) for event in source.poll(0.0)] for path in (plain, wide)]
    kinds = [[event for event in events if event.kind != "source"] for events in told]
    assert kinds[0] == kinds[1]


@given(st.text(alphabet="aé█\n\r", max_size=40), st.integers(0, 80))
def test_wide_text_does_not_depend_on_how_it_was_cut(text: str, place: int) -> None:
    data = ("\ufeff" + text).encode("utf-16-le")
    lines = Lines()
    chunks = (data[:place], data[place:]) if place > 1 else (data,)
    told = [line.text for chunk in chunks for line in lines.feed(Chunk(chunk, None))]
    told += [line.text for line in lines.flush()]
    whole = Lines()
    expected = [line.text for line in (*whole.feed(Chunk((BOM + text).encode(), None)), *whole.flush())]
    assert told == expected


def test_metrics_that_a_carrier_brought_are_a_run(tmp_path: Path) -> None:
    rows = [{"step": n, "env/all/reward/total": 0.5, "progress/done_frac": (n + 1) / 9} for n in range(4)]
    path = tmp_path / "kubectl.log"
    path.write_text("".join(f"{ZULU} {json.dumps(row)}\n" for row in rows))
    assert FORMAT.score(probe(path)) > 0.9
    events = [event for source in open_target(path) for event in (*source.poll(0.0), *source.close())]
    assert [event.step for event in events if isinstance(event, Step)] == [0, 1, 2, 3]


@given(st.lists(st.text(max_size=30), max_size=12))
def test_anything_is_borne(texts: list[str]) -> None:
    assert len(bare(texts)) <= len(texts)
    bare_text("\n".join(texts))
