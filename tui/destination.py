"""Where `:` leads: a step, a share of the run, or a time of day. Pure."""

import re
from datetime import datetime, timedelta
from typing import Literal, NamedTuple

from ..monitor.frame import Frame

_STEP = re.compile(r"(?:step\s*)?(\d{1,12})$")
_SHARE = re.compile(r"(\d{1,3}(?:\.\d+)?)\s*%$")
_TIME = re.compile(r"(\d{1,3}):([0-5]\d)(?::([0-5]\d))?$")
_REAL_TIME = 1e9
"""Run times below this are no dates: the log had no clock, and times count from its start."""
EXAMPLES = "35 for a step, 50% for the middle, 14:30 for a time"


class Destination(NamedTuple):
    """A place in a run: a step's number, a share from 0 to 1, or seconds since midnight."""

    kind: Literal["step", "share", "time"]
    value: float


def destination(words: str) -> Destination | None:
    """What the words mean; None where they mean nothing."""
    words = words.strip().removeprefix(":").strip().casefold()
    if found := _STEP.match(words):
        return Destination("step", float(found.group(1)))
    if (found := _SHARE.match(words)) and float(found.group(1)) <= 100:
        return Destination("share", float(found.group(1)) / 100)
    if found := _TIME.match(words):
        hours, minutes, seconds = (int(part or 0) for part in found.groups())
        return Destination("time", hours * 3600.0 + minutes * 60 + seconds)
    return None


def moment(seconds: float, started_at: float) -> float:
    """The first moment of a run (unix s) at this local time of day; where it has no clock, after so long."""
    if started_at < _REAL_TIME:
        return started_at + seconds
    start = datetime.fromtimestamp(started_at)
    there = start.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(seconds=seconds)
    if there < start.replace(second=0, microsecond=0):
        there += timedelta(days=1)
    return there.timestamp()


def started_at(frame: Frame) -> float | None:
    """When the run began, unix seconds, as far as the frame knows."""
    if frame.replay is not None:
        return frame.replay.at - (frame.elapsed_s or 0.0)
    history = frame.state.history
    for row in history.progress:
        ended_at = history.get("ended_at", row)
        if ended_at is not None:
            return ended_at - (history.get("duration_s", row) or 0.0)
    return frame.info.started_at


def step_at(frame: Frame, place: Destination) -> float | None:
    """The step of a run that is nearest to a place in what it has done; None where it cannot be told."""
    history = frame.state.history
    if not len(history.progress):
        return None
    if place.kind == "step":
        return place.value
    if place.kind == "share":
        return float(history.steps[history.progress[round(place.value * (len(history.progress) - 1))]])
    began = started_at(frame)
    if began is None:
        return None
    at = moment(place.value, began)
    told = ((history.get("ended_at", row), row) for row in history.progress)
    after = (history.steps[row] for ended_at, row in told if ended_at is not None and ended_at >= at)
    return next((float(step) for step in after), None)
