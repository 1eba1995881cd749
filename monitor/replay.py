"""A finished run played back: the same pipeline as live, fed by run time instead of by a file."""

import asyncio
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Self

from ..models.alert import Severity
from ..models.event import Step
from .anew import fed
from .clock import Clock
from .frame import Frame, ReplayPosition
from .pipeline import Pipeline
from .status import MIN_SILENCE_S, patience_s
from .timeline import Timed, first_step_at

FRAME_S = 0.1
"""Pause between two looks at the clock."""
SPEEDS = (1.0, 2.0, 5.0, 10.0, 20.0, 60.0, 120.0, 300.0, 600.0, 1000.0)


class ReplaySession:
    """Plays a timeline; can be paused, sped up, stepped and sought. Seeking back folds a prefix anew.

    `make` builds an empty pipeline, so that what is shown after a seek is what was known then.
    """

    def __init__(
        self,
        timed: Sequence[Timed],
        make: Callable[[], Pipeline],
        clock: Clock,
        speed: float = 60.0,
        from_step: int | None = None,
        paused: bool = False,
    ) -> None:
        self._timed = timed
        self._make = make
        self.clock = clock
        self._pipeline = make()
        self._index = 0
        self._speed = speed
        self._paused = paused
        self._steps = [index for index, item in enumerate(timed) if isinstance(item.event, Step)]
        told = (item.event.step for item in timed if isinstance(item.event, Step))
        self._reached = list(accumulate(told, max))
        """The highest step number told, by each step of `_steps`: a restart does not lower it."""
        self._at = first_step_at(timed) if from_step is None else 0.0
        self._target: int | None = None
        """Where a key has asked to go: events given, of all."""
        self._looking = False
        """A key has asked for the next alert, which is yet to be found."""
        self._marks: dict[int, Severity] = {}
        """Raised alerts by the number of events given; kept over seeks, as what the watcher has met."""
        if from_step is not None:
            self._target = self._index_of_step(from_step)

    @property
    def control(self) -> Self:
        """What the keys act on."""
        return self

    @property
    def ended(self) -> bool:
        """Whether the last event has been given."""
        return self._index >= len(self._timed)

    async def run(self, publish: Callable[[Frame], None]) -> None:
        """Play until cancelled; at the end the last frame stays."""
        read_at = self.clock.now()
        shown: tuple[int, bool, float] | None = None
        while True:
            now = self.clock.now()
            if self._target is not None or self._looking:
                await asyncio.to_thread(self.go)
            elif not self._paused and not self.ended:
                self._at += (now - read_at) * self._speed
                await asyncio.to_thread(self._play_to, self._at)
            read_at = now
            looks = (self._index, self._paused, self._speed)
            if looks != shown:
                publish(self.frame())
                shown = looks
            await self.clock.sleep(FRAME_S)

    def go(self) -> None:
        """Go where the last key asked to; nowhere when none did."""
        if self._looking:
            self._looking = False
            self._target = self._look_ahead()
        if self._target is not None:
            target, self._target = self._target, None
            self._go(target)

    def frame(self) -> Frame:
        """The run as it was known at the present position."""
        frame = self._pipeline.frame(self._now())
        for alert in frame.alerts:
            if alert.cleared_step is None:
                self._marks.setdefault(self._index_of_step(alert.step), alert.severity)
        return replace(frame, replay=self._position())

    def play_all(self) -> Frame:
        """Give every event at once."""
        self._go(len(self._timed))
        return self.frame()

    def step_frames(self, publish: Callable[[Frame], None]) -> None:
        """Publish one frame a step, without waiting: replay as lines."""
        if self._target is not None:
            self.go()
            publish(self.frame())
        for index in self._steps:
            if index >= self._index:
                self._go(index + 1)
                publish(self.frame())
        self._go(len(self._timed))
        publish(self.frame())

    # What the keys do. Each is cheap: the work is done by `run`.

    def toggle_pause(self) -> None:
        """Pause, or go on; at the end, start again."""
        if self.ended:
            self._target = 0
            self._paused = False
        else:
            self._paused = not self._paused

    def faster(self) -> None:
        """The next higher speed."""
        self._speed = next((speed for speed in SPEEDS if speed > self._speed), SPEEDS[-1])

    def slower(self) -> None:
        """The next lower speed."""
        self._speed = next((speed for speed in reversed(SPEEDS) if speed < self._speed), SPEEDS[0])

    def step(self, count: int) -> None:
        """Go `count` steps forward, or back when negative, and pause."""
        self._paused = True
        done = sum(1 for index in self._steps if index < self._index)
        wanted = min(max(done + count, 0), len(self._steps))
        self._target = self._steps[wanted - 1] + 1 if wanted else 0

    def seek(self, fraction: float) -> None:
        """Go to a place between 0, the start, and 1, the end."""
        self._target = round(min(max(fraction, 0.0), 1.0) * len(self._timed))

    def seek_step(self, step: int) -> None:
        """Go to where all of this step has been told, and none of the next; the end, where none has."""
        self._paused = True
        place = bisect_right(self._reached, step)
        self._target = self._steps[place] if place < len(self._steps) else len(self._timed)

    def seek_time(self, at: float) -> None:
        """Go to a moment of the run, unix seconds: all that had been told by then."""
        self._paused = True
        self._target = bisect_right(self._timed, at, key=lambda item: item.at)

    def next_alert(self, direction: int) -> None:
        """Go to the next alert (1), looking ahead through the run, or back to the one before (-1)."""
        self._paused = True
        if direction < 0:
            self._target = max((i for i in self._marks if i < self._index), default=0)
        else:
            self._looking = True

    def _look_ahead(self) -> int:
        """Where the next alert is raised: found by playing on in a pipeline of its own."""
        scout = self._make()
        known = 0
        for index, item in enumerate(self._timed):
            scout = self._watched(scout, index)
            if index < self._index - 1 or not isinstance(item.event, Step):
                continue
            alerts = scout.frame(item.at).alerts
            # One that becomes critical is news too.
            raised = len(alerts) + sum(alert.severity == "critical" for alert in alerts)
            if index >= self._index and raised > known:
                return index + 1
            known = max(known, raised)
        return len(self._timed)

    def _go(self, target: int) -> None:
        if target < self._index:
            self._pipeline = self._make()
            self._index = 0
        for index in range(self._index, target):
            self._pipeline = self._watched(self._pipeline, index)
        self._index = max(self._index, target)
        self._settle()
        self._at = self._timed[target - 1].at if target else first_step_at(self._timed)

    def _play_to(self, at: float) -> None:
        while self._index < len(self._timed) and self._timed[self._index].at <= at:
            self._pipeline = self._watched(self._pipeline, self._index)
            self._index += 1
        self._settle()

    def _watched(self, pipeline: Pipeline, index: int) -> Pipeline:
        """The pipeline with one more event, which a watcher may have waited for long enough to be worried."""
        item = self._timed[index]
        silent_s = item.at - self._timed[index - 1].at if index else 0.0
        if silent_s > MIN_SILENCE_S and silent_s > patience_s(pipeline.state):
            pipeline.frame(item.at)  # the last of the looks that a live run has while nothing comes
        return fed(pipeline, item.event, item.at, lambda _: self._make())

    def _settle(self) -> None:
        if self.ended:
            self._pipeline.close(self._now())

    def _now(self) -> float:
        """Run time: it stands still when the last event has been given."""
        last = self._timed[-1].at if self._timed else 0.0
        return min(self._at, last)

    def _index_of_step(self, step: int) -> int:
        """Events given once this step, or the first one after it, has been told."""
        place = bisect_left(self._reached, step)
        return self._steps[place] + 1 if place < len(self._steps) else len(self._timed)

    def _position(self) -> ReplayPosition:
        total = max(len(self._timed), 1)
        last = self._pipeline.state.last_row
        return ReplayPosition(
            index=self._index,
            total=len(self._timed),
            step=last.step if last else None,
            speed=self._speed,
            paused=self._paused,
            at=self._now(),
            marks=tuple((index / total, severity) for index, severity in sorted(self._marks.items())),
        )
