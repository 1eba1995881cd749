"""Follows one run on a W&B server. Its one rule: while nothing is new, a look costs one question.

The run itself is asked for, which tells its state, its last step and the newest GPU readings. Rows are asked
for from where the last ones ended, and only when there are more.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Literal, NamedTuple, TypeVar

from ...models.event import Ended, Event, LogLine, SourceStatus
from ...models.gpu import GpuSample
from ...models.run import ConfigValue, RunInfo
from ..reader import Pause
from ..sources.wandb_records import flattened, numbers_in
from ..sources.wandb_stats import Hardware, samples_of
from ..sources.wandb_telling import WandbTelling
from .wandb_api_client import Client, Look, Missing, Trouble

Answer = TypeVar("Answer")

PAGE_ROWS = 1000
MOST_STEPS = 1_000_000
"""Steps in a page, however sparse the rows: the server takes no more than an Int."""
TOLD_ROWS = 250
"""Rows told at a time, so that the screen fills while a long history is read."""
PATIENT_TRIES = 3
"""Failures in a row before one look at a run does without the rest."""
OPTIONAL_TRIES = 3
CONSOLE_LINES = 1000
CONSOLE_EVERY = 5
"""Looks from one question for the console to the next."""
CRASHES = {
    "crashed": "W&B has not heard from it any more",
    "failed": "it ended with an error, says W&B",
    "killed": "it was stopped by hand, says W&B",
    "preempted": "it was preempted, says W&B",
}
NOT_BEGUN = ("pending", "preempting")


class Pauses(NamedTuple):
    """Seconds between two looks."""

    running: float = 12.0
    """W&B's own client sends every 15 s."""
    over: float = 60.0
    """A run that has ended may be resumed."""
    trouble: float = 5.0
    """After the first failure; twice as long after each further one."""
    longest: float = 300.0


class ApiRun:
    """What a server tells of a run, or, where no run is named, which runs there are."""

    def __init__(
        self, entity: str, project: str, run_id: str, base_url: str | None, pauses: Pauses | None = None
    ) -> None:
        self._where = f"{entity}/{project}"
        self._run_id = run_id
        self._client = Client(entity, project, base_url)
        self._pauses = pauses or Pauses()
        self._telling = WandbTelling()
        self._path = "wandb:" + "/".join(part for part in (entity, project, run_id) if part)
        self._hardware = Hardware(host=self._path)
        self._looks = 0
        self._state = ""
        self._info = RunInfo()
        self._config: dict[str, ConfigValue] = {}
        self._machine: Mapping[str, object] = {}
        self._next = 0
        """The first step that has not been read, by W&B's count."""
        self._vain: int | None = None
        """A last step that W&B told, but gave no row of."""
        self._rows = 0
        self._row_at: float | None = None
        self._samples: list[GpuSample] = []
        """Readings that are older than rows still to be told."""
        self._sampled_at = 0.0
        self._line = -1
        self._failures: dict[str, int] = {}
        """Of questions that a run can be followed without, in a row."""
        self._notes: tuple[str, ...] = ()
        self._status: SourceStatus | None = None

    def read(self, pause: Pause) -> Iterator[list[Event]]:
        """Look at the run again and again, until the pause is over."""
        failures = 0
        while True:
            wait_s = self._pauses.running
            try:
                yield from filter(None, self._look())
                yield []  # which says that all there is has been told
                failures = 0
                if self._state not in ("running", *NOT_BEGUN):
                    wait_s = self._pauses.over
            except Trouble as trouble:
                failures += 1
                wait_s = min(self._pauses.trouble * 2 ** min(failures - 1, 20), self._pauses.longest)
                if not self._looks and not trouble.passing:
                    yield self._told("denied", self._explained(trouble))
                    return
                yield self._told(
                    "ended" if isinstance(trouble, Missing) else "lost",
                    f"{trouble.reason}, trying again in {wait_s:.0f} s",
                )
                if failures >= PATIENT_TRIES:
                    yield []
            if pause.wait(wait_s):
                break
        yield self._telling.flush()

    def _look(self) -> Iterator[list[Event]]:
        if not self._run_id:
            raise Missing(f"{self._where}: names a project; name one of its runs", passing=False)
        look = self._client.look(self._run_id)
        self._looks += 1
        yield list(self._learn(look))
        self._sample(look)
        yield from self._history(look)
        yield [*self._samples, *self._telling.progress()]
        self._samples.clear()
        changed = look.state != self._state
        if changed or self._looks % CONSOLE_EVERY == 0:
            yield self._console()
        if changed:
            self._state = look.state
            yield self._ended(look)
        yield self._told(*self._stands())

    def _learn(self, look: Look) -> Iterator[Event]:
        """Facts that are new."""
        info = RunInfo(name=look.name or None, started_at=look.started_at)
        if info != self._info:
            self._info = info
            yield info
        if look.machine != self._machine:
            self._machine = look.machine
            yield from self._hardware.learn_named(look.machine)
        config = flattened(look.config)
        news = {k: v for k, v in config.items() if k not in self._config or self._config[k] != v}
        self._config = config
        yield from self._telling.configured(news)

    def _sample(self, look: Look) -> None:
        """Readings since the last look: all that are kept at first, then the newest."""
        rows: Iterable[Mapping[str, object]] = (look.system,)
        if self._looks == 1:
            rows = (*self._optional("system metrics", self._client.system, ()), look.system)
        for row in rows:
            readings = dict(numbers_in(row))
            at = readings.get("_timestamp", look.heartbeat_at or 0.0)
            if math.isfinite(at) and at > self._sampled_at:
                self._sampled_at = at
                self._samples += samples_of(readings.items(), at, self._hardware)

    def _history(self, look: Look) -> Iterator[list[Event]]:
        """The rows that are new, and between them the readings that are older."""
        last = look.last_step
        self._next = min(self._next, last + 1)  # a run may have been rewound
        if last < self._next:
            return
        before, told, events = self._rows, 0, list[Event]()
        # Pages are cut by steps, and a trainer may leave out most of them.
        span = min(max(PAGE_ROWS, PAGE_ROWS * (last + 1) // max(look.rows, 1)), MOST_STEPS)
        try:
            for row in self._client.rows(self._next, last, span):
                events += self._row(dict(numbers_in(row)))
                told += 1
                if told % TOLD_ROWS == 0:
                    yield events
                    events = []
        except Trouble:
            yield events
            raise
        yield events
        if self._rows == before and self._vain == last:
            self._next = last + 1
        self._vain = last

    def _row(self, values: dict[str, float]) -> Iterator[Event]:
        step, at = values.get("_step"), values.get("_timestamp")
        if step is not None and 0 <= step < 2**53:
            if step < self._next:
                return  # W&B gives rows twice where it has put their page into its archive already
            self._next = int(step) + 1
        self._rows += 1
        if at is not None and math.isfinite(at):
            self._row_at = at
            while self._samples and self._samples[0].at <= at:
                yield self._samples.pop(0)
        yield from self._telling.row(values)

    def _console(self) -> list[Event]:
        lines = self._optional("console", lambda: self._client.console(CONSOLE_LINES), [])
        fresh = [text for number, text in lines if number > self._line]
        self._line = max([self._line, *(number for number, _ in lines)])
        return list(self._telling.output("\n".join(fresh)))

    def _optional(self, name: str, ask: Callable[[], Answer], nothing: Answer) -> Answer:
        """The answer to a question without which a run can be followed, or nothing."""
        if self._failures.get(name, 0) >= OPTIONAL_TRIES:
            return nothing
        try:
            answer = ask()
        except Trouble as trouble:
            self._failures[name] = self._failures.get(name, 0) + 1
            if self._failures[name] == OPTIONAL_TRIES:
                self._notes += (f"{self._path}: its {name} could not be read: {trouble.reason}",)
            return nothing
        self._failures[name] = 0
        return answer

    def _ended(self, look: Look) -> list[Event]:
        """What a new state means. A run that goes on in spite of it ends that by its next step."""
        if look.state == "finished":
            if short := self._telling.short:
                text = f"{self._path}: finished, says W&B, but at {short}: trainers say so after a crash too"
                self._notes += (text,)
                return [LogLine(text=text, level="warning", at=look.heartbeat_at)]
            return [Ended(status="finished", at=look.heartbeat_at, message="W&B says finished")]
        if look.state in CRASHES:
            message = f"{look.state}: {CRASHES[look.state]}"
            return [Ended(status="crashed", at=look.heartbeat_at, message=message)]
        return []

    def _stands(self) -> tuple[Literal["waiting", "reading", "ended"], str]:
        """State and reason, where all questions were answered."""
        if self._state in NOT_BEGUN:
            return "waiting", f"{self._path}: {self._state}, says W&B"
        return ("ended" if self._state == "finished" or self._state in CRASHES else "reading"), ""

    def _told(
        self, state: Literal["waiting", "reading", "denied", "lost", "ended"], reason: str
    ) -> list[Event]:
        """How reading goes, where that has changed."""
        status = SourceStatus(
            source="wandb-api",
            path=self._path,
            state=state,
            reason=reason,
            lines=self._rows,
            modified_at=self._row_at,
            notes=self._notes,
        )
        if status == self._status:
            return []
        self._status = status
        return [status]

    def _explained(self, trouble: Trouble) -> str:
        """Why a run cannot be read, and what the project has instead."""
        if not isinstance(trouble, Missing):
            return trouble.reason
        try:
            runs: Sequence[str] = self._client.newest()
        except Missing:
            return f"{self._where}: no such W&B project, or not shown to this login"
        except Trouble as other:
            return trouble.reason if self._run_id else other.reason
        if not runs:
            return f"{trouble.reason}; the project has none"
        return f"{trouble.reason}; the newest are {', '.join(runs)}"
