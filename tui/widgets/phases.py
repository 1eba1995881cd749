"""Where the last step's time went."""

from ...models import text
from ...monitor.frame import Frame
from ..lines import Line, Span, part, row
from .cost import LABEL
from .panel import Panel

PHASES = {
    "generate": "generate",
    "old_logprob": "log-prob",
    "ref": "ref",
    "update": "update",
    "update_critic": "critic",
    "reward": "reward",
    "weight_sync": "sync",
    "eval": "eval",
    "checkpoint": "checkpoint",
    "other": "other",
}


def span_of(seconds: float | None) -> str:
    """The time of a step or of a part of it, in seconds while these are few: `0.8 s`, `147 s`, `2 h 4 m`."""
    if seconds is None or seconds >= 999.5:
        return text.duration(seconds)
    return f"{seconds:.1f} s" if seconds < 9.95 else f"{seconds:.0f} s"


class Phases(Panel):
    """One line, longest phase first; no line at all while no phase is known."""

    def present(self, frame: Frame) -> bool:
        last = frame.state.last_row
        return bool(last and last.phases())

    def lay_out(self, frame: Frame, width: int, height: int) -> list[Line]:
        last = frame.state.last_row
        phases = last.phases() if last else {}
        if not phases:
            return []
        longest = sorted(phases.items(), key=lambda item: -item[1])
        parts = [
            part(rank, Span(f"{PHASES.get(name, name)} ", "dim"), Span(span_of(seconds)))
            for rank, (name, seconds) in enumerate(longest)
        ]
        return [(Span(f"{'TIME':{LABEL}}", "title"), *row(parts, width - LABEL))]
