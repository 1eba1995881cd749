"""Where a self-hosted run's dollars went, phase by phase."""

from ...models import text
from ...monitor.frame import Frame
from ..lines import Line, Span
from .panel import Panel
from .phases import PHASES

NAME, HOURS, USD, SHARE, BAR = 18, 10, 10, 8, 20


class PhaseTable(Panel):
    """Longest first; what no phase accounts for is idle. Absent where tokens are billed."""

    def present(self, frame: Frame) -> bool:
        return bool(frame.bill.phases)

    def lay_out(self, frame: Frame, width: int, height: int) -> list[Line]:
        titles = f"{'GPU-h':>{HOURS}}{'dollars':>{USD}}{'share':>{SHARE}}"
        lines: list[Line] = [(Span(f"{'PHASES':<{NAME}}", "title"), Span(titles, "dim"))]
        room = min(BAR, width - NAME - HOURS - USD - SHARE - 2)
        for phase in frame.bill.phases:
            quiet = "dim" if phase.name in ("idle", "not in this log") else "plain"
            bar = "█" * round(phase.share * room) if room > 4 else ""
            lines.append(
                (
                    Span(f"{PHASES.get(phase.name, phase.name):<{NAME}}", quiet),
                    Span(f"{text.number(phase.hours):>{HOURS}}", "dim"),
                    Span(f"{text.usd(phase.usd):>{USD}}", quiet),
                    Span(f"{text.percent(phase.share):>{SHARE}}  ", "dim"),
                    Span(bar, "axis" if quiet == "dim" else "ours"),
                )
            )
        return lines
