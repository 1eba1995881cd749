"""`rltop --plain TARGET`: a run as lines of words, one whenever a step or an alert is new, until it ends.

For screen readers, logs and pipes. A line is what `rltop replay --plain` prints for the same step.
"""

from ..models import text
from ..monitor.frame import Frame
from .follow import standing, worth_telling
from .replay import print_line


class LinePrinter:
    """Prints frames that differ from the last in what a reader waits for."""

    def __init__(self) -> None:
        self.last: Frame | None = None
        self._printed: tuple[object, ...] = ()
        self._status = "running"

    def publish(self, frame: Frame) -> None:
        """Print a frame where it is news."""
        if not worth_telling(frame):
            return
        self.last = frame
        looks = (frame.state.steps_done, frame.state.attempt, standing(frame))
        if looks != self._printed and frame.state.steps_done:
            self._printed = looks
            print_line(frame)
        if frame.status != self._status and frame.status != "unknown":
            self._status = frame.status
            print(f"{frame.status} after {text.duration(frame.elapsed_s)}", flush=True)
