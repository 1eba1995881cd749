"""The GPUs of the run: a row each while they are few, a line for all when they are many."""

import statistics
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ...models import text
from ...models.gpu import Gpu
from ...monitor.frame import Frame
from ..glyphs import EMPTY, FULL
from ..lines import Line, Part, Span, part, row
from .panel import Panel

ROWS = 8
INDEX, BAR = 3, 10


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the table. Where room is short, the highest rank goes first."""

    title: str
    width: int
    rank: int
    write: Callable[[Gpu], str]


class Gpus(Panel):
    """Hides itself while nothing is known of any GPU."""

    def present(self, frame: Frame) -> bool:
        # A Tinker run has no GPUs of its own: those of this machine do something else.
        here = frame.info.platform != "tinker"
        return here and any(sample.gpus for sample in frame.state.gpus.values())

    def lay_out(self, frame: Frame, width: int, height: int) -> list[Line]:
        hosts = frame.state.gpus
        gpus = [gpu for host in sorted(hosts) for gpu in hosts[host].gpus]
        if not gpus:
            return []
        notes: list[Line] = [
            (Span(f"▲ {hosts[host].note}", "warn"),) for host in sorted(hosts) if hosts[host].note
        ]
        if len(gpus) > ROWS or height < len(gpus) + 1 + len(notes):
            summary = row(_summary(gpus), width, gap=2)
            return [(Span("GPUS  ", "title"), *_what(gpus, len(hosts))), summary, *notes]
        columns = [column for column in COLUMNS if any(column.write(gpu) != text.UNKNOWN for gpu in gpus)]
        while columns and INDEX + BAR + sum(column.width for column in columns) > width:
            columns.remove(max(columns, key=lambda column: column.rank))
        titles = "".join(f"{column.title:>{column.width}}" for column in columns)
        return [
            (Span(f"{'GPU':<{INDEX + BAR}}", "title"), Span(titles, "dim")),
            *(_row(gpu, columns) for gpu in gpus),
            *notes,
        ]


def _what(gpus: list[Gpu], hosts: int) -> Line:
    name = next((gpu.name for gpu in gpus if gpu.name), None)
    what = f"{len(gpus)}×{name.removeprefix('NVIDIA ')}" if name else str(len(gpus))
    where = f" on {hosts} hosts" if hosts > 1 else ""
    lost = sum(gpu.state == "lost" for gpu in gpus)
    trouble = (Span(f"  ✖ {lost} lost", "bad"),) if lost else ()
    return (Span(f"{what}{where}", "dim"), *trouble)


def _row(gpu: Gpu, columns: list[Column]) -> Line:
    index = Span(f"{gpu.index:>2} ", "strong")
    if gpu.state == "lost":
        return (index, Span("✖ lost", "bad"))
    cells = "".join(f"{column.write(gpu):>{column.width}}" for column in columns)
    sign = (Span(" ▲ throttled", "warn"),) if gpu.state == "throttled" else ()
    return (index, *_bar(gpu.util), Span(cells), *sign)


def _summary(gpus: list[Gpu]) -> list[Part]:
    util = _mean(gpu.util for gpu in gpus)
    used, total = _sum(gpu.mem_used_gb for gpu in gpus), _sum(gpu.mem_total_gb for gpu in gpus)
    return [
        part(0, *_bar(util), Span(f"{_points(util):>6}"), Span(" busy", "dim")),
        part(2, Span("tensor ", "dim"), Span(_points(_mean(gpu.tensor_active for gpu in gpus)))),
        part(3, Span(_watts(_sum(gpu.power_w for gpu in gpus)))),
        part(1, Span(_gigabytes(used, total))),
    ]


def _bar(points: float | None) -> Line:
    full = 0 if points is None else round(min(max(points, 0.0), 100.0) / 100 * BAR)
    return (Span(FULL * full, "ours"), Span(EMPTY * (BAR - full), "axis"))


def _points(value: float | None) -> str:
    return text.percent(None if value is None else value / 100)


def _watts(value: float | None) -> str:
    return text.UNKNOWN if value is None else f"{value:.0f} W" if value < 10_000 else f"{value / 1000:.1f} kW"


def _gigabytes(used: float | None, total: float | None) -> str:
    if used is None:
        return text.UNKNOWN
    return f"{used:.0f} GB" if total is None else f"{used:.0f}/{total:.0f} GB"


def _degrees(value: float | None) -> str:
    return text.UNKNOWN if value is None else f"{value:.0f}°C"


COLUMNS = (
    Column("busy", 7, 0, lambda gpu: _points(gpu.util)),
    Column("tensor", 8, 2, lambda gpu: _points(gpu.tensor_active)),
    Column("power", 8, 3, lambda gpu: _watts(gpu.power_w)),
    Column("memory", 13, 1, lambda gpu: _gigabytes(gpu.mem_used_gb, gpu.mem_total_gb)),
    Column("temp", 7, 4, lambda gpu: _degrees(gpu.temp_c)),
)


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.fmean(known) if known else None


def _sum(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None
