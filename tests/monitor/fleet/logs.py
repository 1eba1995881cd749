"""Logs made by hand, which tell their events when they are asked, a few at a time where a test wants that."""

from collections.abc import Sequence
from random import Random

from rltop.models.event import Event, SourceStatus
from rltop.models.run import RunInfo
from rltop.models.settings import Settings
from rltop.models.step import Step
from rltop.monitor.clock import FakeClock
from rltop.monitor.fleet.joined import Joined
from rltop.monitor.fleet.member import Member
from rltop.monitor.frame import Frame
from rltop.monitor.money.book import Book
from rltop.monitor.pipeline import Pipeline
from rltop.monitor.source import Source

ENDED_AT = 1_767_000_000.0


class Log:
    """A source over a list; each poll gives the next slice of it."""

    def __init__(self, name: str, *slices: Sequence[Event]) -> None:
        status = SourceStatus(source=name, path=name, modified_at=ENDED_AT)
        self._slices = [[status, *slices[0]], *slices[1:]] if slices else [[status]]
        self.more = False
        self.closed = False

    def poll(self, now: float) -> list[Event]:
        return list(self._slices.pop(0)) if self._slices else []

    def close(self) -> list[Event]:
        self.closed = True
        return []


def joined(first: Source, *others: Source, said: bool = False) -> Joined:
    """Logs joined under the names `first`, `log1`, `log2` …"""
    members = [Member(f"log{index}", [other]) for index, other in enumerate(others, start=1)]
    return Joined(Member("first", [first]), lambda _: members, said=said)


def watched(source: Source, settings: Settings | None = None, looks: int = 1) -> Frame:
    """The run that a source tells, after so many looks at it."""
    pipeline, clock = Pipeline(settings or Settings(), Book.load()), FakeClock(ENDED_AT + 60)
    for _ in range(looks):
        for event in source.poll(clock.now()):
            pipeline.feed(event, clock.now())
        pipeline.frame(clock.now())
    for event in source.close():
        pipeline.feed(event, clock.now())
    pipeline.close(clock.now())
    return pipeline.frame(clock.now())


TINKER = RunInfo(framework="tinker", platform="tinker", model="Qwen/Qwen3-8B", total_steps=40, first_step=0)
VERL = RunInfo(
    framework="verl", platform="self-hosted", gpus=8, gpu_type="H100", total_steps=40, first_step=1
)
CLUSTER = Settings(usd_per_gpu_hour=3.0)


def steps_of(seed: int, count: int, start: int = 1) -> list[Step]:
    """Steps of one run: the same seed is the same run."""
    random = Random(seed)
    steps: list[Step] = []
    at = ENDED_AT - 4000.0
    for number in range(start, start + count):
        seconds, length = random.uniform(40, 90), random.uniform(300, 900)
        at += seconds
        steps.append(
            Step(
                step=number,
                ended_at=at,
                duration_s=seconds,
                phases={"generate": seconds * 0.4, "update": seconds * 0.5},
                sampled_tokens=round(length * 512),
                prefill_tokens=60_000.0,
                trained_tokens=round(length * 512) + 60_000.0,
                response_length_mean=length,
                reward_mean=random.uniform(0.2, 0.9),
                entropy=random.uniform(0.1, 0.6),
                kl=random.uniform(0.001, 0.02),
                raw={
                    "actor/entropy": random.random(),
                    "grad": random.random(),
                    "loss": random.uniform(-1, 1),
                },
            )
        )
    return steps


def part(step: Step, *fields: str) -> Step:
    """A step with some of its fields alone, all the log's own numbers among them."""
    told = {name: getattr(step, name) for name in ("step", "attempt", "raw", *fields)}
    return Step.model_validate(told)
