"""A far side that answers anything at all."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rltop.models.event import SourceStatus
from rltop.monitor.places.ssh_copies import Copies
from rltop.monitor.places.ssh_script import parse_link, parse_listing
from rltop.monitor.places.ssh_shell import Shell, ShellError

from .conftest import Impatient

NUMBER = st.one_of(st.integers(-5, 2**70).map(str), st.sampled_from(["²", "1e3", "", "x"]))
NAME = st.one_of(
    st.text(st.characters(codec="utf-8", exclude_characters="\n"), max_size=12),
    st.sampled_from(
        ["../up.log", "/etc/passwd", "a//b.log", "a/../../b.log", ".", "..", "a.log/b.log", "a.log"]
    ),
)
KIND = st.sampled_from(["regular file", "Regular File", "regular empty file", "directory", ""])


def line_of(numbers: list[str], kind: str, name: str) -> str:
    return f"{' '.join(numbers)} {kind} ./{name}"


LINE = st.one_of(
    st.builds(line_of, st.lists(NUMBER, min_size=2, max_size=4), KIND, NAME),
    st.sampled_from(["latest-run", "wandb/latest-run", "wandb", "..", "run-1", "/etc"]),
)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=st.lists(LINE, max_size=8), data=st.binary(max_size=80))
def test_no_listing_reaches_outside_of_the_mirror(tmp_path: Path, lines: list[str], data: bytes) -> None:
    inside = tmp_path / "here"
    inside.mkdir(exist_ok=True)
    (tmp_path / "scratch").mkdir(exist_ok=True)
    copies = Copies(inside, tmp_path / "scratch")
    look = parse_listing("\n".join(["1700000000", *lines]).encode("utf-8", "surrogateescape"))
    assert look is not None
    copies.update(look, 0.0)
    for part in copies.parts():
        copies.take(part, data, readable=True)
    for link, to in parse_link("\n".join(lines).encode("utf-8", "surrogateescape")):
        copies.link(link, to)
    copies.update(look, 0.0)
    assert sorted(os.listdir(tmp_path)) == ["here", "scratch"]
    for folder, _, names in os.walk(inside, followlinks=False):
        for name in names:
            assert Path(folder, name).resolve().is_relative_to(inside.resolve())


@given(st.binary(max_size=200))
def test_no_bytes_are_more_than_a_listing_or_none(data: bytes) -> None:
    parse_listing(data)
    parse_link(data)


@pytest.mark.parametrize(
    "answer",
    [
        # The words of the script come back to us with nothing in between, twice, or without an end.
        "sed -n 's/.*2s.*n. \\([0-9a-f]*\\) .*/\\n\\1 x.\\n/p'",
        "while read -r line; do set -- $line; case $1 in printf) printf '\\n%s %s.\\n' $3 99999;; esac; done",
        "yes",
    ],
)
def test_senseless_answers_are_one_line(answer: str) -> None:
    with (
        Shell(["sh", "-c", answer, "host", "x"], Impatient(), silence_s=0.25) as shell,
        pytest.raises(ShellError),
    ):
        shell.ask(["true", "true"])


def test_what_cannot_be_kept_is_a_note_and_no_crash(tmp_path: Path) -> None:
    (tmp_path / "here").write_text("no folder")
    copies = Copies(tmp_path / "here", tmp_path)
    look = parse_listing(b"1700000000\n1 4 1700000000 regular file ./a.log")
    assert look is not None
    copies.update(look, 0.0)
    (part,) = copies.parts()
    copies.take(part, b"data", readable=True)
    assert any("a.log cannot be kept here" in note for note in copies.notes)
    assert SourceStatus(source="ssh", path="x", notes=tuple(copies.notes))
