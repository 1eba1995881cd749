"""All GPUs in one line, and the worst of them by name: what stays on screen however many there are."""

from collections import Counter

from ...models import text
from ...models.gpu import Gpu
from ..lines import Line, Part, Span, part
from .metric import IDLE, Metric, Node, gigabytes, mean, points, total, watts
from .rows import flags_of

STRAGGLES = 30.0
"""Points below the middle node at which a node is said to lag."""


def what(nodes: list[Node]) -> Line:
    """`8 × B200`, on how many hosts, and how many are lost."""
    gpus = [gpu for node in nodes for gpu in node.gpus]
    names = Counter(gpu.name.removeprefix("NVIDIA ") for gpu in gpus if gpu.name)
    kinds = " and ".join(f"{count}×{name}" for name, count in names.most_common(2)) or str(len(gpus))
    if len(names) == 1:
        kinds = f"{len(gpus)}×{next(iter(names))}"  # a lost one does not say what it is
    where = f" on {len(nodes)} hosts" if len(nodes) > 1 else ""
    lost = sum(gpu.state == "lost" for gpu in gpus)
    trouble = (Span(f"  ✖ {lost} lost", "bad"),) if lost else ()
    return (Span(f"{kinds}{where}", "dim"), *trouble)


def summary(nodes: list[Node], metric: Metric) -> list[Part]:
    """The spread of the metric, leaving out the lowest twentieth, and the sums."""
    gpus = [gpu for node in nodes for gpu in node.gpus]
    shares = sorted(share for gpu in gpus if (share := metric.share(gpu)) is not None)
    spread: tuple[Span, ...] = (Span(f"  {text.UNKNOWN}"),)
    if shares:
        low, middle, high = (text.percent(_at(shares, place)) for place in (0.05, 0.5, 1.0))
        words = (("low ", low), ("middle ", middle), ("high ", high))
        spread = tuple(span for label, value in words for span in (Span(f"  {label}", "dim"), Span(value)))
    idle = sum(gpu.util is not None and gpu.util <= IDLE for gpu in gpus)
    return [
        part(0, Span(metric.title, "title"), *spread),
        part(
            1,
            Span("idle ", "dim"),
            Span(f"{idle} of {len(gpus)}", "warn" if idle * 10 > len(gpus) else "plain"),
        ),
        part(3, Span("tensor ", "dim"), Span(points(mean(gpu.tensor_active for gpu in gpus)))),
        part(2, Span(watts(total(gpu.power_w for gpu in gpus)))),
        part(4, Span(gigabytes(total(g.mem_used_gb for g in gpus), total(g.mem_total_gb for g in gpus)))),
    ]


def worst(nodes: list[Node], metric: Metric, count: int = 5) -> list[Line]:
    """The GPUs that most need a look: in trouble first, then those that do least on nodes that lag."""
    several = len(nodes) > 1
    middle = _middle(nodes, metric)
    found: list[tuple[int, float, Node, Gpu]] = []
    for node in nodes:
        for gpu in node.gpus:
            flags = flags_of(gpu)
            share = metric.share(gpu)
            grave = 0 if any(ink == "bad" for _, ink in flags) else 1 if flags else 2
            lags = middle is not None and share is not None and metric.low_is_bad
            if grave < 2 or (lags and share < middle - STRAGGLES / 100):  # pyright: ignore[reportOptionalOperand]
                found.append((grave, share if share is not None else 2.0, node, gpu))
    found.sort(key=lambda one: one[:2])
    lines: list[Line] = []
    for _, share, node, gpu in found[:count]:
        where = f"{node.host} GPU {gpu.index}" if several else f"GPU {gpu.index}"
        told = [Span(f"  {words}", ink) for words, ink in flags_of(gpu)]
        if middle is not None and share <= 1 and share < middle - STRAGGLES / 100 and metric.low_is_bad:
            told.append(
                Span(
                    f"  ▲ {metric.title} {text.percent(share)}, half are above {text.percent(middle)}", "warn"
                )
            )
        lines.append((Span(where, "strong"), *told))
    if len(found) > count:
        lines.append((Span(f"and {len(found) - count} more", "dim"),))
    return lines


def _middle(nodes: list[Node], metric: Metric) -> float | None:
    shares = sorted(share for node in nodes for gpu in node.gpus if (share := metric.share(gpu)) is not None)
    return _at(shares, 0.5) if shares else None


def _at(ordered: list[float], place: float) -> float:
    return ordered[min(round(place * (len(ordered) - 1)), len(ordered) - 1)]
