"""What the user should know of the input: what could not be read, what is missing, and how to give it."""

from ...models import text
from ...models.event import SourceStatus
from ...monitor.frame import Frame
from ..lines import Line, Span, fit, wrapped
from .panel import Panel


class Notes(Panel):
    """At most as many lines as the style sheet allows, the most pressing first; none when all is well."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._trouble = ""

    def set_trouble(self, trouble: str) -> None:
        """Say in one line that whatever makes the frames has failed."""
        self._trouble = trouble
        self._laid_out = None
        self.refresh(layout=True)

    def idle(self, width: int, height: int) -> list[Line]:
        return _written(f"✖ {self._trouble}", "bad", width) if self._trouble else []

    def lay_out(self, frame: Frame, width: int, height: int) -> list[Line]:
        notes = self.idle(width, height)
        if len(frame.state.history):  # until the first step, the screen itself says what is wrong
            ended = frame.state.ended
            if frame.status == "crashed" and ended is not None and ended.message:
                notes += _written(f"✖ {ended.message}", "bad", width)
            for note in dict.fromkeys(about_input(frame)):
                notes += _written(f"▲ {note}", "warn", width)
            for note in dict.fromkeys(unsaid(frame)):
                notes += _written(f"· {note}", "dim", width)
        hidden = len(notes) - height
        if hidden > 0 and height > 0:
            more = Span("  … more: key 7", "dim")
            return [*notes[: height - 1], (*fit(notes[height - 1], width - len(more.text)), more)]
        return notes


def _written(note: str, ink: str, width: int) -> list[Line]:
    """A note over as many lines as it needs, the later ones set in."""
    sign, _, words = note.partition(" ")
    return [
        (Span(f"{sign} " if index == 0 else "  ", ink), *line)
        for index, line in enumerate(wrapped(words, width - 2, ink))
    ]


def unsaid(frame: Frame) -> list[str]:
    """Remarks on the figures: what they leave out or how to get those that are missing."""
    # The first note of an unpriced bill stands beside its dash already.
    bill = frame.bill.notes if frame.bill.spent_usd is not None else frame.bill.notes[1:]
    return [*frame.projection.notes, *bill, *frame.info.notes]


def about_input(frame: Frame) -> list[str]:
    """What went wrong in reading, source by source."""
    return [*frame.remarks, *(note for status in frame.state.sources.values() for note in _about(status))]


def _about(status: SourceStatus) -> list[str]:
    name = status.path.rsplit("/", 1)[-1] or status.source
    notes = [f"{name}: {note}" for note in status.notes]
    if status.bad_lines:
        count = f"{text.integer(status.bad_lines)} of {text.integer(status.lines)} lines unreadable"
        notes.insert(0, f"{name}: {count}" + (f" ({status.first_bad})" if status.first_bad else ""))
    if status.state in ("denied", "lost", "waiting"):
        notes.insert(0, f"{name}: {status.reason or status.state}")
    return notes
