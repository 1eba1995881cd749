"""Follows the driver's log of a Ray job, and the job's own word on how it ends.

Its one rule: what the head says of an end is told once the log has been read to its end.
"""

import re
from collections.abc import Generator, Iterable, Sequence
from datetime import UTC, datetime
from os import utime
from pathlib import Path

from ...models.event import Ended, Event
from ...models.run import RunInfo
from ...models.text import printable
from ..clock import Clock, SystemClock
from ..reader import Pause
from .mirror import AGAIN_S, REFUSED_AGAIN_S, REST, Telling
from .ray_api import OVER, Head, Job, RayError
from .ray_log import LogCopy

LOOK_S = 2.0
"""Between two looks."""
WHOLE_LOOK_S = 10.0
"""The same where each look fetches all of the log."""
LAST_TRIES = 3
"""At the log of a job that is over; its node may be gone."""
MOST_NAMED = 5
_ASSIGNMENTS = re.compile(r"^(?:(?:\S*/)?env\s+)?(?:\w+=(?:'[^']*'|\"[^\"]*\"|\S*)\s+)*")
"""Of the environment, before the command proper; keys among them, now and then."""


class RayFilling:
    """Brings one job's log into a file."""

    def __init__(
        self, head: Head, name: str, job: str | None, clock: Clock | None = None, look_s: float = LOOK_S
    ) -> None:
        self.target: Path | None = None
        self._head = head
        self._name = name
        self._job = job
        self._clock = clock or SystemClock()
        self._look_s = look_s
        self._telling = Telling("ray", name if job is None else f"{name}/{job}")
        self._log = LogCopy(Path())
        self._whole = False
        """Whether only the jobs API gives the log."""
        self._introduced = False
        self._failed = 0

    @property
    def shown(self) -> tuple[Path, str]:
        """The log's copy, and the job."""
        return self._log.path, self._telling.name

    def fill(self, folder: Path, pause: Pause) -> Generator[list[Event]]:
        """Follow the job to its end."""
        (folder / "job").mkdir()
        self._log = LogCopy(folder / "job" / "driver.log")
        failures = 0
        yield from self._telling.waiting("connecting")
        while not pause.is_set():
            began = self._clock.now()
            try:
                for events in self._look():
                    yield events
                    if any(isinstance(event, Ended) for event in events):
                        return
                failures = 0
                yield []
                pause.wait(
                    max(WHOLE_LOOK_S if self._whole else self._look_s, REST * (self._clock.now() - began))
                )
            except (RayError, OSError) as error:
                refused = isinstance(error, RayError) and error.refused
                first_s, most_s = REFUSED_AGAIN_S if refused else AGAIN_S
                again_s = min(most_s, first_s * 2**failures)
                failures = min(failures + 1, 16)
                why = (
                    str(error)
                    if isinstance(error, RayError)
                    else f"its log cannot be kept here: {error.strerror}"
                )
                yield from self._telling.trouble(why, again_s)
                yield []
                pause.wait(again_s)

    def _look(self) -> Iterable[list[Event]]:
        job = self._only_one() if self._job is None else self._head.job(self._job)
        yield from self._telling.reached()
        if isinstance(job, str):
            yield from self._telling.waiting(job)
            return
        if self._job is None:
            self._job = job.id
            yield from self._telling.well()
            self._telling = Telling("ray", f"{self._name}/{job.id}")
            yield from self._telling.reached()
        if not self._introduced:
            self._introduced = True
            yield [RunInfo(name=printable(job.id), started_at=job.started_at)]
        try:
            yield from self._fetch(job)
        except RayError as error:
            self._failed += 1
            if job.status not in OVER or self._failed < LAST_TRIES:
                raise
            yield from self._telling.denied(f"its log cannot be had any more: {error}")
        if self._log.size:
            self.target = self._log.path
            yield from self._telling.well()
        if job.status in OVER:
            yield from self._end(job)

    def _fetch(self, job: Job) -> Iterable[list[Event]]:
        """Bring what the log has; why there is none, where that is known."""
        where = self._where(job)
        if where is None:
            if job.submitted:
                yield from self._telling.waiting(f"the job is {job.status}: {_first_line(job.message)}")
            else:
                yield from self._telling.waiting(
                    "not started by `ray job submit`, so that Ray keeps no log of it: read the file that its"
                    " output goes to"
                )
            return
        if not self._whole:
            try:
                yield from self._growing(self._log.update(lambda lines: self._head.log(where, lines)))
                return
            except RayError:
                if self._log.size or not job.submitted:
                    raise
        # An older head, or a log that is not there yet: the jobs API knows either.
        yield from self._growing(self._log.take([self._head.whole_log(job.id)]))
        self._whole = self._log.size > 0
        if not self._log.size:
            yield from self._telling.waiting("the job has printed nothing yet")

    def _growing(self, sizes: Iterable[int]) -> Iterable[list[Event]]:
        for size in sizes:
            if self.target is None:
                yield from self._telling.waiting(f"fetched {size >> 20} MiB")

    def _where(self, job: Job) -> dict[str, str] | None:
        if not job.submitted:
            actor = self._head.runner(job.id)
            return None if actor is None else {"actor_id": actor, "suffix": "out"}
        if job.driver_node_id is None:
            return None if job.status == "PENDING" else {}
        return {"node_id": job.driver_node_id, "filename": f"job-driver-{job.id}.log"}

    def _end(self, job: Job) -> Iterable[list[Event]]:
        if self.target is not None and job.ended_at is not None:
            utime(self.target, (job.ended_at, job.ended_at))
        message = f"the Ray job {job.status.lower()}: {_first_line(job.message)}"
        status = "crashed" if job.status == "FAILED" else "finished"
        yield [Ended(status=status, at=job.ended_at, message=message)]

    def _only_one(self) -> Job | str:
        """The one job that runs, or a line that names those to choose from."""
        jobs = sorted(self._head.jobs(), key=lambda job: job.started_at or 0.0, reverse=True)
        running = [job for job in jobs if job.status == "RUNNING"]
        if len(running) == 1:
            return running[0]
        if not jobs:
            return "no jobs yet"
        what = f"{len(running)} jobs are running" if running else "no job is running"
        return f"{what}; name one: {self._listed(running or jobs)}"

    def _listed(self, jobs: Sequence[Job]) -> str:
        named = [f"{self._name}/{job.id} ({_describe(job)})" for job in jobs[:MOST_NAMED]]
        more = f" and {len(jobs) - MOST_NAMED} more" if len(jobs) > MOST_NAMED else ""
        return ", ".join(named) + more


def _describe(job: Job) -> str:
    command = _ASSIGNMENTS.sub("", (job.entrypoint or "").strip(), count=1)
    since = (
        ""
        if job.started_at is None
        else f" since {datetime.fromtimestamp(job.started_at, UTC):%Y-%m-%d %H:%M} UTC"
    )
    short = command if len(command) <= 60 else f"{command[:59]}…"
    return f"{job.status}{since}: {short}"


def _first_line(message: str | None) -> str:
    return printable(((message or "").strip().splitlines() or ["no reason given"])[0][:300])
