"""What can happen to a made-up run besides what its steps log: lines, GPUs, prices, promises that break.

Its one rule: a happening is a change of the run's events from step ONSET on, or of what the user has said.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from rltop.models.event import Ended, Event, LogLine
from rltop.models.gpu import Gpu, GpuSample, GpuState
from rltop.models.run import RunInfo
from rltop.models.settings import Settings
from rltop.models.step import Step

from .trouble import ONSET, STARTED_AT

GPUS = 8
GPU_LOOK_S = 10.0
"""Between two readings of the GPUs."""
NEW_PRICES = "2026-07-17"
"""A day on which the price book's Qwen/Qwen3-8B went up by half."""


@dataclass(frozen=True)
class Happening:
    """Something that happens, and the rule that is to notice it."""

    name: str
    rule: str
    change: Callable[[list[Event]], list[Event]]
    settings: Callable[[list[Event], Settings], Settings] = lambda events, settings: settings


def _after(tell: Callable[[float], Iterable[Event]]) -> Callable[[list[Event]], list[Event]]:
    """More events right after the end of step ONSET - 1, told its time."""

    def change(events: list[Event]) -> list[Event]:
        out: list[Event] = []
        for event in events:
            out.append(event)
            if isinstance(event, Step) and event.step == ONSET - 1 and event.ended_at is not None:
                out += tell(event.ended_at + 1.0)
        return out

    return change


def _crash(events: list[Event]) -> list[Event]:
    told = _after(lambda at: [Ended(status="crashed", at=at, message="RuntimeError: NCCL timeout")])(events)
    return told[: next(n for n, event in enumerate(told) if isinstance(event, Ended)) + 1]


def _gpus(util: float, state: GpuState) -> Callable[[list[Event]], list[Event]]:
    """Readings every few seconds; from ONSET on all GPUs are this busy, and the first in this state."""

    def change(events: list[Event]) -> list[Event]:
        out: list[Event] = []
        at = STARTED_AT
        for event in events:
            if isinstance(event, Step) and event.ended_at is not None:
                while at < event.ended_at:
                    out.append(_reading(at, util, state) if event.step >= ONSET else _reading(at, 90.0, "ok"))
                    at += GPU_LOOK_S
            out.append(event)
        return out

    return change


def _reading(at: float, util: float, state: GpuState) -> GpuSample:
    gpus = [Gpu(index=n, util=util, state=state if n == 0 else "ok") for n in range(GPUS)]
    return GpuSample(at=at, backend="made-up", gpus=tuple(gpus))


def _slower(events: list[Event]) -> list[Event]:
    """Steps take twice as long."""
    out: list[Event] = []
    late_s = 0.0
    for event in events:
        if isinstance(event, Step) and event.ended_at is not None and event.duration_s is not None:
            more_s = event.duration_s if event.step >= ONSET else 0.0
            late_s += more_s
            event = event.model_copy(
                update={"ended_at": event.ended_at + late_s, "duration_s": event.duration_s + more_s}
            )
        out.append(event)
    return out


def _on_tinker(events: list[Event]) -> list[Event]:
    """The run at a provider whose prices change while step ONSET runs."""
    steps = [event for event in events if isinstance(event, Step)]
    change_at = datetime.fromisoformat(NEW_PRICES).replace(tzinfo=UTC).timestamp()
    shift_s = change_at - (steps[ONSET - 2].ended_at or 0.0) - 1.0
    out: list[Event] = []
    for event in events:
        if isinstance(event, RunInfo):
            event = RunInfo(
                framework="tinker",
                platform="tinker",
                model="Qwen/Qwen3-8B",
                first_step=event.first_step,
                total_steps=event.total_steps,
                started_at=STARTED_AT + shift_s,
            )
        elif isinstance(event, Step):
            total = event.total_tokens or 0.0
            told = {"sampled_tokens": 0.7 * total, "prefill_tokens": 0.3 * total, "trained_tokens": total}
            event = event.model_copy(update={**told, "ended_at": (event.ended_at or 0.0) + shift_s})
        out.append(event)
    return out


def _cut_mfu(events: list[Event]) -> list[Event]:
    return [
        event.model_copy(update={"raw": {**event.raw, "perf/mfu/actor": 0.0}})
        if isinstance(event, Step) and event.step >= ONSET
        else event
        for event in events
    ]


def _due(events: list[Event], settings: Settings) -> Settings:
    """A deadline a quarter later than the healthy run ends."""
    ended_at = max(event.ended_at or 0.0 for event in events if isinstance(event, Step))
    due_at = STARTED_AT + 1.25 * (ended_at - STARTED_AT)
    return settings.model_copy(update={"deadline": datetime.fromtimestamp(due_at, UTC)})


def _paid(events: list[Event], settings: Settings) -> Settings:
    """A budget a quarter above what the healthy run costs."""
    hours = sum(event.duration_s or 0.0 for event in events if isinstance(event, Step)) / 3600
    return settings.model_copy(
        update={"budget_usd": 1.25 * GPUS * hours * (settings.usd_per_gpu_hour or 0.0)}
    )


def _as_paid_by_tokens(events: list[Event], settings: Settings) -> Settings:
    return Settings()


HAPPENINGS: tuple[Happening, ...] = (
    Happening("the run crashes", "crash", _crash),
    Happening(
        "out of memory", "oom", _after(lambda at: [LogLine(text="CUDA out of memory", topic="oom", at=at)])
    ),
    Happening("a GPU is lost", "gpu_lost", _gpus(90.0, "lost")),
    Happening(
        "the provider pauses the run",
        "provider_pause",
        _after(lambda at: [LogLine(text="paused for capacity", topic="capacity", at=at)]),
    ),
    Happening("steps twice as slow, budget 1.25 × the cost", "budget", _slower, _paid),
    Happening("steps twice as slow, deadline at 1.25 × the time", "deadline", _slower, _due),
    Happening("the provider's prices go up by half", "price_change", _on_tinker, _as_paid_by_tokens),
    Happening("all GPUs idle", "gpu_idle", _gpus(1.0, "ok")),
    Happening("a GPU is throttled", "gpu_throttled", _gpus(90.0, "throttled")),
    Happening("MFU logged as 0", "metric_unreliable", _cut_mfu),
)
