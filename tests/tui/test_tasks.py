"""What a user sets out to do, done with keys on a real replay and on live frames."""

import re
from dataclasses import replace

import pytest

from rltop.monitor.clock import SystemClock
from rltop.monitor.frame import Other
from rltop.monitor.money.book import Book
from rltop.monitor.pipeline import Pipeline
from rltop.monitor.replay import ReplaySession
from rltop.monitor.timeline import timeline
from rltop.tui.app import RltopApp
from rltop.tui.themes import LIGHT

from . import demos, frames
from .runners import Frames, screen_lines, until


def replay_of(run: str) -> ReplaySession:
    timed = timeline(demos.events_of(run), demos.ENDED_AT)
    settings = demos.KNOWN[run]
    return ReplaySession(
        timed, lambda: Pipeline(settings, Book.load(), priced_at=demos.ENDED_AT), SystemClock(), paused=True
    )


def position(app: RltopApp) -> int:
    """The step that the replay stands at."""
    found = re.search(r"step (\d+)/94", "\n".join(screen_lines(app)))
    return int(found.group(1)) if found else -1


async def test_find_what_it_will_cost_and_what_would_be_cheaper() -> None:
    app = RltopApp(Frames(demos.at_step("math-verl", 35)))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, app, "at the end")
        await pilot.press("2")
        text = await until(pilot, app, "WHAT IF", "AT THE END, AS KNOWN THEN")
        line = next(line for line in text.splitlines() if "the same tokens on Tinker" in line)
        assert "$12.77" in line


async def test_find_the_first_critical_alert_and_look_at_its_step() -> None:
    app = RltopApp(replay_of("math-verl"))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, app, "paused")
        for _ in range(8):
            before = position(app)
            await pilot.press("n")
            while position(app) == before:
                await pilot.pause(0.02)
            if "✖" in "\n".join(screen_lines(app)):
                break
        first = position(app)
        await until(pilot, app, "✖ length", f"step {first}/94")
        await pilot.press("end")
        await until(pilot, app, "step 35/94")
        await pilot.press("colon", *str(first), "enter")
        await until(pilot, app, f"step {first}/94", "✖ length")


async def test_seek_by_step_and_by_share() -> None:
    app = RltopApp(replay_of("math-verl"))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, app, "paused")
        await pilot.press("colon", *"20", "enter")
        await until(pilot, app, "step 20/94")
        await pilot.press("colon", *"100%", "enter")
        await until(pilot, app, "step 35/94")


@pytest.mark.parametrize("screen", ["2", "3", "4", "5"])
async def test_the_screens_are_legible_in_ascii(screen: str) -> None:
    app = RltopApp(Frames(demos.at_step("math-verl", 35)), ascii_only=True)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, app, "math-verl")
        await pilot.press(screen, "enter", "left_square_bracket")
        await pilot.pause()
        assert "\n".join(screen_lines(app)).isascii()


async def test_in_a_light_theme_the_marks_keep_their_signs() -> None:
    app = RltopApp(Frames(demos.at_step("math-verl", 35)), theme=LIGHT.name)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, app, "math-verl")
        await pilot.press("4")
        await until(pilot, app, "▿", "✖", "▲")


async def test_g_and_a_letter_choose_a_chart() -> None:
    app = RltopApp(Frames(demos.at_step("math-verl", 35)))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, app, "math-verl")
        await pilot.press("4", "g")
        await until(pilot, app, " a ", " f ")
        await pilot.press("c", "f")
        text = await until(pilot, app, "KL")
        assert "ENTROPY" not in text


async def test_the_config_is_held_against_another_run() -> None:
    other = Other("math-tinker", demos.at_step("math-tinker", 5).info)
    app = RltopApp(Frames(replace(demos.at_step("math-verl", 35), other=other)))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, app, "math-verl")
        await pilot.press("9")
        text = await until(pilot, app, "AGAINST math-tinker")
        line = next(line for line in text.splitlines() if line.strip().startswith("platform"))
        assert line.split() == ["platform", "self-hosted", "tinker"]


async def test_without_another_run_the_config_says_how_to_give_one() -> None:
    app = RltopApp(Frames(frames.verl()))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, app, "math-4b")
        await pilot.press("9")
        await until(pilot, app, "--against")
