"""A training run as Tinker's REST interface tells it: the model, the last request, the checkpoints.

Its one rule: nothing is made up. Tinker tells no steps, tokens, rewards or end of a run.
"""

from collections.abc import Generator, Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NamedTuple

from ...models import text
from ...models.event import Event, LogLine, SourceStatus
from ...models.run import ConfigValue, RunInfo
from ..clock import Clock, SystemClock
from ..money.book import Book
from ..reader import Pause
from ..status import UNTIMED_SILENCE_S
from ..tinkersdk import TOO_OLD, SdkError, ask, spare_telemetry

if TYPE_CHECKING:
    from tinker.types import Checkpoint, TrainingRun

SOURCE = "tinker-rest"
LOOK_S = 30.0
"""Between two questions: requests and checkpoints come by the minute."""
TIMEOUT_S = 30.0
AGAIN_S = (10.0, 300.0)
"""Seconds to the first further try, and at most; twice as long each time."""
REFUSED_AGAIN_S = 600.0
FORBIDDEN = "this key may not see the run"
NOT_TOLD = (
    "Tinker tells no steps, tokens, rewards or end of a run: its log folder does; name both with --also"
)
GB = 1e9


class _Told(NamedTuple):
    run: "TrainingRun"
    checkpoints: "Sequence[Checkpoint]"


class TinkerRest:
    """One run, asked for again and again; for a Reader."""

    def __init__(
        self, run: str, base_url: str | None = None, clock: Clock | None = None, timeout_s: float = TIMEOUT_S
    ) -> None:
        self._run = run
        self._path = f"tinker:{run}"
        self._base_url = base_url
        self._clock = clock or SystemClock()
        self._timeout_s = timeout_s
        self._seen = False
        self._said: set[str] = set()
        """Checkpoints, by their paths, and whether the run is corrupted."""
        self._status: SourceStatus | None = None

    def read(self, pause: Pause) -> Generator[list[Event]]:
        """What is told now, and then all that is new."""
        failures = 0
        while not pause.is_set():
            try:
                told = ask(self._timeout_s, self._ask, FORBIDDEN, f"Tinker knows no run {self._run}")
            except SdkError as error:
                yield from self._news([], self._trouble(str(error)))
                yield []
                pause.wait(REFUSED_AGAIN_S if error.refused else min(AGAIN_S[1], AGAIN_S[0] * 2**failures))
                failures = min(failures + 1, 16)
                continue
            failures, self._seen = 0, True
            yield from self._news(self._events(told), self._well(told))
            yield []
            pause.wait(LOOK_S)

    def _ask(self) -> _Told:
        spare_telemetry()
        import tinker  # half a second, and an extra: only who names such a run pays for it

        try:
            client = tinker.RestClient(base_url=self._base_url)
        except TypeError:
            raise ValueError(TOO_OLD) from None  # it would have to open a training session to look at one
        run = client.get_training_run(self._run, access_scope="accessible").result()
        return _Told(run, client.list_checkpoints(self._run).result().checkpoints)

    def _events(self, told: _Told) -> list[Event]:
        run = told.run
        config: dict[str, ConfigValue] = {"tinker.training_run_id": run.training_run_id}
        for name, value in (run.user_metadata or {}).items():
            config[f"tinker.user_metadata.{name}"] = value
        info = RunInfo(
            framework="tinker",
            platform="tinker",
            name=text.printable(self._run),
            model=run.base_model,
            lora_rank=run.lora_rank if run.is_lora else 0,
            session_id=self._run.partition(":train:")[0] if ":train:" in self._run else None,
            config=config,
        )
        events: list[Event] = [] if self._said else [info]
        self._said.add("")
        for checkpoint in sorted(told.checkpoints, key=lambda each: each.time):
            if checkpoint.tinker_path not in self._said:
                self._said.add(checkpoint.tinker_path)
                events.append(_line(checkpoint))
        if run.corrupted and "corrupted" not in self._said:
            self._said.add("corrupted")
            events.append(LogLine(text="Tinker says that the run's model is corrupted", level="error"))
        return events

    def _well(self, told: _Told) -> SourceStatus:
        last = _unix(told.run.last_request_time)
        quiet = self._clock.now() - last > UNTIMED_SILENCE_S
        notes = [NOT_TOLD]
        if quiet:
            # A run that has ended is as silent as one that hangs, and Tinker does not say which it is.
            notes.insert(0, f"no request since {_stamp(told.run.last_request_time)}: ended, or stalled")
        if stored := _stored(told.checkpoints):
            notes.append(stored)
        return SourceStatus(
            source=SOURCE,
            path=self._path,
            lines=1,
            modified_at=None if quiet else last,
            notes=tuple(notes),
        )

    def _trouble(self, why: str) -> SourceStatus:
        reason = text.printable(f"{self._path}: {why}")
        return SourceStatus(
            source=SOURCE, path=self._path, state="lost" if self._seen else "denied", reason=reason
        )

    def _news(self, events: list[Event], status: SourceStatus) -> Iterator[list[Event]]:
        """What is new, with the status where it has changed; no empty list, which would say: this is all."""
        if status != self._status:
            self._status = status
            events.append(status)
        if events:
            yield events


def _line(checkpoint: "Checkpoint") -> LogLine:
    size = "" if checkpoint.size_bytes is None else f", {_gigabytes(checkpoint.size_bytes)}"
    until = "" if checkpoint.expires_at is None else f", kept until {_stamp(checkpoint.expires_at)}"
    said = f"checkpoint {checkpoint.checkpoint_id} ({checkpoint.checkpoint_type}{size}{until})"
    return LogLine(text=text.printable(said), at=_unix(checkpoint.time), topic="checkpoint")


def _stored(checkpoints: "Sequence[Checkpoint]") -> str:
    """What all checkpoints hold, and what keeping them costs; empty where no size is known."""
    sizes = [checkpoint.size_bytes for checkpoint in checkpoints if checkpoint.size_bytes is not None]
    if not sizes:
        return ""
    price = Book.load().storage_usd_per_gb_month
    month = "" if price is None else f": {text.usd(sum(sizes) / GB * price)} a month at the list price"
    unknown = len(checkpoints) - len(sizes)
    others = f", {unknown} more of unknown size" if unknown else ""
    s = "s" if len(sizes) > 1 else ""
    return f"{len(sizes)} checkpoint{s} of {_gigabytes(sum(sizes))}{month}, as long as kept{others}"


def _gigabytes(size: float) -> str:
    return f"{size / GB:.2f} GB"


def _unix(moment: datetime) -> float:
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _stamp(moment: datetime) -> str:
    return f"{datetime.fromtimestamp(_unix(moment), UTC):%Y-%m-%d %H:%M} UTC"
