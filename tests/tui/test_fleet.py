"""What a user does with many runs on the screen."""

import pytest

from rltop.monitor.fleet.frame import Scan
from rltop.tui.app import RltopApp

from . import frames
from .fleets import ROWS, Fleets, Opening, fleet, many
from .runners import screen_lines, until


def app_of(fleets: Fleets, ascii_only: bool = False) -> RltopApp:
    return RltopApp(Opening(fleets), ascii_only=ascii_only)


def order_of(text: str, *names: str) -> list[str]:
    return sorted(names, key=text.index)


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (200, 50)])
async def test_what_matters_of_each_run_is_there_at_every_size(size: tuple[int, int]) -> None:
    app = app_of(Fleets(fleet()))
    async with app.run_test(size=size) as pilot:
        text = await until(pilot, app, "math-4b-grpo", "gsm8k-tinker", "theirs")
    for answer in ("7 runs · 2 running", "so far", "at the end", "$46.12", "→ $233", "1 376", "✖ 3", "▲ 2"):
        assert answer in text, answer
    assert all(len(line) == size[0] for line in text.splitlines())


@pytest.mark.parametrize("size", [(20, 5), (40, 10), (60, 15), (79, 23), (99, 30), (159, 24), (300, 80)])
async def test_any_size_will_do(size: tuple[int, int]) -> None:
    app = app_of(Fleets(fleet(many(30))))
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        assert app.is_running


async def test_open_the_fleet_sort_by_cost_filter_open_a_run_and_come_back() -> None:
    fleets = Fleets(fleet())
    app = app_of(fleets)
    async with app.run_test(size=(120, 40)) as pilot:
        text = await until(pilot, app, "math-4b-grpo")
        assert order_of(text, "math-4b-grpo", "swe-rl-32b", "ppo-7b")[0] == "math-4b-grpo"
        await pilot.press("c")
        text = await until(pilot, app, "by cost")
        assert order_of(text, "math-4b-grpo", "swe-rl-32b", "ppo-7b")[0] == "swe-rl-32b"
        await pilot.press("slash", *"alert:critical", "enter")
        text = await until(pilot, app, "2 of 7 shown")
        assert "gsm8k-tinker" not in text
        await pilot.press("enter")
        await until(pilot, app, "COST", "step 35/94")
        assert fleets.asked == ["runs/math/math-4b-grpo"]
        await pilot.press("7")
        await until(pilot, app, "ACTIVE")
        await pilot.press("escape")
        await until(pilot, app, "COST")
        await pilot.press("escape")
        text = await until(pilot, app, "2 of 7 shown")
        assert fleets.opened[0].cancelled
        await pilot.press("escape")
        await until(pilot, app, "gsm8k-tinker")


async def test_another_run_shows_nothing_of_the_one_before() -> None:
    runs = {ROWS[0].id: frames.verl(), ROWS[1].id: frames.tinker()}
    app = app_of(Fleets(fleet(), runs=runs))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, app, "math-4b-grpo")
        await pilot.press("enter")
        await until(pilot, app, "step 35/94")
        await pilot.press("4")
        await until(pilot, app, "REWARD")
        await pilot.press("escape", "escape", "down", "enter")
        text = await until(pilot, app, "step 41/59")
        assert "math-4b-grpo" not in text
        await pilot.press("4")
        text = await until(pilot, app, "REWARD", "step 41/59")
        assert "math-4b-grpo" not in text


async def test_a_click_opens_a_run_and_a_click_on_a_title_orders() -> None:
    fleets = Fleets(fleet())
    app = app_of(fleets)
    async with app.run_test(size=(120, 40)) as pilot:
        text = await until(pilot, app, "swe-rl-32b")
        lines = text.splitlines()
        top = next(index for index, line in enumerate(lines) if " run " in line)
        await pilot.click("#fleet-table", offset=(lines[top].index("so far"), 0))
        await until(pilot, app, "by cost")
        lines = screen_lines(app)
        here = next(index for index, line in enumerate(lines) if "gsm8k-tinker" in line)
        await pilot.click("#fleet-table", offset=(6, here - top))
        await until(pilot, app, "COST")
    assert fleets.asked == ["runs/gsm8k-tinker"]


async def test_a_word_of_the_filter_that_means_nothing_is_named_and_the_runs_stay() -> None:
    app = app_of(Fleets(fleet()))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, app, "swe-rl-32b")
        await pilot.press("slash", *"cots>5")
        text = await until(pilot, app, "no quantity cots; there are cost, end")
        assert "swe-rl-32b" in text


async def test_runs_can_be_grouped_by_project_each_with_its_sum() -> None:
    app = app_of(Fleets(fleet()))
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, app, "swe-rl-32b")
        await pilot.press("g")
        text = await until(pilot, app, "3 runs · $89.60 → $276")
        assert text.index("3 runs") < text.index("math-4b-grpo") < text.index("math-4b-tinker")
        await pilot.press("g")
        await pilot.pause()
        assert "3 runs ·" not in "\n".join(screen_lines(app))


async def test_the_cursor_stays_on_its_run_when_others_come_and_go() -> None:
    fleets = Fleets(fleet())
    app = app_of(fleets)
    async with app.run_test(size=(120, 40)) as pilot:
        await until(pilot, app, "swe-rl-32b")
        await pilot.press("down", "down")
        newer = ROWS[3].model_copy(update={"id": "new", "name": "brand-new", "modified_at": frames.NOW})
        app.publish_fleet(fleet((newer, *ROWS)))
        text = await until(pilot, app, "brand-new")
        assert any("▶" in line and "swe-rl-32b" in line for line in text.splitlines())


async def test_two_hundred_runs_scroll_with_the_cursor() -> None:
    app = app_of(Fleets(fleet(many(200))))
    async with app.run_test(size=(80, 24)) as pilot:
        text = await until(pilot, app, "run-000")
        assert "run-100" not in text
        await pilot.press("end")
        text = await until(pilot, app, "run-199")
        assert "run-000" not in text
        await pilot.press("home")
        await until(pilot, app, "run-000")
        await pilot.press(*["pagedown"] * 3)
        await until(pilot, app, "run-051")


async def test_an_only_run_is_opened_by_itself_and_escape_shows_the_list() -> None:
    fleets = Fleets(fleet(ROWS[1:2]))
    app = app_of(fleets)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, app, "COST")
        await pilot.press("escape")
        await until(pilot, app, "1 run · 1 running")
        app.publish_fleet(fleet(ROWS[1:2]))
        await pilot.pause()
        assert "COST" not in "\n".join(screen_lines(app))
    assert fleets.asked == ["runs/gsm8k-tinker"]


async def test_an_empty_fleet_says_what_it_looked_at_and_waits() -> None:
    app = app_of(Fleets(fleet((), scan=Scan(files=31, folders=4, unreadable=1, complete=True))))
    async with app.run_test(size=(80, 24)) as pilot:
        text = await until(pilot, app, "no runs below . yet", "31 files in 4 folders looked at, 1")
        assert "One that begins here shows by itself" in text
        app.publish_fleet(fleet(ROWS[:2]))
        await until(pilot, app, "gsm8k-tinker")


async def test_runs_of_a_database_that_are_not_shown_are_counted() -> None:
    app = app_of(Fleets(fleet(ROWS, scan=Scan(files=1, folders=0, held_back=1204, complete=True))))
    async with app.run_test(size=(160, 24)) as pilot:
        await until(pilot, app, "1 204 older runs of a store not shown")


async def test_one_empty_folder_is_counted_as_one_says_it() -> None:
    app = app_of(Fleets(fleet((), scan=Scan(files=0, folders=1, unreadable=0, complete=True))))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, app, "0 files in 1 folder looked at")


async def test_a_filter_that_takes_no_run_says_so() -> None:
    app = app_of(Fleets(fleet()))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, app, "swe-rl-32b")
        await pilot.press("slash", *"nosuchrun", "enter")
        await until(pilot, app, "no run passes the filter")
        await pilot.press("escape")
        await until(pilot, app, "swe-rl-32b")


async def test_keys_of_a_run_do_nothing_while_none_is_open() -> None:
    app = app_of(Fleets(fleet()))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, app, "swe-rl-32b")
        await pilot.press("7", "1", "5", "escape", "escape")
        await until(pilot, app, "swe-rl-32b")


async def test_help_shows_the_keys_of_the_fleet() -> None:
    app = app_of(Fleets(fleet()))
    async with app.run_test(size=(120, 50)) as pilot:
        await until(pilot, app, "swe-rl-32b")
        await pilot.press("question_mark")
        await until(pilot, app, "group by project", "the dearest first")
        await pilot.press("escape")
        await until(pilot, app, "swe-rl-32b")


async def test_ascii_only_means_ascii_only() -> None:
    app = app_of(Fleets(fleet()), ascii_only=True)
    async with app.run_test(size=(200, 50)) as pilot:
        text = await until(pilot, app, "swe-rl-32b")
        assert text.isascii()


async def test_names_of_logs_cannot_write_to_the_terminal() -> None:
    bad = ROWS[0].model_copy(update={"name": "bad\x1b[2Jname\x07", "problem": "x\x1b]0;t\x07"})
    app = app_of(Fleets(fleet((bad, *ROWS[1:]))))
    async with app.run_test(size=(120, 40)) as pilot:
        text = await until(pilot, app, "badname")
    assert "\x1b" not in text
    assert "\x07" not in text


async def test_runs_of_one_name_are_told_apart_by_where_they_lie() -> None:
    twins = tuple(
        ROWS[1].model_copy(update={"id": place, "place": place, "name": "gsm8k"})
        for place in ("a/one", "b/two")
    )
    app = app_of(Fleets(fleet(twins)))
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, app, "a/one", "b/two")
