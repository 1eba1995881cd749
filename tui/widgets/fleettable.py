"""The runs of a fleet, a line each, with a cursor. Draws only the lines that can be seen.

Its one rule: the cursor stays on its run, whatever is sorted, filtered or added around it.
"""

from collections import Counter
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message

from ...models import text
from ...models.fleet import FleetRow
from ...monitor.fleet.filter import Filter
from ...monitor.fleet.frame import FleetFrame
from ...monitor.fleet.order import ORDERS, by_project, ordered
from ...monitor.fleet.totals import totals_of
from ..lines import Line, Span, cells, wrapped
from .fleetcells import layout, line_of, titles
from .fleetpanel import FleetPanel

TITLES = 1
WHAT_RUNS_ARE = (
    "A run is a folder of tinker-cookbook or TRL, a console log, metrics.jsonl, .wandb or event files. "
    "One that begins here shows by itself."
)
WHEEL = 3
"""Lines that a turn of the wheel goes."""


class FleetTable(FleetPanel, can_focus=True):
    """Titles, then as many runs as fit, the one with the cursor among them."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,j", "move(1)", "next run", show=False, id="fleet.down"),
        Binding("up,k", "move(-1)", "run before", show=False, id="fleet.up"),
        Binding("pagedown", "page(1)", "a page on", show=False, id="fleet.page_down"),
        Binding("pageup", "page(-1)", "a page back", show=False, id="fleet.page_up"),
        Binding("home", "move(-1000000)", "first run", show=False, id="fleet.first"),
        Binding("end", "move(1000000)", "last run", show=False, id="fleet.last"),
    ]

    class Opened(Message):
        """The user wants to see a run."""

        def __init__(self, row: FleetRow) -> None:
            super().__init__()
            self.row = row

    class Ordered(Message):
        """The order has changed."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.by = "age"
        self.turned = False
        self.grouped = False
        self.wanted = Filter()
        self._rows: list[FleetRow | str] = []
        """Runs, and above each group its project's name."""
        self._cursor: str | None = None
        self._top = 0

    @property
    def row(self) -> FleetRow | None:
        """The run with the cursor."""
        return next((row for row in self._rows if isinstance(row, FleetRow) and row.id == self._cursor), None)

    @property
    def count(self) -> int:
        """Runs that pass the filter."""
        return sum(isinstance(row, FleetRow) for row in self._rows)

    def show_fleet(self, fleet: FleetFrame) -> None:
        self._arrange(fleet)
        super().show_fleet(fleet)

    def look_again(self) -> None:
        if self.fleet is not None:
            self._arrange(self.fleet)
        super().look_again()

    def order_by(self, by: str) -> None:
        """Order by a quantity; once more turns it round."""
        self._order(by, self.by == by and not self.turned)

    def order_next(self, direction: int) -> None:
        """Order by the next quantity."""
        names = list(ORDERS)
        self._order(names[(names.index(self.by) + direction) % len(names)], False)

    def turn_round(self) -> None:
        """The other way round."""
        self._order(self.by, not self.turned)

    def _order(self, by: str, turned: bool) -> None:
        """Whoever orders wants to see what comes first."""
        self.by, self.turned = by, turned
        self._cursor = None
        self.look_again()
        self.post_message(self.Ordered())

    def action_move(self, lines: int) -> None:
        """Move the cursor."""
        runs = [row.id for row in self._rows if isinstance(row, FleetRow)]
        if runs:
            at = runs.index(self._cursor) if self._cursor in runs else 0
            self._cursor = runs[min(max(at + lines, 0), len(runs) - 1)]
            super().look_again()

    def action_page(self, pages: int) -> None:
        """Move by as many runs as can be seen."""
        self.action_move(pages * max(self.size.height - TITLES - 1, 1))

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        event.stop()
        self.action_move(WHEEL)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        event.stop()
        self.action_move(-WHEEL)

    def on_click(self, event: events.Click) -> None:
        """On a title, order by it; on a run, open it."""
        if event.y < TITLES:
            places = titles(layout(self.size.width), self.by, self.turned)[1]
            order = next((order for start, end, order in places if start <= event.x < end), None)
            if order is not None:
                self.order_by(order)
            return
        index = self._top + event.y - TITLES
        row = self._rows[index] if index < len(self._rows) else None
        if isinstance(row, FleetRow):
            self._cursor = row.id
            super().look_again()
            self.post_message(self.Opened(row))

    def lay_out_fleet(self, fleet: FleetFrame, width: int, height: int) -> list[Line]:
        if not self._rows:
            return _nothing(fleet, self.wanted.text, width, height)
        shape = layout(width)
        named = Counter(row.name for row in fleet.rows)
        room = max(height - TITLES, 1)
        self._keep_in_sight(room)
        lines = [titles(shape, self.by, self.turned)[0]]
        for row in self._rows[self._top : self._top + room]:
            if isinstance(row, str):
                lines.append(self._heading(row, fleet))
            else:
                lines.append(line_of(row, shape, row.id == self._cursor, named[row.name] > 1))
        return lines

    def _keep_in_sight(self, room: int) -> None:
        """Scroll as little as shows the run with the cursor."""
        at = next(
            (i for i, row in enumerate(self._rows) if isinstance(row, FleetRow) and row.id == self._cursor), 0
        )
        first = at - 1 if at and isinstance(self._rows[at - 1], str) else at
        self._top = max(min(self._top, first, max(len(self._rows) - room, 0)), at - room + 1, 0)

    def _arrange(self, fleet: FleetFrame) -> None:
        """Which runs are shown, in which order."""
        rows = ordered(filter(self.wanted.takes, fleet.rows), self.by, self.turned)
        self._rows = list(rows)
        if self.grouped:
            self._rows = []
            for project, members in by_project(rows).items():
                self._rows += [project, *members]
        ids = {row.id for row in rows}
        if self._cursor not in ids:
            self._cursor = rows[0].id if rows else None

    def _heading(self, project: str, fleet: FleetFrame) -> Line:
        """A project and what its runs come to."""
        told = totals_of(row for row in fleet.rows if row.project == project and self.wanted.takes(row))
        final = told.final_usd
        end = "" if final is None or final.p10 == final.p90 else f" → {text.usd(final.p50)}"
        runs = f"{told.runs} run{'s' if told.runs != 1 else ''}"
        return (
            Span(f"  {project or 'no project'}  ", "title"),
            Span(f"{runs} · {text.usd(told.spent_usd)}{end}", "dim"),
        )


def _nothing(fleet: FleetFrame, wanted: str, width: int, height: int) -> list[Line]:
    """What to say where no run is to be seen."""
    scan, where = fleet.scan, " and ".join(fleet.roots)
    lines: list[Line]
    if fleet.rows:
        lines = [(Span("no run passes the filter", "strong"),), (), (Span(f"{wanted}", "dim"),), ()]
        lines += [(Span("esc  shows all runs again", "dim"),)]
    elif scan is not None and not scan.complete and not scan.files:
        lines = [(Span(f"looking for runs below {where} …", "strong"),)]
    elif scan is not None:
        lines = [(Span(f"no runs below {where} yet", "strong"),), ()]
        counts = ((scan.files, "file"), (scan.folders, "folder"))
        looked = " in ".join(f"{text.integer(n)} {what}{'s' * (n != 1)}" for n, what in counts) + " looked at"
        denied = f", {scan.unreadable} may not be read" if scan.unreadable else ""
        lines += [(Span(looked + denied, "dim"),)]
        lines += wrapped(WHAT_RUNS_ARE, min(width - 4, 76), "dim")
        lines += [(), (Span("elsewhere:  rltop PATH …      to see one:  rltop demo", "dim"),)]
    else:
        lines = [(Span("no runs", "strong"),)]
    left = max((width - max(cells(line) for line in lines)) // 2, 1)
    above = max((height - len(lines)) // 2, 0)
    return [*[()] * above, *((Span(" " * left), *line) for line in lines)]
