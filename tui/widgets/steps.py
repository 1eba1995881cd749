"""The last steps as a table: every column as wide from frame to frame, every number at its right edge."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...models import text
from ...monitor.frame import Frame
from ...monitor.history import Row
from ..lines import Line, Span
from .panel import Panel
from .phases import span_of


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the table. Where room is short, the highest rank goes first."""

    title: str
    width: int
    rank: int
    read: Callable[[Frame, Row], float | None]
    write: Callable[[float | None], str]


def _canonical(name: str) -> Callable[[Frame, Row], float | None]:
    return lambda frame, row: row.get(name)


def _cell(values: Sequence[float], row: Row) -> float | None:
    value = values[row.index] if row.index < len(values) else None
    return value if value is not None and value == value else None


COLUMNS = (
    Column("time", 10, 2, _canonical("duration_s"), span_of),
    Column("length", 8, 3, _canonical("response_length_mean"), text.tokens),
    Column("clip", 7, 4, _canonical("clip_ratio"), text.percent),
    Column("reward", 8, 5, _canonical("reward_mean"), text.number),
    Column("tok/s", 8, 7, _canonical("tokens_per_s"), text.tokens_compact),
    Column("MFU", 7, 6, _canonical("mfu_whole_step"), text.percent),
    Column("KL", 9, 8, _canonical("kl"), text.number),
    Column("entropy", 9, 9, _canonical("entropy"), text.number),
    Column("$ step", 9, 1, lambda frame, row: _cell(frame.step_usd, row), text.usd),
    Column("$ so far", 10, 0, lambda frame, row: _cell(frame.spent_usd, row), text.usd),
)
STEP_WIDTH = 7


class Steps(Panel):
    """Newest at the top, as that is what the eye looks for."""

    def lay_out(self, frame: Frame, width: int, height: int) -> list[Line]:
        columns = _columns(frame, width)
        titles = "".join(f"{column.title:>{column.width}}" for column in columns)
        lines: list[Line] = [(Span(f"{'STEP':>{STEP_WIDTH}}", "title"), Span(titles, "dim"))]
        history = frame.state.history
        for index in reversed(history.progress[-max(height - 1, 1) :]):
            row = history.row(index)
            cells = "".join(f"{column.write(column.read(frame, row)):>{column.width}}" for column in columns)
            lines.append((Span(f"{row.step:>{STEP_WIDTH}}", "strong"), Span(cells)))
        return lines


def _columns(frame: Frame, width: int) -> list[Column]:
    """Those that the run tells, as many as fit."""
    history = frame.state.history
    newest = [history.row(index) for index in history.progress[-20:]]
    columns = [column for column in COLUMNS if any(column.read(frame, row) is not None for row in newest)]
    while columns and STEP_WIDTH + sum(column.width for column in columns) > width:
        columns.remove(max(columns, key=lambda column: column.rank))
    return columns
