"""The parser of logs.log: what the cookbook and the SDK say in words.

The one rule: only log records count. The same file holds whole sampled conversations, which may contain
anything, so a record must begin its line, and a traceback must follow one that is not such a dump.
"""

import re
from collections.abc import Iterable

from ....models.event import Event, LogLine
from ....models.run import RunInfo
from ...source import Line
from .facts import RunFacts

_RECORD = re.compile(
    r"(?P<logger>[\w.]+):\d+ \[(?P<level>DEBUG|INFO|WARNING|ERROR|CRITICAL)\] ?(?P<message>.*)"
)
_PLAN = re.compile(r"Will train on (\d+) batches|Training for (?:.*= )?(\d+) (?:steps|batches)")
_SESSION = re.compile(r"ServiceClient initialized for session (\S+)")
_MODEL = re.compile(r"(?:^|\s)model_name=(\S+)")
_TRACEBACK = "Traceback (most recent call last):"
_LONGEST = 400
_LEVELS = {"WARNING": "warning", "ERROR": "error", "CRITICAL": "error"}


class LogParser:
    """Events of the lines of one logs.log. Has no bad lines: every line is text."""

    source = "tinker-logs"

    def __init__(self, facts: RunFacts | None = None) -> None:
        self.bad_lines = 0
        self.first_bad = ""
        self._facts = facts or RunFacts()
        self._planned: int | None = None
        """Total steps that the log named last."""
        self._in_dump = False
        """The lines that follow belong to a record that began with an empty line: sampled text."""
        self._in_traceback = False
        self._first = ""
        self._highest = -1
        self._skip_to = -1
        """Number of the last line to pass over: the file was written anew, and it was given before."""

    def feed(self, line: Line) -> Iterable[Event]:
        """The events of one line."""
        text = line.text
        if line.number == 1:
            if text != self._first:  # another log altogether
                self._skip_to = -1
            self._first = text
        if line.number <= self._skip_to:
            return ()
        self._highest = line.number
        if self._in_traceback:
            return self._traceback(text, line.at)
        if text.startswith(_TRACEBACK) and not self._in_dump:
            self._in_traceback = True
            return ()
        # A cheap look first: most lines are sampled text.
        record = _RECORD.fullmatch(text) if "[" in text[:200] else None
        if record is None:
            return ()
        self._in_dump = record["level"] == "INFO" and not record["message"].strip()
        return self._record(record["logger"], record["level"], record["message"].strip(), line.at)

    def flush(self) -> Iterable[Event]:
        """A traceback whose last line has not come."""
        return self._give_traceback(_TRACEBACK, None) if self._in_traceback else ()

    def restart(self) -> Iterable[Event]:
        """A log that was copied anew begins with what was read before; that is passed over."""
        self._skip_to = max(self._skip_to, self._highest)
        self._in_traceback = self._in_dump = False
        return ()

    def _record(self, logger: str, level: str, message: str, at: float | None) -> list[Event]:
        if level in _LEVELS:
            return self._trouble(level, message, at)
        events: list[Event] = []
        if message.startswith(("Resumed training from", "Resuming at step", "Resumed at step")):
            events.append(LogLine(text=message[:_LONGEST], at=at, topic="checkpoint"))
        if (plan := _PLAN.fullmatch(message)) is not None:
            events.extend(self._plan(int((plan[1] or plan[2])[:15])))
        elif (session := _SESSION.match(message)) is not None:
            events.append(RunInfo(session_id=session[1]))
        elif message.startswith("Command line invocation:") and (model := _MODEL.search(message)) is not None:
            events.append(RunInfo(model=model[1].strip("'\"")))
        return events

    def _plan(self, total: int) -> list[Event]:
        """The steps that a process set out to do.

        The metrics tell the same more exactly, so the first process's figure counts only before
        them; a later one that differs is a resume with another plan.
        """
        before, self._planned = self._planned, total
        changed = before is not None and before != total
        if total < 1 or not (changed or self._facts.total_steps is None):
            return []
        self._facts.total_steps = total
        return [RunInfo(total_steps=total)]

    def _trouble(self, level: str, message: str, at: float | None) -> list[Event]:
        low = message.lower()
        serious = level != "WARNING"
        if "billing status" in low:
            topic = "billing"
        elif "is paused. reason:" in low or "running short on capacity" in low or "rate limit hit" in low:
            topic = "capacity"
        elif serious:
            topic = ""
        else:
            return []  # advice on style, deprecations and the like
        text = message[:_LONGEST] or "an error without words"
        return [LogLine(text=text, level="error" if serious else "warning", at=at, topic=topic)]

    def _traceback(self, text: str, at: float | None) -> Iterable[Event]:
        """Inside a traceback: it ends with the first line that is not indented, the exception."""
        if not text.strip() or text[0] in " \t":
            return ()
        return self._give_traceback(text.strip(), at)

    def _give_traceback(self, text: str, at: float | None) -> list[Event]:
        self._in_traceback = False
        return [LogLine(text=text[:_LONGEST], level="error", at=at, topic="traceback")]
