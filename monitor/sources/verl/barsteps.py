"""Steps that only the progress bar tells: a run whose logger has no console prints no metrics.

Its one rule: as soon as one step is printed with its metrics, the bar tells none.
"""

import re

from .bars import Bar

LOGGERS = re.compile(r"\b(?:trainer\.)?logger['\"]?\s*[:=]\s*['\"]?\[([^\]]{0,200})\]")
PATIENCE = 20
"""So many steps pass without metrics before the bar is taken at its word, unless the configuration says that
no metrics are printed: lines and bar come by two ways, and the bar may be ahead."""
MOST = 1000
"""A bar that leaps further tells where it is, not the steps between."""
NOTE = (
    "no metrics are printed (trainer.logger has no console): steps and times are those of the progress bar; "
    "lengths, rewards and tokens are where the run logs them: W&B, TensorBoard, a file"
)


class BarSteps:
    """Follows one bar."""

    def __init__(self) -> None:
        self._printed = False
        self._patience = PATIENCE
        self._last: Bar | None = None
        self._waiting: list[tuple[int, float]] = []
        self._taken = False

    def hear(self, words: str) -> None:
        """A statement that names the loggers, in the configuration or a command."""
        if (loggers := LOGGERS.search(words)) is not None:
            self._patience = PATIENCE if "console" in loggers[1] else 0

    def printed(self) -> None:
        """Metrics are printed after all."""
        self._printed = True
        self._waiting.clear()

    def of(self, bar: Bar) -> list[tuple[int, float]]:
        """(step, wall seconds) of the steps that the bar says are done and nothing else tells."""
        if self._printed:
            return []
        last, self._last = self._last, bar
        if bar.started or last is None or bar.step < last.step or bar.elapsed_s < last.elapsed_s:
            self._waiting.clear()
            self._taken = False
            return []
        done = bar.step - last.step
        if 0 < done <= MOST:
            seconds = (bar.elapsed_s - last.elapsed_s) / done
            self._waiting += [(step, seconds) for step in range(last.step + 1, bar.step + 1)]
        if not self._taken and len(self._waiting) <= self._patience:
            return []
        self._taken = True
        told, self._waiting = self._waiting, []
        return told
