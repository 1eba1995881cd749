"""The parser of checkpoints.jsonl: a record a checkpoint, whose paths name the training run.

The one rule: a final checkpoint ends the run only if no resume went on from it.
"""

import re
from collections.abc import Iterable
from typing import cast

from pydantic_core import from_json

from ....models.event import Ended, Event, LogLine
from ....models.run import RunInfo
from ...source import Line
from .facts import RunFacts

_RUN = re.compile(r"tinker://(?P<run>(?P<session>[^/:]+)(?::train:\d+)?)/")


class CheckpointParser:
    """Events of the lines of one checkpoints.jsonl."""

    source = "tinker-checkpoints"

    def __init__(self, facts: RunFacts | None = None) -> None:
        self.bad_lines = 0
        self.first_bad = ""
        self._facts = facts or RunFacts()
        self._run: str | None = None
        self._given: set[str] = set()

    def feed(self, line: Line) -> Iterable[Event]:
        """A LogLine for each checkpoint, the run's id when it is new, and the end where it is one."""
        text = line.text.strip()
        if not text or text in self._given:
            return ()
        try:
            record: object = from_json(text)
        except ValueError:
            return self._bad(line, "not JSON")
        if not isinstance(record, dict):
            return self._bad(line, "not a JSON object")
        self._given.add(text)
        return self._record(cast("dict[str, object]", record), line.at)

    def flush(self) -> Iterable[Event]:
        """Nothing is held back."""
        return ()

    def restart(self) -> Iterable[Event]:
        """Records given before are not given again."""
        return ()

    def _record(self, record: dict[str, object], at: float | None) -> list[Event]:
        events: list[Event] = []
        path = record.get("state_path") or record.get("sampler_path")
        name = record.get("name")
        found = _RUN.match(path) if isinstance(path, str) else None
        if found is not None and found["run"] != self._run:
            run = self._run = str(found["run"])
            # Only the service's own run ids begin with the session; other servers name the model.
            session = str(found["session"]) if ":train:" in run else None
            events.append(RunInfo(session_id=session, config={"tinker.training_run_id": run}))
        if isinstance(name, str):
            where = f" at {path}" if isinstance(path, str) else ""
            events.append(LogLine(text=f"checkpoint {name} saved{where}", at=at, topic="checkpoint"))
        final = record.get("final") is True or name == "final"
        if final and not self._facts.over and self._is_end(record.get("batch")):
            self._facts.over = True
            events.append(Ended(status="finished", at=at, message="the final checkpoint is saved"))
        return events

    def _is_end(self, batch: object) -> bool:
        """Whether a final record is of the attempt that the metrics are in. The supervised loop counts its
        batches per epoch, so that there the number says nothing."""
        facts = self._facts
        if not isinstance(batch, int) or batch == 0:
            return facts.resumed_at is None or facts.last_step is not None
        if (
            facts.last_step is not None
            and facts.total_steps is not None
            and facts.last_step + 1 >= facts.total_steps
        ):
            return True
        if facts.resumed_at is not None and batch <= facts.resumed_at:
            return False
        return facts.last_step is None or batch > facts.last_step

    def _bad(self, line: Line, reason: str) -> Iterable[Event]:
        self.bad_lines += 1
        self.first_bad = self.first_bad or f"line {line.number}: {reason}"
        return ()
