"""What the user should know of the input: what could not be read, what is missing, and how to give it."""

from ...models import text
from ...models.event import SourceStatus
from ...monitor.frame import Frame
from ..lines import Line, Span, cut, fit
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
        return _failure(self._trouble, width)

    def lay_out(self, frame: Frame, width: int, height: int) -> list[Line]:
        if not len(frame.state.history):
            return _failure(self._trouble, width)  # the screen says why there is nothing yet
        notes = [
            *(f"▲ {note}" for note in about_input(frame)),
            *(
                f"· {note}"
                for note in unsaid(frame)
                if note not in frame.bill.notes[:1] or frame.bill.spent_usd
            ),
        ]
        lines = [*_failure(self._trouble, width), *(_noted(note, width) for note in dict.fromkeys(notes))]
        hidden = len(lines) - height
        if hidden > 0 and height > 0:
            more = Span(f"  +{hidden}: key 7", "dim")
            last = fit(lines[height - 1], width - len(more.text))
            return [*lines[: height - 1], (*last, more)]
        return lines


def unsaid(frame: Frame) -> list[str]:
    """Remarks on the figures: what they leave out or how to get those that are missing."""
    return [*frame.projection.notes, *frame.bill.notes, *frame.info.notes]


def about_input(frame: Frame) -> list[str]:
    """What went wrong in reading, source by source."""
    return [note for status in frame.state.sources.values() for note in _about(status)]


def _failure(trouble: str, width: int) -> list[Line]:
    return [(Span(cut(f"✖ {trouble}", width), "bad"),)] if trouble else []


def _noted(note: str, width: int) -> Line:
    return (Span(cut(note, width), "warn" if note.startswith("▲") else "dim"),)


def _about(status: SourceStatus) -> list[str]:
    name = status.path.rsplit("/", 1)[-1] or status.source
    notes = [f"{name}: {note}" for note in status.notes]
    if status.bad_lines:
        count = f"{text.integer(status.bad_lines)} of {text.integer(status.lines)} lines unreadable"
        notes.insert(0, f"{name}: {count}" + (f" ({status.first_bad})" if status.first_bad else ""))
    if status.state in ("denied", "lost", "waiting"):
        notes.insert(0, f"{name}: {status.reason or status.state}")
    return notes
