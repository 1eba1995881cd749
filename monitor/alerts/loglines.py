"""Which log lines are new, which are already history, and how one is quoted. Pure."""

from ...models.event import LogLine
from ..moment import Moment

_QUOTED = 120
"""Characters: an alert is one line."""


def lines_since(last: LogLine | None, moment: Moment) -> tuple[LogLine, ...]:
    """The lines that came after `last`, oldest first; all that are kept where `last` is not among them."""
    lines = moment.state.logs
    if not lines or lines[-1] is last:
        return ()
    for index in range(len(lines) - 1, -1, -1):
        if lines[index] is last:
            return lines[index + 1 :]
    return lines


def newest(lines: tuple[LogLine, ...], *topics: str) -> LogLine | None:
    """The last line on one of these topics."""
    return next((line for line in reversed(lines) if line.topic in topics), None)


def is_past(line: LogLine, moment: Moment) -> bool:
    """Whether a step is known to have ended after this line was written.

    Logs and metrics are often files of their own, read one after the other: order of arrival says nothing.
    """
    if line.at is None or moment.state.last_row is None:
        return False
    ended_at = moment.state.last_row.get("ended_at")
    return ended_at is not None and ended_at > line.at


def quoted(text: str) -> str:
    """A line of a log, shortened to what an alert has room for."""
    words = " ".join(text.split())
    return words if len(words) <= _QUOTED else f"{words[: _QUOTED - 1].rstrip()}…"
