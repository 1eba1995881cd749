"""The top of the fleet: how many runs, what they have cost and will have cost, and the budget."""

from ...models import text
from ...models.fleet import FleetTotals
from ...monitor.fleet.frame import FleetFrame
from ..lines import Line, Part, Span, part, row, spread
from .fleetpanel import FleetPanel

OVER = {
    "no": ("within budget", "good"),
    "may": ("may go over budget", "warn"),
    "will": ("over budget", "bad"),
}


class FleetHead(FleetPanel):
    """Two lines: the sums, and what they leave out."""

    shown: int | None = None
    """Runs that pass the filter, where there is one."""
    trouble = ""
    """What has stopped the reading."""
    problem = ""
    """What is wrong with the filter."""

    def idle(self, width: int, height: int) -> list[Line]:
        return [(Span("rltop", "strong"), Span("   looking for runs …", "dim")), ()]

    def lay_out_fleet(self, fleet: FleetFrame, width: int, height: int) -> list[Line]:
        return [_sums(fleet.totals, width), self._remarks(fleet, width)]

    def _remarks(self, fleet: FleetFrame, width: int) -> Line:
        totals, scan = fleet.totals, fleet.scan
        parts: list[Part] = []
        if self.trouble:
            parts.append(part(0, Span(f"✖ {self.trouble}", "bad")))
        if self.problem:
            parts.append(part(0, Span(self.problem, "warn")))
        if totals.reading:
            parts.append(
                part(1, Span(f"reading: {totals.runs - totals.reading} of {totals.runs} done", "ours"))
            )
        if self.shown is not None:
            parts.append(part(1, Span(f"{self.shown} of {totals.runs} shown", "ours")))
        if totals.unpriced:
            parts.append(part(2, Span(f"{totals.unpriced} without a price, not in the sums", "dim")))
        if totals.unprojected:
            parts.append(part(3, Span(f"{totals.unprojected} with no end known, counted as spent", "dim")))
        if scan is not None and scan.waiting:
            parts.append(part(4, Span(f"{text.integer(scan.waiting)} files still to look at", "dim")))
        if scan is not None and scan.unreadable:
            parts.append(part(5, Span(f"{scan.unreadable} folders or files may not be read", "dim")))
        if scan is not None and scan.held_back:
            held_back = f"{text.integer(scan.held_back)} older runs of a store not shown"
            parts.append(part(5, Span(held_back, "dim")))
        if scan is not None and scan.cut:
            parts.append(part(6, Span("not all folders: too many or too deep", "dim")))
        return row(parts, width)


def _sums(totals: FleetTotals, width: int) -> Line:
    runs = f"{totals.runs} run{'s' if totals.runs != 1 else ''}"
    left = [
        part(5, Span("rltop", "strong")),
        part(0, Span(runs, "strong"), Span(f" · {totals.running} running" if totals.running else "", "good")),
        part(1, Span(text.usd(totals.spent_usd), "ours-big"), Span(" so far", "dim")),
    ][: 3 if totals.runs else 2]
    final = totals.final_usd
    if final is not None and final.p50 != totals.spent_usd:
        left.append(
            part(2, Span("→ ", "dim"), Span(text.usd(final.p50), "projected-big"), Span(" at the end", "dim"))
        )
        left.append(part(3, Span(f"80 %: {text.usd(final.p10)} – {text.usd(final.p90)}", "dim")))
    if totals.budget_usd is not None:
        said, ink = OVER[totals.over_budget] if totals.over_budget else ("", "dim")
        left.append(part(4, Span(f"budget {text.usd(totals.budget_usd)}", "dim")))
        left.append(part(3 if totals.over_budget == "no" else 1, Span(said, ink)))
    right: list[Part] = []
    if totals.criticals:
        right.append(part(1, Span(f"✖ {totals.criticals}", "bad")))
    if totals.warnings:
        right.append(part(2, Span(f"▲ {totals.warnings}", "warn")))
    return spread(left, right, width, gap=3)
