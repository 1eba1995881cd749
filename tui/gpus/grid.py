"""Many GPUs in little room: a row a node, several nodes a row, two GPUs a cell, and at last a cell a node.

Its one rule: the first layout that fits is taken, so that each GPU is as large as the room allows. A cell is
a bar, so that the picture says the same without colour, which only tells idle ones and trouble apart.
"""

from collections.abc import Sequence

from ...models.gpu import Gpu
from ..glyphs import BLOCKS, BRAILLE, BRAILLE_BITS
from ..lines import Line, Span, cells, fit
from .metric import IDLE, LEVELS, Metric, Node, gigabytes, mean, points, short_names, total, watts
from .rows import flags_of, gpu_rows, rows_needed

RAMP = BLOCKS[:-1]
"""The highest bar leaves a line free, so that the rows of a grid stay apart."""
DIGITS = "01234567"
"""Levels where blocks cannot be shown."""
LOST, SILENT = "✖", "–"
HALVES = 4
"""Levels of one of two GPUs that share a cell."""


def laid_out(
    nodes: list[Node], metric: Metric, width: int, height: int, ascii_only: bool = False
) -> list[Line]:
    """All GPUs on at most `height` lines; what does not fit even as a cell a node is counted on the last."""
    if rows_needed(nodes) <= height:
        return [fit(line, width) for line in gpu_rows(nodes, metric, width, flag_room=min(22, width // 4))]
    names = short_names(nodes)
    ramp = DIGITS if ascii_only else RAMP
    if len(nodes) > 1 and len(nodes) + 1 <= height:
        return _node_rows(nodes, names, metric, width, ramp)
    label = max(len(name) for name in names.values())
    for one in (_singles(nodes, metric, ramp), _pairs(nodes, metric) if not ascii_only else None):
        for room, gap in ((label, 2), (label, 1), (0, 2), (0, 1)):
            if one is not None and (lines := _in_grid(one, names, room, gap, width, height)):
                return lines
    return _means(nodes, metric, width, height, ramp)


def cell(gpu: Gpu, metric: Metric, ramp: str = RAMP) -> Span:
    """One GPU as one cell."""
    if gpu.state == "lost":
        return Span(LOST, "bad")
    level = metric.level(gpu)
    if level is None:
        return Span(SILENT, "dim")
    return Span(ramp[max(level, 1)], _ink(gpu))  # the lowest bar, not nothing: it is there, and idle


def _ink(gpu: Gpu) -> str:
    """Trouble, else idle or at work."""
    flags = flags_of(gpu)
    if flags:
        return flags[0][1]
    return "dim" if gpu.util is not None and gpu.util <= IDLE else "ours"


def _node_rows(nodes: list[Node], names: dict[str, str], metric: Metric, width: int, ramp: str) -> list[Line]:
    """A line a node: its GPUs, and what they come to."""
    label = max(4, *(len(name) for name in names.values()))
    most = max(len(node.gpus) for node in nodes)
    wide = 2 if label + 2 * most + 34 <= width else 1
    head = f"{'node':<{label + 1}}" + "".join(f"{i % 10:<{wide}}" for i in range(most))
    lines: list[Line] = [
        (Span(head, "title"), Span(f"{'busy':>7}{'tensor':>8}{'power':>9}{'memory':>15}", "dim"))
    ]
    for node in nodes:
        gpus = node.gpus
        drawn = tuple(Span(one.text * wide, one.ink) for one in (cell(gpu, metric, ramp) for gpu in gpus))
        held, held_of = total(gpu.mem_used_gb for gpu in gpus), total(gpu.mem_total_gb for gpu in gpus)
        told = (
            f"{points(mean(gpu.util for gpu in gpus)):>7}"
            f"{points(mean(gpu.tensor_active for gpu in gpus)):>8}"
            f"{watts(total(gpu.power_w for gpu in gpus)):>9}"
            f"{gigabytes(held, held_of):>15}"
        )
        flags = tuple(Span(f"  {words}", ink) for words, ink in _node_flags(node))
        room = Span(" " * (wide * (most - len(gpus))))
        lines.append((Span(f"{names[node.host]:<{label + 1}}", "strong"), *drawn, room, Span(told), *flags))
    return [fit(line, width) for line in lines]


def _node_flags(node: Node) -> list[tuple[str, str]]:
    """What is wrong on a node, a word for each kind."""
    flags = [(f"▲ {node.note}", "warn")] if node.note else []
    for gpu in node.gpus:
        flags += [(f"{words} on {gpu.index}", ink) for words, ink in flags_of(gpu)]
    return flags[:2]


def _singles(nodes: list[Node], metric: Metric, ramp: str) -> list[tuple[str, Line]]:
    return [(node.host, tuple(cell(gpu, metric, ramp) for gpu in node.gpus)) for node in nodes]


def _pairs(nodes: list[Node], metric: Metric) -> list[tuple[str, Line]]:
    """Two GPUs a cell, as two bars of dots side by side."""
    found: list[tuple[str, Line]] = []
    for node in nodes:
        gpus = node.gpus
        found.append((node.host, tuple(_pair(gpus[i : i + 2], metric) for i in range(0, len(gpus), 2))))
    return found


def _pair(gpus: Sequence[Gpu], metric: Metric) -> Span:
    if any(gpu.state == "lost" for gpu in gpus):
        return Span(LOST, "bad")
    mask = 0
    for gpu, bits in zip(gpus, BRAILLE_BITS, strict=False):
        level = metric.level(gpu)
        dots = 0 if level is None else max(1, round(level / LEVELS * HALVES))
        for bit in bits[HALVES - dots :] if dots else ():
            mask |= bit
    inks = [_ink(gpu) for gpu in gpus]
    worst = next((ink for ink in ("bad", "warn", "ours") if ink in inks), "dim")
    return Span(chr(BRAILLE + mask), worst) if mask else Span(SILENT, "dim")


def _in_grid(
    blocks: list[tuple[str, Line]], names: dict[str, str], label: int, gap: int, width: int, height: int
) -> list[Line]:
    """Blocks side by side in as many columns as fit; nothing where they do not fit in height."""
    size = max(cells(block) for _, block in blocks) + (label + 1 if label else 0)
    columns = max(1, (width + gap) // (size + gap))
    rows = -(-len(blocks) // columns)
    if rows > height or size > width:
        return []
    lines: list[Line] = []
    for row in range(rows):
        line: list[Span] = []
        for host, block in blocks[row * columns : (row + 1) * columns]:
            name = (Span(f"{names[host]:>{label}} ", "dim"),) if label else ()
            line += [*fit((*name, *block), size), Span(" " * gap)]
        lines.append(tuple(line[:-1]))
    return lines


def _means(nodes: list[Node], metric: Metric, width: int, height: int, ramp: str) -> list[Line]:
    """A cell a node, the mean of its GPUs; a node with one in trouble has its ink."""
    drawn: list[Span] = []
    for node in nodes:
        share = mean(metric.share(gpu) for gpu in node.gpus)
        inks = [_ink(gpu) for gpu in node.gpus]
        ink = next((ink for ink in ("bad", "warn", "ours") if ink in inks), "dim")
        lost = any(gpu.state == "lost" for gpu in node.gpus)
        sign = SILENT if share is None else ramp[max(1, round(min(max(share, 0.0), 1.0) * LEVELS))]
        drawn.append(Span(LOST if lost else sign, ink))
    lines = [tuple(drawn[i : i + width]) for i in range(0, len(drawn), width)]
    if len(lines) <= height:
        return lines
    hidden = len(drawn) - width * (height - 1)
    more = f"and {hidden} more nodes"
    return [*lines[: height - 1], (Span(more if len(more) <= width else f"+{hidden}", "dim"),)]
