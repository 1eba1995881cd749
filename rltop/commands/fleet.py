"""Many runs, named or below a folder: what the screen and `rltop check` show of them."""

import asyncio
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from platformdirs import user_cache_path

from .. import __version__
from ..models import text
from ..models.fleet import FleetRow
from ..models.settings import Settings
from ..monitor.clock import SystemClock
from ..monitor.fleet.beside import joined
from ..monitor.fleet.frame import FleetFrame
from ..monitor.fleet.kept import KeptRows, context_of, state_of_files
from ..monitor.fleet.session import FleetSession
from ..monitor.frame import Frame
from ..monitor.session import Session
from ..monitor.sources import third_parties
from ..tui.runner import Runner
from .opening import pipeline, price_folder, waiting_sources_of
from .telling import Telling

COLUMNS = ("STATE", "RUN", "STEP", "SO FAR", "AT THE END", "LENGTH", "ALERTS")


class Fleet:
    """Follows many runs, and opens any of them.

    `open_run` makes a runner of one. Where `keep`, the lines of runs that are over are kept on disk. With
    `telling`, others are told of critical alerts of those that go on.
    """

    def __init__(
        self,
        settings: Settings,
        open_run: Callable[[str, Sequence[str]], Runner],
        named: Sequence[str] = (),
        roots: Sequence[Path] = (),
        keep: bool = False,
        telling: Telling | None = None,
    ) -> None:
        self._settings = settings
        self._open_run = open_run
        self._named = named
        self._roots = roots
        self._keep = keep
        self._telling = telling

    def open(self, row: FleetRow) -> Runner:
        """A runner of one of the runs."""
        return self._open_run(row.id, row.also)

    async def run(self, publish: Callable[[FleetFrame], None]) -> None:
        """Publish frames until cancelled."""
        fleet = await asyncio.to_thread(self._session)
        await fleet.run(publish)

    def _session(self) -> FleetSession:
        kept = kept_rows(self._settings) if self._keep else None
        tell = self._telling.of_many() if self._telling is not None else None
        return session(self._settings, self._named, self._roots, kept, tell)


def kept_rows(settings: Settings) -> KeptRows:
    """The lines of runs that are over, as these settings, price lists and this program make them."""
    said = settings.model_dump_json(exclude={"notify", "screen", "fleet_budget_usd"})
    zone = (
        f"{os.environ.get('TZ')} {os.path.realpath('/etc/localtime')}"  # logs that name none are of this one
    )
    program = state_of_files(Path(__file__).parents[1])
    parts = (__version__, said, zone, program, state_of_files(price_folder()), *third_parties())
    return KeptRows(user_cache_path("rltop") / "fleet", context_of(parts))


def session(
    settings: Settings,
    named: Sequence[str] = (),
    roots: Sequence[Path] = (),
    kept: KeptRows | None = None,
    tell: Callable[[str, Frame], None] | None = None,
) -> FleetSession:
    """Follows the runs that are named, and those below some folders."""
    clock = SystemClock()

    def open_(targets: Sequence[str], said: bool) -> Session:
        alone = len(targets) == 1
        logs = [(target, waiting_sources_of(target, renews=alone)) for target in targets]
        sources = logs[0][1] if alone else joined(logs, said)
        return Session(sources, pipeline(settings), clock, make=pipeline)

    budget_usd = settings.fleet_budget_usd
    return FleetSession(open_, clock, named=named, roots=roots, budget_usd=budget_usd, kept=kept, tell=tell)


def table(frame: FleetFrame) -> str:
    """All runs as a page of text, with their sums."""
    rows = [COLUMNS, *(_cells(row) for row in frame.rows)]
    widths = [max(len(row[index]) for row in rows) for index in range(len(COLUMNS) - 1)]
    lines = [
        "  ".join([*(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=False)), row[-1]]).rstrip()
        for row in rows
    ]
    return "\n".join(text.printable(line) for line in (*lines, "", *_sums(frame)))


def _cells(row: FleetRow) -> tuple[str, ...]:
    final = row.final_usd
    end = text.UNKNOWN if final is None else text.usd(final.p50)
    if final is not None and final.p10 != final.p90:
        end += f" ({text.usd(final.p10)} – {text.usd(final.p90)})"
    told = " ".join(f"{alert.severity}:{alert.rule}" for alert in row.alerts)
    return (
        row.state,
        row.name,
        text.UNKNOWN if row.step is None else f"{row.step}/{row.total_steps or '?'}",
        text.usd(row.spent_usd),
        end,
        text.tokens(row.length),
        told or row.problem or row.needs,
    )


def _sums(frame: FleetFrame) -> list[str]:
    totals = frame.totals
    runs = f"{totals.runs} run{'s' if totals.runs != 1 else ''}"
    line = f"{runs}, {totals.running} running: {text.usd(totals.spent_usd)} so far"
    final = totals.final_usd
    if final is not None and final.p50 != totals.spent_usd:
        line += f", {text.usd(final.p50)} at the end (80 %: {text.usd(final.p10)} – {text.usd(final.p90)})"
    lines = [line]
    if totals.unpriced:
        lines.append(f"{totals.unpriced} without a price, not in the sums")
    if totals.unprojected:
        lines.append(f"{totals.unprojected} with no end known, counted as spent")
    if totals.over_budget is not None:
        said = {"no": "within it", "may": "may go over it", "will": "over it"}[totals.over_budget]
        lines.append(f"budget {text.usd(totals.budget_usd)}: {said}")
    return lines
