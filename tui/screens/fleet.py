"""Many runs, a line each: sorted, filtered, grouped, added up; enter opens one."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.screen import Screen
from textual.widgets import Input

from ...monitor.fleet.filter import read
from ...monitor.fleet.frame import FleetFrame
from ..widgets.fleethead import FleetHead
from ..widgets.fleettable import FleetTable
from ..widgets.keys import Keys

EXAMPLE = "words, /regex/, alert:critical, cost>50, state:running, framework:verl, length>2000, -not"


def _key(keys: str, action: str, description: str, id: str, shown: str | None = None) -> Binding:
    return Binding(keys, action, description, id=id, key_display=shown)


class FleetScreen(Screen[None]):
    """`/` goes to the filter, enter or escape back to the runs; escape there shows all of them again."""

    KEYS: ClassVar[tuple[Binding, ...]] = (
        _key("enter", "open", "open the run", "fleet.open", "enter"),
        _key("slash", "filter", "filter: words, /regex/, alert:critical cost>50", "fleet.filter", "/"),
        _key("greater_than_sign", "order(1)", "order by the next column", "fleet.order_next", ">"),
        _key("less_than_sign", "order(-1)", "order by the column before", "fleet.order_before", "<"),
        _key("R", "turn", "the other way round", "fleet.turn"),
        _key("c", "by('cost')", "the dearest first", "fleet.by_cost"),
        _key("e", "by('at the end')", "the dearest at the end first", "fleet.by_end"),
        _key("a", "by('alerts')", "those with the gravest alerts first", "fleet.by_alerts"),
        _key("n", "by('age')", "the newest first", "fleet.by_age"),
        _key("g", "group", "group by project, or not", "fleet.group"),
        _key("escape", "all", "show all runs again", "fleet.all", "esc"),
    )
    BINDINGS: ClassVar[list[BindingType]] = [*KEYS]

    def compose(self) -> ComposeResult:
        yield FleetHead(id="fleet-head")
        yield Input(placeholder=EXAMPLE, id="fleet-filter", compact=True)
        yield FleetTable(id="fleet-table")
        yield Keys(
            (
                ("enter", "open", "open"),
                ("/", "filter", "filter"),
                ("<>", "by age", "order(1)"),
                ("c", "cost", "by('cost')"),
                ("a", "alerts", "by('alerts')"),
                ("g", "group", "group"),
            ),
            screens=False,
            id="keys",
        )

    def on_mount(self) -> None:
        self.query_one(Input).display = False
        self.query_one(FleetTable).focus()

    def show_fleet(self, fleet: FleetFrame) -> None:
        """Give the frame to every panel."""
        self.query_one(FleetTable).show_fleet(fleet)
        head = self.query_one(FleetHead)
        head.shown = self.query_one(FleetTable).count if self.query_one(FleetTable).wanted.tests else None
        head.show_fleet(fleet)

    def set_trouble(self, trouble: str) -> None:
        """Show in one line that whatever makes the frames has failed."""
        head = self.query_one(FleetHead)
        head.trouble = trouble
        head.look_again()

    def action_open(self) -> None:
        """Open the run with the cursor."""
        table = self.query_one(FleetTable)
        if table.row is not None:
            table.post_message(FleetTable.Opened(table.row))

    def action_filter(self) -> None:
        """Type into the filter."""
        typed = self.query_one(Input)
        typed.display = True
        typed.focus()

    def action_all(self) -> None:
        """Leave the filter, or without being in it take it away."""
        typed, table = self.query_one(Input), self.query_one(FleetTable)
        if typed.has_focus and typed.value:
            table.focus()
            return
        typed.value = ""
        typed.display = False
        table.focus()

    def on_input_changed(self, event: Input.Changed) -> None:
        wanted, problem = read(event.value)
        table, head = self.query_one(FleetTable), self.query_one(FleetHead)
        table.wanted = wanted
        table.look_again()
        head.shown = table.count if wanted.tests else None
        head.problem = problem
        head.look_again()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        if not event.value:
            self.query_one(Input).display = False
        self.query_one(FleetTable).focus()

    def action_order(self, direction: int) -> None:
        """Order by another column."""
        self.query_one(FleetTable).order_next(direction)

    def action_by(self, order: str) -> None:
        """Order by one quantity; once more turns it round."""
        self.query_one(FleetTable).order_by(order)

    def action_turn(self) -> None:
        """The other way round."""
        self.query_one(FleetTable).turn_round()

    def action_group(self) -> None:
        """Group by project, or no longer."""
        table = self.query_one(FleetTable)
        table.grouped = not table.grouped
        table.look_again()

    def on_fleet_table_ordered(self) -> None:
        self.query_one(Keys).say("order(1)", f"by {self.query_one(FleetTable).by}")
