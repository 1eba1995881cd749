"""The GPUs of the run beside everything else: a row each while they are few, as much as fits when many."""

from ...monitor.frame import Frame
from ..gpus.grid import laid_out
from ..gpus.metric import METRICS, Node, nodes_of
from ..gpus.rows import rows_needed
from ..gpus.summary import summary, what
from ..lines import Line, Span, row
from .panel import Panel


def nodes_in(frame: Frame) -> list[Node]:
    """The hosts with GPUs of the run."""
    return nodes_of(frame.state.gpus.values())


class Gpus(Panel):
    """Hides itself while nothing is known of any GPU."""

    def present(self, frame: Frame) -> bool:
        # A Tinker run has no GPUs of its own: those of this machine do something else.
        here = frame.info.platform != "tinker"
        return here and any(sample.gpus for sample in frame.state.gpus.values())

    def lay_out(self, frame: Frame, width: int, height: int) -> list[Line]:
        nodes = nodes_in(frame)
        if not nodes:
            return []
        notes: list[Line] = [(Span(f"▲ {node.note}", "warn"),) for node in nodes if node.note][:2]
        metric = METRICS[0]
        if rows_needed(nodes) + len(notes) <= height:
            return [*laid_out(nodes, metric, width, height - len(notes), self.ascii_only), *notes]
        head: list[Line] = [
            (Span("GPUS  ", "title"), *what(nodes)),
            row(summary(nodes, metric), width, gap=2),
        ]
        room = height - len(head) - len(notes)
        field = laid_out(nodes, metric, width, room, self.ascii_only) if room >= 2 else []
        return [*head, *field, *notes]
