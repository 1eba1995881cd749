"""Reads tqdm's progress bars of the training loop, and no others.

Its one rule: of several updates in one line the last counts.
"""

import re
from typing import NamedTuple

BAR = re.compile(r"\s*\d+%\|[^|]*\|\s*(\d{1,15})/(\d{1,15}) \[([\d:]{1,15})<([^,\]\s]+)")
TRAINING = "Training Progress:"
EASYR1 = "Running step:"
EPOCH = re.compile(r"Epoch (\d{1,9})/(\d{1,9}):(?=\s+\d+%\|)")


class Bar(NamedTuple):
    """One update of a bar."""

    step: int
    total: int
    elapsed_s: float
    started: bool
    """Just drawn: nothing has been timed yet."""


def training_bar(words: str) -> Bar | None:
    """The last update of veRL's training bar in a statement."""
    end = len(words)
    name = TRAINING if TRAINING in words else EASYR1
    while (start := words.rfind(name, 0, end)) >= 0:
        if match := BAR.match(words, start + len(name)):
            return _bar(match)
        end = start  # the last update was cut: take the one before
    return None


class EpochBars:
    """The bars of the SFT trainer, one an epoch, taken together."""

    def __init__(self) -> None:
        self._epoch = 0
        self._before_s = 0.0
        self._last_s = 0.0

    def read(self, words: str) -> Bar | None:
        """Where the whole training stands."""
        bar = None
        for match in EPOCH.finditer(words):
            epoch, epochs = int(match[1]), int(match[2])
            found = BAR.match(words, match.end())
            if found is None or not 1 <= epoch <= epochs:
                continue
            part = _bar(found)
            if epoch != self._epoch:
                self._before_s = self._before_s + self._last_s if epoch > self._epoch else 0.0
                self._epoch = epoch
            self._last_s = part.elapsed_s
            bar = Bar(
                (epoch - 1) * part.total + part.step,
                epochs * part.total,
                self._before_s + part.elapsed_s,
                part.started and epoch == 1,
            )
        return bar


def _bar(match: re.Match[str]) -> Bar:
    elapsed = 0.0
    for part in match[3].split(":"):
        elapsed = elapsed * 60 + float(part or 0)
    return Bar(int(match[1]), int(match[2]), elapsed, match[4] == "?" and elapsed == 0)
