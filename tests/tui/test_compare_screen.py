"""Two runs side by side on the screen: the demo of the same task on Tinker and on GPUs."""

import asyncio
from collections.abc import Callable, Sequence

import pytest
from textual.pilot import Pilot

from rltop.models.comparison import Measure
from rltop.monitor.frame import Frame
from rltop.tui.compareapp import CompareApp

from . import demos


class Runs:
    """Publishes its frames at once."""

    names: Sequence[str] = ("math-tinker", "math-verl")

    def __init__(self, *frames: Frame) -> None:
        self._frames = frames

    async def run(self, publish: Callable[[Sequence[Frame]], None]) -> None:
        publish(self._frames)
        await asyncio.Event().wait()


def both() -> Runs:
    return Runs(demos.at_step("math-tinker", 60), demos.at_step("math-verl", 35))


def words_on(app: CompareApp) -> str:
    strips = app.screen._compositor.render_strips()  # pyright: ignore[reportPrivateUsage]
    return "\n".join(strip.text for strip in strips)


async def until(pilot: Pilot[None], app: CompareApp, *words: str) -> str:
    for _ in range(100):
        await pilot.pause(0.02)
        text = words_on(app)
        if all(word in text for word in words):
            return text
    raise AssertionError(f"never on screen together: {words}\n{words_on(app)}")


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 50)])
async def test_both_runs_are_named_with_their_dollars(size: tuple[int, int]) -> None:
    app = CompareApp(both())
    async with app.run_test(size=size) as pilot:
        text = await until(pilot, app, "A ━━ math-tinker", "B ━━ math-verl")
        assert "$46.54" in text
        assert len({len(line) for line in text.splitlines()}) == 1


async def test_four_runs_stand_below_each_other_where_a_figure_would_be_cut() -> None:
    runs = Runs(*(demos.at_step("math-tinker", step) for step in (20, 30, 40, 60)))
    runs.names = ("one", "two", "three", "four")
    app = CompareApp(runs)
    async with app.run_test(size=(120, 90)) as pilot:
        text = await until(pilot, app, "NOW  ", "AT 21 steps done")
        (line,) = (line for line in text.splitlines() if "AT 21 steps done" in line)
        assert line.split() == ["AT", "21", "steps", "done", "A", "B", "C", "D"]
        assert "…" not in text[text.index("NOW  ") :]


async def test_the_crosshair_tells_the_values_of_both() -> None:
    app = CompareApp(both())
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, app, "REWARD")
        await pilot.press("left_square_bracket", *["left_curly_bracket"] * 5)
        text = await until(pilot, app, "COST  ", "◆")
        line = next(line for line in text.splitlines() if "COST  " in line)
        assert "26 done" in line
        assert "A $10.35" in line
        assert "B $27.24" in line


@pytest.mark.parametrize(("keys", "by"), [((), "step"), (("x",), "time"), (("x", "x", "x"), "dollars")])
async def test_the_runs_are_aligned_by_the_measure_chosen(keys: tuple[str, ...], by: Measure) -> None:
    app = CompareApp(both())
    async with app.run_test(size=(200, 50)) as pilot:
        await until(pilot, app, "NOW")
        await pilot.press(*keys)
        await until(
            pilot, app, f"by {by}", {"step": "AT 35 steps done", "time": "AT 1 h", "dollars": "AT $"}[by]
        )


async def test_help_has_the_keys_of_the_comparison_and_no_screens_of_a_run() -> None:
    app = CompareApp(both())
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, app, "NOW")
        await pilot.press("question_mark")
        text = await until(pilot, app, "aligned by step, time, tokens or dollars")
        assert "the bill" not in text
