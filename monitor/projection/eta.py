"""Which step times are work and which are a pause.

Its one rule: a machine that slept, was preempted or hung once says nothing of the steps to come. Such
a step counts as one of usual length; three in a row are no pause but how the run goes now.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from statistics import median, median_low

_KEPT = 9
_ENOUGH = 3
"""Steps of work that tell what is usual."""
PAUSE = 6.0
"""A step longer than this many times the median of the last few is a pause. Real steps lengthen by up
to threefold in a few steps; real pauses were 9 to 126 times the median."""
_NEW_NORMAL = 3


@dataclass(slots=True)
class PauseFilter:
    """Tells work from pauses, step by step."""

    recent: list[float] = field(default_factory=list[float])
    """Seconds of the last few steps that were work."""
    doubtful: int = 0
    """Long steps since the last ordinary one."""
    pauses: int = 0
    usual_at_start: float | None = None
    """Seconds that a step is taken to last until a few have been work; None while nothing tells."""

    @classmethod
    def over(cls, opening_s: Iterable[float | None]) -> "PauseFilter":
        """A filter for the very steps that it is made from, which are to be shown to it again.

        Of two the shorter one is taken for usual, and of more the median: what is far above it was a pause.
        """
        told = [seconds for seconds in opening_s if seconds is not None and seconds > 0]
        return cls(usual_at_start=median_low(told) if told else None)

    def work_share(self, duration_s: float) -> float:
        """The share of this step's time that was work, from 0 to 1."""
        usual = median(self.recent) if len(self.recent) >= _ENOUGH else self.usual_at_start
        if usual is not None and duration_s > PAUSE * usual:
            self.doubtful += 1
            if self.doubtful < _NEW_NORMAL:
                self.pauses += 1
                return usual / duration_s
            self.pauses -= _NEW_NORMAL - 1
            self.recent = []
            self.usual_at_start = duration_s
        self.doubtful = 0
        self.recent = [*self.recent, duration_s][-_KEPT:]
        return 1.0
