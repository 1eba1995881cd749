"""The only module that reads a clock. Everything else is handed `now` or a Clock."""

import time
from typing import Protocol


class Clock(Protocol):
    """Where time comes from."""

    def now(self) -> float:
        """Unix seconds."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait for `seconds` of this clock's time."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> float:
        return time.time()

    async def sleep(self, seconds: float) -> None:
        import asyncio  # 25 ms, which `check` does without

        await asyncio.sleep(seconds)


class FakeClock:
    """A clock that only sleeping moves, so that nothing ever waits."""

    def __init__(self, now: float = 1_700_000_000.0) -> None:
        self._now = now

    def now(self) -> float:
        return self._now

    async def sleep(self, seconds: float) -> None:
        import asyncio

        self._now += seconds
        await asyncio.sleep(0)
