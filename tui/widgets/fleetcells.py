"""The columns of the fleet: how one run is written in a few cells each. Pure.

Its one rule: a column is as wide for every run and from frame to frame, and numbers stand at its right edge.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ...models import text
from ...models.fleet import FleetRow, RowState
from ..glyphs import EMPTY, FULL, SEVERITY, STATUS
from ..lines import Line, Span, cells, cut, fit
from ..trace import trace

SIGN = {**STATUS, "reading": "…", "unreadable": "✖"}
SIGN_INK: dict[RowState, str] = {
    "running": "good",
    "stalled": "warn",
    "crashed": "bad",
    "unreadable": "bad",
    "finished": "good",
    "unknown": "dim",
    "reading": "dim",
}
ALERT_INK = {"critical": "bad", "warning": "warn", "info": "dim"}
NAME, MOST_NAME = 14, 40
"""Cells of a name at the least and at the most."""
ALERTS = 14
TREND, BAR = 8, 5
GAP = 1


@dataclass(frozen=True, slots=True)
class FleetColumn:
    """A column. Where room is short, the highest rank goes first; rank 0 never."""

    title: str
    order: str
    """The order that a click on the title asks for."""
    width: int
    rank: int
    write: Callable[[FleetRow], Line]
    left: bool = False


def _right(write: Callable[[FleetRow], str], ink: str = "plain") -> Callable[[FleetRow], Line]:
    return lambda row: (Span(write(row), ink),)


def _framework(row: FleetRow) -> Line:
    return (Span("" if row.framework == "unknown" else row.framework, "dim"),)


def _trend(row: FleetRow) -> Line:
    return (Span(trace(row.lengths, TREND), "ours"),)


def _step(row: FleetRow) -> Line:
    if row.step is None:
        return (Span(text.UNKNOWN, "dim"),)
    return (Span(f"{row.step}"), Span(f"/{row.total_steps}" if row.total_steps else "", "dim"))


def _bar(row: FleetRow) -> Line:
    if not row.step or not row.total_steps:
        return ()
    full = round(min(row.step / row.total_steps, 1.0) * BAR)
    return (Span(FULL * full, "ours"), Span(EMPTY * (BAR - full), "axis"))


def _spent(row: FleetRow) -> Line:
    return (Span(text.usd(row.spent_usd), "ours" if row.spent_usd is not None else "dim"),)


def _end(row: FleetRow) -> Line:
    """What it will have cost; nothing beside what is over, whose end is what it has cost."""
    if row.final_usd is None:
        return (Span("→ ?" if row.needs and row.spent_usd is not None else "", "dim"),)
    if row.final_usd.p10 == row.final_usd.p90:
        return ()
    return (Span("→ ", "dim"), Span(text.usd(row.final_usd.p50), "projected"))


def _range(row: FleetRow) -> Line:
    final = row.final_usd
    if final is None or final.p10 == final.p90:
        return ()
    return (Span(f"{text.usd(final.p10)[1:]}–{text.usd(final.p90)[1:]}", "dim"),)


def _clip(row: FleetRow) -> Line:
    ink = next((ALERT_INK[a.severity] for a in row.alerts if a.rule.startswith("clip")), "plain")
    return (Span(text.percent(row.clip), ink if row.clip is not None else "dim"),)


def _left(row: FleetRow) -> Line:
    if row.remaining_s is None:
        return ()
    return (Span(text.duration_compact(row.remaining_s.p50), "projected"),)


COLUMNS: tuple[FleetColumn, ...] = (
    FleetColumn("framework", "framework", 9, 7, _framework, left=True),
    FleetColumn("step", "step", 9, 1, _step),
    FleetColumn("", "step", BAR, 4, _bar, left=True),
    FleetColumn("so far", "cost", 7, 0, _spent),
    FleetColumn("at end", "at the end", 9, 0, _end, left=True),
    FleetColumn("80 %", "at the end", 13, 5, _range, left=True),
    FleetColumn("ends in", "step", 8, 9, _left),
    FleetColumn("length", "length", 7, 1, _right(lambda row: text.tokens(row.length))),
    FleetColumn("", "length", TREND, 3, _trend, left=True),
    FleetColumn("grown", "growth", 6, 8, _right(lambda row: text.ratio(row.length_growth), "dim")),
    FleetColumn("clip", "clip", 6, 2, _clip),
    FleetColumn("MFU", "MFU", 6, 6, _right(lambda row: text.percent(row.mfu))),
)


@dataclass(frozen=True, slots=True)
class Layout:
    """What fits at a width."""

    name: int
    columns: tuple[FleetColumn, ...]
    alerts: int


def layout(width: int) -> Layout:
    """The columns that fit; what is left over goes to the names, then to the alerts."""
    columns = list(COLUMNS)
    while _least(columns) > width and any(column.rank for column in columns):
        columns.remove(max(reversed(columns), key=lambda column: column.rank))
    spare = max(width - _least(columns), 0)
    name = NAME + min(spare * 2 // 3, MOST_NAME - NAME)
    alerts = ALERTS + spare - (name - NAME)
    return Layout(name, tuple(columns), alerts)


def _least(columns: Sequence[FleetColumn]) -> int:
    return 3 + NAME + sum(column.width + GAP for column in columns) + GAP + ALERTS


def titles(shape: Layout, by: str, turned: bool) -> tuple[Line, list[tuple[int, int, str]]]:
    """The line of titles, and for each the cells from and to which it asks for an order."""
    spans: list[Span] = [Span("   ")]
    places: list[tuple[int, int, str]] = []
    at = 3

    def add(title: str, order: str, width: int, left: bool) -> None:
        nonlocal at
        marked = title and by == order
        shown = cut(f"{title}{'▲' if turned else '▼'}" if marked else title, width)
        spans.append(
            Span(f"{shown:<{width}}" if left else f"{shown:>{width}}", "strong" if marked else "dim")
        )
        spans.append(Span(" " * GAP))
        places.append((at, at + width, order))
        at += width + GAP

    add("run", "run", shape.name, True)
    for column in shape.columns:
        add(column.title, column.order, column.width, column.left)
    add("alerts", "alerts", shape.alerts, True)
    return tuple(spans[:-1]), places


def line_of(row: FleetRow, shape: Layout, here: bool, ambiguous: bool) -> Line:
    """One run. `here` is where the cursor is; `ambiguous` where another run has the same name."""
    spans: list[Span] = [
        Span("▶" if here else " ", "key"),
        Span(f"{SIGN[row.state]} ", SIGN_INK[row.state]),
        *fit(_name(row, ambiguous, here, shape.name), shape.name),
    ]
    for column in shape.columns:
        written = column.write(row)
        spans.append(Span(" " * GAP))
        if column.left:
            spans += fit(written, column.width)
        else:
            spans += fit((Span(" " * max(column.width - cells(written), 0)), *written), column.width)
    spans.append(Span(" " * GAP))
    spans += fit(_alerts(row, shape.alerts), shape.alerts)
    return tuple(spans)


def _name(row: FleetRow, ambiguous: bool, here: bool, width: int) -> Line:
    """The name; of runs that share it, the end of where each lies."""
    ink = "strong" if here else "plain" if row.state in ("running", "stalled") else "dim"
    if not ambiguous:
        return (Span(cut(row.name, width), ink),)
    place = row.place or row.id
    return (Span(place if len(place) <= width else f"…{place[1 - width :]}", ink),)


def _alerts(row: FleetRow, width: int) -> Line:
    """As many alerts as fit, and how many more there are; else what is in the way of a figure."""
    if row.problem:
        why = row.problem.removeprefix(f"{row.id}: ")
        return (Span(cut(why, width), "bad" if row.state == "unreadable" else "dim"),)
    if not row.alerts:
        return (Span(cut(row.needs, width), "dim"),)
    spans: list[Span] = []
    room = width
    for index, alert in enumerate(row.alerts):
        word = f"{SEVERITY[alert.severity]} {alert.rule.replace('_', ' ')}"
        rest = len(row.alerts) - index - 1
        if len(word) + (len(f" +{rest}") if rest else 0) > room:
            left = f"{'' if not spans else '+'}{rest + 1}"
            spans.append(
                Span(left if spans else cut(word, room), ALERT_INK[alert.severity] if not spans else "dim")
            )
            break
        spans += [Span(word, ALERT_INK[alert.severity]), Span(" ")]
        room -= len(word) + 1
    return tuple(spans)
