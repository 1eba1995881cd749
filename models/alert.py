"""An alert: what was seen, against what, since when, and what to do about it; and what is watched at all."""

from typing import Literal

from .value import Value

Severity = Literal["info", "warning", "critical"]


class Alert(Value):
    """One alert from raising to clearing. `message` and `advice` are one line each."""

    rule: str
    severity: Severity
    step: int
    """The step at which it was raised."""
    raised_at: float | None = None
    cleared_step: int | None = None
    value: float
    threshold: float
    message: str
    advice: str


class Watch(Value):
    """Whether a rule has what it needs; if not, `why` says what it lacks, and else what it waits for."""

    rule: str
    watched: bool
    why: str = ""
