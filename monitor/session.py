"""A live run: polls sources, feeds the pipeline, publishes frames."""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Literal, TypeVar

from ..models.event import Event, NewRun, SourceStatus
from ..models.settings import Settings
from .anew import Make, fed
from .clock import Clock
from .frame import Frame
from .money.book import Book
from .pipeline import Pipeline
from .reader import Reader
from .recorder import Recorder
from .source import Source
from .status import LEFT_S, last_sign_of_life

POLL_S = 0.5
"""Pause between looks at the files. Steps take seconds to minutes; NFS has no cheaper way."""
TICK_S = 1.0
"""With nothing new, a frame is made this often, for what depends on the time alone."""
BATCH, LARGEST_BATCH = 256, 2048
"""Events folded between two looks at the screen while a long log is caught up with: first few, for an early
picture, then more, since a picture costs as much as a hundred events.
"""
Answer = TypeVar("Answer")
Looked = Literal["nothing", "news", "more", "waiting"]
"""What a look at a run gave: nothing new, all that is new, part of it, or nothing yet of what will come."""


class Session:
    """Follows one run until it is cancelled or, where `until_ended`, until nothing more can come."""

    control = None
    """A live run cannot be steered."""

    def __init__(
        self,
        sources: Sequence[Source],
        pipeline: Pipeline,
        clock: Clock,
        recorder: Recorder | None = None,
        until_ended: bool = False,
        make: Make | None = None,
    ) -> None:
        """`make` is what makes an empty pipeline: for another run, where one takes the place of the first."""
        self.pipeline = pipeline
        self._make = make or _with_built_in_prices
        self._sources = sources
        self._clock = clock
        self._recorder = recorder
        self._until_ended = until_ended
        self._unfed: deque[Event] = deque()
        """Read, and still to be folded."""
        self._more = False

    async def run(self, publish: Callable[[Frame], None]) -> None:
        """Publish a frame whenever something is new, and one a second otherwise.

        Where it ends with the run, the last frame is the end state, with all that was held back.
        """
        try:
            await self._follow(publish)
        finally:
            self._close()
        publish(self._whole())

    async def _follow(self, publish: Callable[[Frame], None]) -> None:
        ticked_at = float("-inf")
        batch = BATCH
        while True:
            more = await in_thread(self._read)
            now = self._clock.now()
            if self._unfed or now - ticked_at >= TICK_S:
                behind = True
                while behind:
                    behind = more or len(self._unfed) > batch
                    frame = await in_thread(partial(self._fold, batch, behind))
                    if self._until_ended and not behind and self._over(now):
                        return
                    publish(frame)
                    batch = min(2 * batch, LARGEST_BATCH) if behind else BATCH
                    behind = bool(self._unfed)
                ticked_at = now
            if not more:
                await self._clock.sleep(POLL_S)

    def look(self) -> Looked:
        """Read, and fold one batch of what was read, without waiting for anything."""
        if not self._unfed:
            self._more = self._read()
        if self._unfed:
            self._feed_batch(BATCH)
            return "more" if self._more or self._unfed else "news"
        return "waiting" if self._more else "nothing"

    def over(self, now: float) -> bool:
        """Whether nothing more is to be expected of the run."""
        return self._over(now)

    def end(self) -> Frame:
        """Take what there is as all there will be, let go of all files, and give the last frame."""
        self._close()
        return self._whole()

    def _read(self) -> bool:
        """Poll, and keep the events until they are folded; whether more lies waiting already."""
        events, more = self.poll()
        self._unfed.extend(events)
        return more

    def poll(self) -> tuple[list[Event], bool]:
        """Events since the last poll, and whether more lies waiting already."""
        now = self._clock.now()
        events = [event for source in self._sources for event in source.poll(now)]
        # How reading goes comes first: a file's date decides which prices hold for all that is in it.
        return [event for run in _runs(events) for event in run], any(source.more for source in self._sources)

    def read_all(self) -> Frame:
        """Read what there is, take it as all there will be, and give the one frame of it."""
        more = True
        while more:
            events, more = self.poll()
            self._feed(events)
        self._close()
        return self._whole()

    def _whole(self) -> Frame:
        """The frame of all that has been read, taken as all there will be."""
        now = self._clock.now()
        self.pipeline.close(now)
        return self.pipeline.frame(now)

    def _close(self) -> None:
        """Take what the sources held back, and let go of all files."""
        if self._recorder is not None:
            self._feed(self._unfed)  # what was read is recorded, even where nobody will see it folded
        self._unfed.clear()
        for source in self._sources:
            self._feed(source.close())
        if self._recorder is not None:
            self._recorder.close()

    def _over(self, now: float) -> bool:
        """Whether the run has ended, or everything that it could still say has been read."""
        state = self.pipeline.state
        # What stood for a target that had still to come says nothing once that is there.
        sources = state.sources.values()
        told = [source for source in sources if source.source != "pending"] or sources
        all_ended = bool(sources) and all(source.state == "ended" for source in told)
        alive_at = last_sign_of_life(state)
        left = alive_at is not None and now - alive_at > LEFT_S
        silent = all(isinstance(source, Reader) and source.over for source in self._sources)
        return all_ended or silent or left or state.ended is not None

    def _fold(self, batch: int, behind: bool) -> Frame:
        """Fold a batch of what was read."""
        self._feed_batch(batch)
        return self.pipeline.frame(self._clock.now(), behind=behind)

    def _feed_batch(self, most: int) -> None:
        self._feed([self._unfed.popleft() for _ in range(min(most, len(self._unfed)))])

    def _feed(self, events: Iterable[Event]) -> None:
        now = self._clock.now()
        for event in events:
            self.pipeline = fed(self.pipeline, event, now, self._make)
            if self._recorder is not None:
                self._record(self._recorder, event, now)

    def _record(self, recorder: Recorder, event: Event, now: float) -> None:
        """Record an event; a recording that fails is told of once, and the run goes on."""
        if recorder.state == "failed":
            return
        recorder.write(event, now)
        if recorder.state == "failed":
            lost = SourceStatus(
                source="recording",
                path=recorder.path,
                state="lost",
                reason=f"{recorder.path}: {recorder.reason}",
            )
            self.pipeline.feed(lost, now)


def _runs(events: Iterable[Event]) -> list[list[Event]]:
    """The events of each run, those of how reading goes first; but for the first, it begins with a NewRun."""
    runs: list[list[Event]] = [[]]
    for event in events:
        if isinstance(event, NewRun):
            runs.append([])
        runs[-1].append(event)
    return [sorted(run, key=_turn) for run in runs]


def _turn(event: Event) -> int:
    return 0 if isinstance(event, NewRun) else 1 if isinstance(event, SourceStatus) else 2


def _with_built_in_prices(settings: Settings) -> Pipeline:
    return Pipeline(settings, Book.load())


async def in_thread(work: Callable[[], Answer]) -> Answer:
    """What `work` gives, done in a thread. Cancelled, this waits until the thread has let go of the files."""
    import asyncio  # 25 ms, which `read_all` does without

    job = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(job)
    except asyncio.CancelledError:
        await asyncio.wait([job])
        raise
