"""A report as one HTML page that needs nothing else: no script, no font, no picture from elsewhere."""

from collections.abc import Iterator, Sequence
from html import escape

from ...models.text import printable
from .content import Content, Table
from .markdown import SIGNS
from .svg import chart_svg

STYLE = """
:root { --ground: #fff; --ink: #1c2128; --quiet: #656d76; --faint: #d8dee4; --ours: #0969a8;
  --projected: #8250c4; --warning: #9a6700; --critical: #cf222e; --band: #8250c422; }
@media (prefers-color-scheme: dark) { :root { --ground: #11151a; --ink: #d5dbe2; --quiet: #8a939d;
  --faint: #2a3138; --ours: #58b4f0; --projected: #b48ef2; --warning: #d9a436; --critical: #ff6b63;
  --band: #b48ef222; } }
body { background: var(--ground); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; max-width: 64rem;
  margin: 2rem auto; padding: 0 1rem; font-variant-numeric: tabular-nums; }
h1 { font-size: 1.5rem; margin: 0; } h2 { font-size: 1rem; margin: 2rem 0 .5rem; color: var(--quiet); }
p.sub, footer { color: var(--quiet); margin: .2rem 0 1.5rem; }
dl { display: flex; flex-wrap: wrap; gap: 1.5rem 2.5rem; margin: 0; } dt { color: var(--quiet); }
dd { margin: 0; font-size: 1.5rem; font-weight: 600; } dd small { display: block; font-size: .8rem;
  font-weight: 400; color: var(--quiet); }
table { border-collapse: collapse; } th, td { padding: .15rem 1.5rem .15rem 0; text-align: right; }
th:first-child, td:first-child, td.words, th.words { text-align: left; }
th { color: var(--quiet); font-weight: 400; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(26rem, 1fr)); gap: 1rem 2rem; }
figure { margin: 0; } figcaption { color: var(--quiet); }
svg { width: 100%; height: auto; overflow: visible; }
svg path { fill: none; } svg text { font-size: 11px; fill: var(--quiet); } .end { text-anchor: end; }
.mid { text-anchor: middle; } .grid { stroke: var(--faint); }
path.ours { stroke: var(--ours); stroke-width: 2; }
path.projected { stroke: var(--projected); stroke-width: 1.5; stroke-dasharray: 4 3; }
path.faint { stroke: var(--quiet); opacity: .6; } svg text.ours { fill: var(--ours); }
svg text.projected { fill: var(--projected); } svg path.band { fill: var(--band); }
path.level { stroke: var(--warning); stroke-dasharray: 2 4; } svg text.level { fill: var(--warning); }
path.mark { opacity: .55; } path.mark.warning { stroke: var(--warning); stroke-dasharray: 1 3; }
path.mark.critical { stroke: var(--critical); }
li.critical b { color: var(--critical); } li.warning b { color: var(--warning); } ul { padding-left: 1.2rem; }
"""


def html(content: Content, made_by: str) -> str:
    """The page; `made_by` is one line for its foot."""
    title = escape(content.title)
    return "\n".join(
        (
            "<!doctype html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{title} – rltop</title><style>{STYLE}</style></head><body>",
            f'<h1>{title}</h1><p class="sub">{escape(content.subtitle)}</p>',
            *_headline(content),
            '<h2>How it went</h2><div class="charts">',
            *(
                f"<figure><figcaption>{escape(chart.title)}</figcaption>"
                f"{chart_svg(chart, content.alerts)}</figure>"
                for chart in content.charts
            ),
            "</div>",
            *_alerts(content),
            *(part for table in content.tables for part in _table(table)),
            *_notes(content.notes),
            f"<footer>{escape(made_by)}</footer></body></html>",
            "",
        )
    )


def _headline(content: Content) -> Iterator[str]:
    yield "<dl>"
    for name, value, remark in content.headline:
        small = f"<small>{escape(printable(remark))}</small>" if remark else ""
        yield f"<div><dt>{escape(name)}</dt><dd>{escape(value)}{small}</dd></div>"
    yield "</dl>"


def _alerts(content: Content) -> Iterator[str]:
    yield "<h2>Alerts</h2>"
    if not content.alerts:
        yield "<p>None was raised.</p>"
        return
    yield "<ul>"
    for alert in content.alerts:
        until = f" to {alert.cleared_step}" if alert.cleared_step is not None else ""
        yield (
            f'<li class="{alert.severity}"><b>{SIGNS[alert.severity]} {alert.severity}</b> '
            f"{escape(printable(alert.message))} · since step {alert.step}{until} · "
            f"{escape(printable(alert.advice))}</li>"
        )
    yield "</ul>"


def _table(table: Table) -> Iterator[str]:
    yield f"<h2>{escape(table.title)}</h2><table><tr>"
    yield _cells("th", table.columns, table.words) + "</tr>"
    for row in table.rows:
        yield f"<tr>{_cells('td', row, table.words)}</tr>"
    yield "</table>"


def _cells(tag: str, cells: Sequence[str], words: bool) -> str:
    last = len(cells) - 1
    opened = (
        f'<{tag} class="words">' if words and index == last else f"<{tag}>" for index in range(len(cells))
    )
    return "".join(
        f"{start}{escape(printable(cell))}</{tag}>" for start, cell in zip(opened, cells, strict=True)
    )


def _notes(notes: Sequence[str]) -> Iterator[str]:
    if notes:
        yield "<h2>Notes</h2><ul>"
        yield from (f"<li>{escape(note)}</li>" for note in notes)
        yield "</ul>"
