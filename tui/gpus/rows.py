"""A row a GPU: what fits of busy, tensor cores, memory, power, temperature and clocks, and what is wrong."""

from collections.abc import Callable
from dataclasses import dataclass

from ...models import text
from ...models.gpu import Gpu
from ..glyphs import EMPTY, FULL
from ..lines import Line, Span
from .metric import Metric, Node, degrees, gigabytes, points, watts

INDEX, BAR = 3, 10
CALM = frozenset({"power cap", "application clocks", "sync boost"})
"""What holds the clocks down where all is well."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the table. Where room is short, the highest rank goes first."""

    title: str
    width: int
    rank: int
    write: Callable[[Gpu], str]


COLUMNS = (
    Column("busy", 7, 0, lambda gpu: points(gpu.util)),
    Column("tensor", 8, 2, lambda gpu: points(gpu.tensor_active)),
    Column("power", 8, 3, lambda gpu: watts(gpu.power_w)),
    Column("memory", 13, 1, lambda gpu: gigabytes(gpu.mem_used_gb, gpu.mem_total_gb)),
    Column("temp", 7, 4, lambda gpu: degrees(gpu.temp_c)),
    Column("clock", 10, 5, lambda gpu: text.UNKNOWN if gpu.clock_mhz is None else f"{gpu.clock_mhz:.0f} MHz"),
)


def rows_needed(nodes: list[Node]) -> int:
    """Lines that `gpu_rows` takes."""
    return 1 + sum(len(node.gpus) for node in nodes) + (len(nodes) if len(nodes) > 1 else 0)


def gpu_rows(nodes: list[Node], metric: Metric, width: int, flag_room: int = 0) -> list[Line]:
    """The table, with the hosts' names where there are several. `flag_room` cells stay free for flags."""
    gpus = [gpu for node in nodes for gpu in node.gpus]
    columns = [column for column in COLUMNS if any(column.write(gpu) != text.UNKNOWN for gpu in gpus)]
    while columns and INDEX + BAR + sum(column.width for column in columns) > width - flag_room:
        columns.remove(max(columns, key=lambda column: column.rank))
    titles = "".join(f"{column.title:>{column.width}}" for column in columns)
    lines: list[Line] = [(Span(f"{'GPU':<{INDEX + BAR}}", "title"), Span(titles, "dim"))]
    for node in nodes:
        if len(nodes) > 1:
            lines.append((Span(node.host, "strong"),))
        lines += [_row(gpu, columns, metric) for gpu in node.gpus]
    return lines


def flags_of(gpu: Gpu) -> list[tuple[str, str]]:
    """(words, ink) of all that is wrong with a GPU, the gravest first."""
    flags: list[tuple[str, str]] = []
    if gpu.state == "lost":
        flags.append((f"✖ lost{f' (XID {gpu.xid})' if gpu.xid else ''}", "bad"))
    elif gpu.xid:
        flags.append((f"✖ XID {gpu.xid}", "bad"))
    if gpu.recovery not in (None, "none"):
        flags.append((f"✖ needs {gpu.recovery}", "bad"))
    if gpu.ecc_errors:
        flags.append((f"▲ {gpu.ecc_errors} memory errors", "warn"))
    slowed = [reason for reason in gpu.throttle or () if reason not in CALM]
    if gpu.state == "throttled" or slowed:
        flags.append((f"▲ {slowed[0] if slowed else 'throttled'}", "warn"))
    return flags


def _row(gpu: Gpu, columns: list[Column], metric: Metric) -> Line:
    index = Span(f"{gpu.index:>2} ", "strong")
    flags = tuple(Span(f"  {words}", ink) for words, ink in flags_of(gpu))
    if gpu.state == "lost":
        return (index, Span(flags[0].text.strip(), "bad"), *flags[1:])
    cells = "".join(f"{column.write(gpu):>{column.width}}" for column in columns)
    parts = (Span(f"  {len(gpu.mig)} parts", "dim"),) if gpu.mig else ()
    return (index, *bar(metric.share(gpu)), Span(cells), *parts, *flags)


def bar(share: float | None, width: int = BAR) -> Line:
    """A share from 0 to 1 as a bar; blank where it is not known."""
    if share is None:
        return (Span(" " * width),)
    full = round(min(max(share, 0.0), 1.0) * width)
    return (Span(FULL * full, "ours"), Span(EMPTY * (width - full), "axis"))
