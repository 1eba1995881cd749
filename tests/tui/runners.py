"""Runners that publish what a test gives them, and the reading of what is on screen."""

import asyncio
from collections.abc import Callable

from textual.pilot import Pilot

from rltop.monitor.frame import Frame
from rltop.tui.app import RltopApp
from rltop.tui.runner import ReplayControl


class Frames:
    """Publishes its frames at once, then waits to be cancelled, as a live session does."""

    def __init__(self, *frames: Frame, control: ReplayControl | None = None) -> None:
        self._frames = frames
        self.control = control
        self.cancelled = False

    async def run(self, publish: Callable[[Frame], None]) -> None:
        for frame in self._frames:
            publish(frame)
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled = True
            raise


class Failing:
    """Publishes its frames, then fails."""

    control = None

    def __init__(self, *frames: Frame) -> None:
        self._frames = frames

    async def run(self, publish: Callable[[Frame], None]) -> None:
        for frame in self._frames:
            publish(frame)
        raise OSError("the disk went away\nand more that nobody wants to read")


class Keyboard:
    """A replay control that notes what it was asked to do."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def toggle_pause(self) -> None:
        self.asked.append("pause")

    def faster(self) -> None:
        self.asked.append("faster")

    def slower(self) -> None:
        self.asked.append("slower")

    def step(self, count: int) -> None:
        self.asked.append(f"step {count}")

    def seek(self, fraction: float) -> None:
        self.asked.append(f"seek {fraction:.2f}")

    def seek_step(self, step: int) -> None:
        self.asked.append(f"seek step {step}")

    def seek_time(self, at: float) -> None:
        self.asked.append(f"seek time {at:.0f}")

    def next_alert(self, direction: int) -> None:
        self.asked.append(f"alert {direction}")


def screen_lines(app: RltopApp) -> list[str]:
    """What a user reads, a string a row."""
    # Textual offers the screen as a picture only; its compositor has the text of each row.
    strips = app.screen._compositor.render_strips()  # pyright: ignore[reportPrivateUsage]
    return [strip.text for strip in strips]


async def until(pilot: Pilot[None], app: RltopApp, *words: str) -> str:
    """Wait until all the words are on screen; the screen's text. Fails with that text after five seconds."""
    text = ""
    for _ in range(100):
        await pilot.pause()
        text = "\n".join(screen_lines(app))
        if all(word in text for word in words):
            return text
        await pilot.pause(0.05)
    raise AssertionError(f"never on screen together: {words}\n{text}")
