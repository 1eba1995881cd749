"""What happened along a run, for the x axis of charts: evaluations, checkpoints, restarts, alerts. Pure."""

from ..models import text
from ..models.alert import Severity
from ..monitor.frame import Frame
from ..monitor.history import History
from .glyphs import SEVERITY
from .plot import Mark

SIGNS = {"eval": "▿", "checkpoint": "◇", "restart": "↺"}
INK: dict[Severity, str] = {"critical": "bad", "warning": "warn", "info": "dim"}
TOO_MANY = 60
"""Evaluations or checkpoints beyond which they no longer tell anything apart on an axis."""


class Marks:
    """The marks of a run, read once: each frame adds what is new."""

    def __init__(self) -> None:
        self._history: History | None = None
        self._amended = -1
        self._evals = self._rows = 0
        self._tested: dict[int, Mark] = {}
        self._saved: dict[int, Mark] = {}
        self._again: dict[int, Mark] = {}

    def read(self, frame: Frame) -> tuple[Mark, ...]:
        """All of them, by step; the gravest last."""
        state, history = frame.state, frame.state.history
        if history is not self._history or state.amended != self._amended:
            self._history, self._amended = history, state.amended
            self._evals = self._rows = 0
            for kept in (self._tested, self._saved, self._again):
                kept.clear()
        for one in history.evals[self._evals :]:
            score = next((f" {text.number(value)}" for value in one.scores.values()), "")
            self._tested[one.step] = Mark(one.step, SIGNS["eval"], "mark", f"eval{score}")
        self._evals = len(history.evals)
        saving = history.phases.get("checkpoint")
        for row in range(self._rows, state.closed):
            step = history.steps[row]
            if saving is not None and row < len(saving) and saving[row] > 0:
                self._saved[step] = Mark(step, SIGNS["checkpoint"], "mark", "checkpoint")
            if row and history.attempts[row] != history.attempts[row - 1]:
                self._again[step] = Mark(step, SIGNS["restart"], "strong", "restart")
        self._rows = max(self._rows, state.closed)
        alerts = sorted(frame.alerts, key=lambda alert: ("info", "warning", "critical").index(alert.severity))
        return (
            *(self._tested.values() if len(self._tested) <= TOO_MANY else ()),
            *(self._saved.values() if len(self._saved) <= TOO_MANY else ()),
            *self._again.values(),
            *(Mark(a.step, SEVERITY[a.severity], INK[a.severity], a.rule.replace("_", " ")) for a in alerts),
        )
