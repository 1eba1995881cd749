"""The bar of a replay: where in the run we are, how fast, and where the alerts were."""

from datetime import datetime
from itertools import groupby

from textual import events
from textual.message import Message

from ...models import text
from ...monitor.frame import Frame, ReplayPosition
from ..glyphs import SEVERITY
from ..lines import Line, Span, cells, part, row
from ..readings import steps_done
from .panel import Panel

_REAL_TIME = 1e9
"""Run times below this are no dates: the log had no clock."""


class ReplayBar(Panel):
    """Hidden while live. A click on the bar goes to that place in the run."""

    class Sought(Message):
        """The user pointed at a place between 0, the start, and 1, the end."""

        def __init__(self, fraction: float) -> None:
            super().__init__()
            self.fraction = fraction

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._bar = (0, 0)
        """First cell of the bar, and how many it has."""

    def present(self, frame: Frame) -> bool:
        return frame.replay is not None

    def lay_out(self, frame: Frame, width: int, height: int) -> list[Line]:
        position = frame.replay
        if position is None:
            return []
        total = frame.info.total_steps
        done = steps_done(frame)
        head = (
            Span("⏸ paused" if position.paused else f"▶ {position.speed:g}×", "key"),
            Span(f"  step {done}/{total}  " if total else f"  step {done}  ", "plain"),
        )
        end = row(
            [
                part(0, Span(f"  {_run_time(frame, position)}", "plain")),
                part(1, Span("␣ ", "key"), Span("go on" if position.paused else "pause", "dim")),
                part(2, Span("←/→ ", "key"), Span("step", "dim")),
                part(3, Span("n/N ", "key"), Span("alert", "dim")),
            ],
            max(width // 2, width - cells(head) - 30),
        )
        room = width - cells(head) - cells(end)
        if room < 10:
            end = end[:1]
            room = width - cells(head) - cells(end)
        if room < 10:
            return [(*head, *end)]
        self._bar = (cells(head) + 1, room - 2)
        return [(*head, *scrub_bar(position, room), *end)]

    def on_click(self, event: events.Click) -> None:
        start, size = self._bar
        if size > 1 and start <= event.x < start + size:
            self.post_message(self.Sought((event.x - start) / (size - 1)))


def scrub_bar(position: ReplayPosition, width: int) -> Line:
    """The run from start to end, with the alerts met and where we are."""
    size = width - 2
    here = round(position.index / max(position.total, 1) * (size - 1))
    signs = [("─", "ours" if at <= here else "axis") for at in range(size)]
    for where, severity in position.marks:
        at = min(max(round(where * (size - 1)), 0), size - 1)
        signs[at] = (SEVERITY.get(severity, "·"), "bad" if severity == "critical" else "warn")
    signs[here] = ("●", "strong")
    runs = groupby(signs, key=lambda sign: sign[1])
    bar = (Span("".join(sign for sign, _ in run), ink) for ink, run in runs)
    return (Span("├", "axis"), *bar, Span("┤", "axis"))


def _run_time(frame: Frame, position: ReplayPosition) -> str:
    if position.at < _REAL_TIME:
        return text.duration_compact(frame.elapsed_s)
    return f"{datetime.fromtimestamp(position.at):%H:%M:%S}"
