"""The table of docs/sources.md is that of the code, and no format tells what its row leaves empty."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.sources import PAGE, renewed
from rltop.models.event import Event
from rltop.models.run import RunInfo
from rltop.models.step import Step
from rltop.monitor.sources import formats
from rltop.monitor.target import TargetError, probe, recognise

FIELDS = {
    "length": "response_length_mean",
    "clip": "clip_ratio",
    "reward": "reward_mean",
    "tokens": "sampled_tokens",
}
LARGEST = 2_000_000
SUFFIXES = (".log", ".jsonl", ".txt", ".json")


def test_the_table_of_the_sources_is_as_the_code_has_it() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == renewed(page), "run `python -m bench.sources`"


def test_every_format_says_how_it_has_its_steps() -> None:
    assert [form.name for form in formats() if not form.tells.steps] == []


def test_no_format_is_asked_twice() -> None:
    names = [form.name for form in formats()]
    assert sorted(set(names)) == sorted(names)


def logs(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.stat().st_size < LARGEST and path.suffix in SUFFIXES:
            yield path


def told(path: Path) -> tuple[str, set[str], set[str]]:
    """(format, what its row leaves empty, what it told) of a log."""
    form, _ = recognise(probe(path))
    if form is None:
        return "", set(), set()
    events: list[Event] = []
    for source in form.open(path):
        events += source.poll(0.0)
        events += source.close()
    found = {
        quantity
        for event in events
        if isinstance(event, Step)
        for quantity, field in FIELDS.items()
        if getattr(event, field) is not None
    }
    facts = [event for event in events if isinstance(event, RunInfo)]
    found |= {"total"} if any(fact.total_steps is not None for fact in facts) else set()
    found |= {"gpus"} if any(fact.gpus is not None for fact in facts) else set()
    found |= {"config"} if any(fact.config for fact in facts) else set()
    empty = {
        quantity for quantity in (*FIELDS, "total", "gpus", "config") if not getattr(form.tells, quantity)
    }
    return form.name, empty, found


def test_no_format_tells_what_its_row_leaves_empty(shared_data: Path) -> None:
    seen: set[str] = set()
    wrong: list[str] = []
    for path in logs(shared_data):
        try:
            name, empty, found = told(path)
        except TargetError:
            continue
        seen.add(name)
        wrong += [f"{path.name} ({name}): {quantity}" for quantity in sorted(empty & found)]
    assert wrong == []
    if len(seen) < 5:
        pytest.fail(f"only {seen} were tried")
