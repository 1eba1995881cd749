"""What the tests of the veRL source share: text in, events or a folded state out."""

from collections.abc import Callable, Iterable

import pytest

from rltop.models.event import Event
from rltop.monitor.reduce import reduce
from rltop.monitor.source import Line, Parser
from rltop.monitor.sources.verl.console import ConsoleParser
from rltop.monitor.state import RunState

Read = Callable[..., list[Event]]
Fold = Callable[..., RunState]


def read_text(text: str, parser: Parser | None = None) -> list[Event]:
    """All events of a log, with what was held back at its end."""
    parser = parser or ConsoleParser()
    events: list[Event] = []
    for number, line in enumerate(text.split("\n"), 1):
        events.extend(parser.feed(Line(line, None, number)))
    events.extend(parser.flush())
    return events


def fold_events(events: Iterable[Event]) -> RunState:
    """The state after the events."""
    state = RunState()
    for event in events:
        state = reduce(state, event)
    return state


@pytest.fixture
def read() -> Read:
    return read_text


@pytest.fixture
def fold() -> Fold:
    def fold_text(text: str, parser: Parser | None = None) -> RunState:
        return fold_events(read_text(text, parser))

    return fold_text
