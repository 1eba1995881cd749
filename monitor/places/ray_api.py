"""What a Ray head is asked over HTTP: its jobs, and the logs that its nodes keep.

Its one rule: plain HTTP, no `ray` here; whatever goes wrong is a RayError of one line that holds no header.
The jobs API is Ray's public one. Of its two ways to a log one is a websocket and the other gives all of it
each time, so logs are read through the state API, which gives the last so many lines of a file as they are.
"""

import http.client
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from typing import IO, TypeVar
from urllib.parse import quote, urlencode

from pydantic import BaseModel, TypeAdapter, ValidationError

from ...models.text import printable

TIMEOUT_S = 15.0
MOST_JSON_BYTES = 256 * 1024 * 1024
CHUNK_BYTES = 256 * 1024
OVER = ("SUCCEEDED", "FAILED", "STOPPED")
RUNNERS = (
    "TaskRunner",
    "TaskRunnerV1",
    "FullyAsyncTaskRunner",
    "FullyAsyncTrainer",
    "OneStepTaskRunner",
    "Runner",
)
"""Actors that print the metrics of a run whose driver was not submitted as a job: veRL's, of all versions."""

Answer = TypeVar("Answer")


class RayError(Exception):
    """The head cannot be asked; one line. `refused`: asking again soon would not help."""

    def __init__(self, reason: str, refused: bool = False) -> None:
        super().__init__(printable(reason))
        self.refused = refused


class Job(BaseModel, frozen=True):
    """A job as the head tells it."""

    submission_id: str | None = None
    job_id: str | None = None
    status: str
    """PENDING, RUNNING, or one of OVER."""
    entrypoint: str | None = None
    message: str | None = None
    start_time: float | None = None
    """Unix milliseconds, like the end; 0 for none."""
    end_time: float | None = None
    driver_node_id: str | None = None
    """Where its driver runs; None as long as it has not started."""

    @property
    def id(self) -> str:
        """What it is asked for by."""
        return self.submission_id or self.job_id or ""

    @property
    def started_at(self) -> float | None:
        """Unix seconds."""
        return self.start_time / 1000 if self.start_time else None

    @property
    def ended_at(self) -> float | None:
        """Unix seconds."""
        return self.end_time / 1000 if self.end_time else None

    @property
    def submitted(self) -> bool:
        """Whether Ray started the driver, and so keeps what it prints."""
        return self.submission_id is not None


class _Log(BaseModel):
    logs: str = ""


class _Actor(BaseModel):
    actor_id: str
    class_name: str = ""


class _Page(BaseModel):
    result: list[_Actor] = []


class _Paged(BaseModel):
    result: _Page = _Page()


class _Actors(BaseModel):
    data: _Paged = _Paged()


class Head:
    """One dashboard."""

    def __init__(self, base: str, headers: Mapping[str, str], timeout_s: float = TIMEOUT_S) -> None:
        self._base = base
        self._headers = dict(headers)
        self._timeout_s = timeout_s
        self._opener = urllib.request.build_opener(_NoRedirect)

    def jobs(self) -> list[Job]:
        """All jobs that the head remembers.

        Raises:
            RayError: it cannot be asked, or answers something else.
        """
        return [job for job in self._ask("/api/jobs/", TypeAdapter(list[Job])) if job.id]

    def job(self, name: str) -> Job:
        """One job.

        Raises:
            RayError: it cannot be asked, or knows no such job.
        """
        return self._ask(f"/api/jobs/{quote(name, safe='')}", TypeAdapter(Job))

    def runner(self, job: str) -> str | None:
        """The actor that prints the metrics of a job that was not submitted; None where none is known."""
        query = urlencode({"filter_keys": "job_id", "filter_predicates": "=", "filter_values": job})
        actors = self._ask(f"/api/v0/actors?{query}", TypeAdapter(_Actors)).data.result.result
        return next((actor.actor_id for actor in actors if actor.class_name in RUNNERS), None)

    def log(self, where: Mapping[str, str], lines: int) -> Iterator[bytes]:
        """The last so many lines of a log, or all of it for -1, piece by piece."""
        with self._open(f"/api/v0/logs/file?{urlencode({**where, 'lines': lines})}") as answer:
            while data := self._read(answer, CHUNK_BYTES):
                yield data

    def whole_log(self, name: str) -> bytes:
        """All that a submitted job has printed, through the jobs API."""
        told = self._ask(f"/api/jobs/{quote(name, safe='')}/logs", TypeAdapter(_Log))
        return told.logs.encode("utf-8", "surrogatepass")

    def _ask(self, path: str, kind: TypeAdapter[Answer]) -> Answer:
        with self._open(path) as answer:
            data = self._read(answer, MOST_JSON_BYTES)
        try:
            return kind.validate_json(data)
        except ValidationError:
            raise RayError("does not answer like a Ray dashboard", refused=True) from None

    def _open(self, path: str) -> IO[bytes]:
        request = urllib.request.Request(self._base + path, headers=self._headers)
        try:
            return self._opener.open(request, timeout=self._timeout_s)
        except urllib.error.HTTPError as error:
            with error:
                raise self._refused(error) from None
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise RayError(_why(error)) from None

    @staticmethod
    def _read(answer: IO[bytes], most: int) -> bytes:
        try:
            return answer.read(most)
        except (OSError, http.client.HTTPException) as error:
            raise RayError(_why(error)) from None

    @staticmethod
    def _refused(error: urllib.error.HTTPError) -> RayError:
        if error.code in (401, 403):
            return RayError(
                f"wants to know who asks ({error.code}): set RAY_AUTH_TOKEN, or RAY_JOB_HEADERS", refused=True
            )
        if 300 <= error.code < 400:
            return RayError("sends us elsewhere, to log in perhaps: give RAY_JOB_HEADERS", refused=True)
        try:
            said = error.read(2000).decode("utf-8", "replace").split("\n")[0].strip()
        except (OSError, http.client.HTTPException):
            said = ""
        return RayError(f"{said or error.reason} ({error.code})", refused=error.code == 404)


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Headers that say who we are are for the head alone."""

    def redirect_request(
        self, req: object, fp: object, code: int, msg: str, headers: object, newurl: str
    ) -> None:
        """None follows no redirection."""
        return None


def _why(error: Exception) -> str:
    cause = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(cause, TimeoutError):
        return "does not answer in time"
    if isinstance(cause, ConnectionRefusedError):
        return "refuses the connection: does the head run, and is its dashboard's port reachable from here?"
    return (getattr(cause, "strerror", None) or str(cause) or type(cause).__name__).splitlines()[0]
