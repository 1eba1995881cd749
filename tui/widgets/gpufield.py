"""All GPUs of the run, each as large as there is room; above them their sum, below them the worst by name."""

from ...models import text
from ...models.gpu import Gpu
from ...monitor.frame import Frame
from ..gpus.grid import laid_out
from ..gpus.metric import METRICS, Node, gigabytes
from ..gpus.rows import rows_needed
from ..gpus.summary import summary, what, worst
from ..lines import Line, Span, cut, row, wrapped
from .gpus import nodes_in
from .panel import Panel

WORST = 5
NOTES = 2
PROCESSES = 12
OLD_S = 10.0
"""A reading this old has its age said, even where nothing is wrong: some come every half minute."""


class GpuField(Panel):
    """Fills what it is given. `m` goes through the metrics, by which the cells are drawn."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._metric = 0
        self._worst_first = False

    def next_metric(self) -> None:
        """Draw by the next metric."""
        self._metric = (self._metric + 1) % len(METRICS)
        self._again()

    def toggle_order(self) -> None:
        """Hosts by their names, or those that do least first."""
        self._worst_first = not self._worst_first
        self._again()

    def idle(self, width: int, height: int) -> list[Line]:
        return [(Span("no GPUs seen so far", "dim"),)]

    def lay_out(self, frame: Frame, width: int, height: int) -> list[Line]:
        nodes = nodes_in(frame)
        if not nodes:
            return _none(frame, width)
        metric = METRICS[self._metric]
        if self._worst_first:
            nodes.sort(key=lambda node: min((metric.share(gpu) or 0.0 for gpu in node.gpus), default=0.0))
        head: list[Line] = [
            (Span("GPUS  ", "title"), *what(nodes), Span(f"  {_backends(frame)}", "dim")),
            row(summary(nodes, metric), width),
            (),
        ]
        notes: list[Line] = [
            line for node in nodes if node.note for line in wrapped(f"▲ {node.note}", width, "warn")
        ][:NOTES]
        below = worst(nodes, metric, WORST)
        foot: list[Line] = [(), (Span("WORST", "title"),), *below] if below else []
        left = height - len(head) - len(notes)
        # The worst by name may take a third; what the GPUs themselves leave is theirs too.
        room = max(left - min(len(foot), left // 3), 1)
        field = laid_out(nodes, metric, width, room, self.ascii_only)
        left -= len(field)
        foot = foot[:left]
        left -= len(foot)
        processes = _processes(nodes, width) if left >= 3 and rows_needed(nodes) <= room else []
        return [*head, *field, *notes, *foot, *processes[:left]]

    def _again(self) -> None:
        self._laid_out = None
        self.renew()


def _backends(frame: Frame) -> str:
    """How they were read, and how long ago where that matters."""
    samples = [sample for sample in frame.state.gpus.values() if sample.gpus]
    by = ", ".join(sorted({sample.backend for sample in samples}))
    oldest = max((frame.now - sample.at for sample in samples), default=0.0)
    return f"by {by}" + (f", {text.duration(oldest)} old" if oldest >= OLD_S else "")


def _processes(nodes: list[Node], width: int) -> list[Line]:
    """What holds memory, largest first."""
    held: list[tuple[float, Node, Gpu, str, int]] = [
        (process.mem_used_gb or 0.0, node, gpu, process.name or text.UNKNOWN, process.pid)
        for node in nodes
        for gpu in node.gpus
        for process in gpu.processes or ()
    ]
    if not held:
        return []
    held.sort(key=lambda one: -one[0])
    lines: list[Line] = [(), (Span("PROCESSES", "title"),)]
    for memory, node, gpu, name, pid in held[:PROCESSES]:
        where = f"{node.host} GPU {gpu.index}" if len(nodes) > 1 else f"GPU {gpu.index}"
        told = f"{where:<8}{pid:>9}{gigabytes(memory, None) if memory else text.UNKNOWN:>9}  {name}"
        lines.append((Span(cut(text.printable(told), width)),))
    if len(held) > PROCESSES:
        lines.append((Span(f"and {len(held) - PROCESSES} more", "dim"),))
    return lines


def _none(frame: Frame, width: int) -> list[Line]:
    notes = [sample.note for sample in frame.state.gpus.values() if sample.note]
    if frame.info.platform == "tinker":
        words = "Tinker runs on GPUs of its own, which nobody else sees."
    elif notes:
        words = notes[0]
    else:
        words = (
            "No GPUs are seen from here. Those of other machines: --gpus-from ssh://HOST, or the address of a"
            " Prometheus or dcgm-exporter. `rltop doctor` says what this machine lacks."
        )
    return [(Span("GPUS", "title"),), (), *wrapped(words, min(width, 88), "dim")]
