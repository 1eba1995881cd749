"""A report as Markdown, for an issue or a wiki. Tables, no charts."""

from collections.abc import Iterator, Sequence

from ...models.text import printable
from .content import Content, Table

SIGNS = {"critical": "✖", "warning": "▲", "info": "·"}


def markdown(content: Content) -> str:
    """The report; ends with a line break."""
    return "\n".join(_lines(content)) + "\n"


def _lines(content: Content) -> Iterator[str]:
    yield f"# {_safe(content.title)}"
    yield ""
    yield _safe(content.subtitle)
    yield ""
    yield from _table(("", "", ""), content.headline)
    for table in content.tables:
        yield f"## {table.title}"
        yield ""
        yield from _table(table.columns, table.rows)
    yield from _charts(content)
    yield "## Alerts"
    yield ""
    if not content.alerts:
        yield "None was raised."
    for alert in content.alerts:
        until = f" to {alert.cleared_step}" if alert.cleared_step is not None else ""
        words = f"{SIGNS[alert.severity]} **{alert.severity}** {_safe(alert.message)}"
        yield f"- {words}, step {alert.step}{until}. {_safe(alert.advice)}"
    yield ""
    if content.notes:
        yield "## Notes"
        yield ""
        yield from (f"- {_safe(note)}" for note in content.notes)


def _charts(content: Content) -> Iterator[str]:
    """How each series went, in a row: a Markdown page has no charts."""
    rows: list[tuple[str, ...]] = []
    for chart in content.charts:
        for one in chart.series:
            if not one.points:
                continue
            values = [value for _, value in one.points]
            span = (max(values) - min(values)) / 20 or abs(values[-1]) / 20 or 1.0
            told = [chart.tick(value, span) for value in (values[0], min(values), max(values), values[-1])]
            name = chart.title if len(chart.series) == 1 else f"{chart.title}: {one.label}"
            rows.append((name, *told))
    if rows:
        yield from _titled(Table("How it went", ("", "first", "lowest", "highest", "last"), tuple(rows)))


def _titled(table: Table) -> Iterator[str]:
    yield f"## {table.title}"
    yield ""
    yield from _table(table.columns, table.rows)


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(columns)} |"
    yield f"| {' | '.join(('---', *('---:' for _ in columns[1:])))} |"
    for row in rows:
        yield f"| {' | '.join(_safe(cell) for cell in row)} |"
    yield ""


def _safe(words: str) -> str:
    """Text of a log that cannot break out of its cell or become markup."""
    return printable(words).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("`", "'")
