"""`--against TARGET`: another run, whose facts the config screen holds against this one's."""

from collections.abc import Callable
from dataclasses import replace

from ..models.settings import Settings
from ..monitor.check import name_of
from ..monitor.clock import SystemClock
from ..monitor.frame import Frame, Other
from ..monitor.session import Session
from .opening import pipeline, sources_of


def against(target: str, publish: Callable[[Frame], None]) -> Callable[[Frame], None]:
    """Publish frames that know the other run. It is read once, as it is now.

    Raises:
        TargetError: it is not there or cannot be used.
    """
    frame = Session(sources_of(target), pipeline(Settings()), SystemClock()).read_all()
    other = Other(name_of(frame), frame.info)
    return lambda one: publish(replace(one, other=other))
